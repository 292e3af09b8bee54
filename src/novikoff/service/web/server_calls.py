"""Calls that concern the whole server: metrics and documents."""

from __future__ import annotations

from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp

from novikoff.service.web.metrics import write_metrics
from novikoff.service.web.operations import Call, json_answer
from novikoff.service.web.pages import SECURITY_HEADERS, docs_page

__all__ = ["get_docs", "get_metrics", "get_openapi"]


async def get_metrics(call: Call) -> ASGIApp:
    """Return the metrics."""
    call.state.require_ready()
    models = call.state.models
    reports = {name: await each.bridge.run(each.hosted.writer.report) for name, each in models.items()}
    waiting = {name: each.hosted.writer.waiting for name, each in models.items()}
    return Response(write_metrics(call.state.counts, reports, waiting), media_type="text/plain; version=0.0.4")


async def get_openapi(call: Call) -> ASGIApp:
    """Return the OpenAPI document."""
    from novikoff.service.web.openapi import openapi_document

    return json_answer(openapi_document(call.state.has_tokens))


async def get_docs(call: Call) -> ASGIApp:
    """Return the OpenAPI document as a page."""
    from novikoff.service.web.openapi import openapi_document

    return HTMLResponse(docs_page(openapi_document(call.state.has_tokens)), headers=SECURITY_HEADERS)

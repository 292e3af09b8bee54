"""The OpenAPI document: the table of operations, and the schemas of the types that read and write the bodies."""

from __future__ import annotations

import http
import inspect
import re
from functools import cache
from typing import Any

import msgspec

from novikoff import __version__
from novikoff.service.web.operations import Operation
from novikoff.service.web.table import OPERATIONS
from novikoff.service.web.wire import LineStatus, Problem

__all__ = ["openapi_document"]

_DESCRIPTION = (
    "Predictions now, labels later. What is acknowledged is on the disk, and learned once. "
    "Models speak the Open Inference Protocol; the calls beside it take labels."
)
_LINES = "application/x-ndjson"
_REF = "#/components/schemas/{name}"
_PATH_SCHEMAS = {
    "model": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"},
    "id": {"type": "string", "pattern": "^[A-Za-z0-9._~:@+=-]{1,128}$"},
    "version": {"type": "string", "enum": ["1"]},
}


@cache
def openapi_document(has_tokens: bool) -> dict[str, Any]:
    """Return the document; with tokens, it says which operations need one."""
    types = {kind for each in OPERATIONS for kind in (each.body, each.line, each.answer)} - {None, dict}
    all_types = sorted([*types, Problem, LineStatus], key=str)
    _, components = msgspec.json.schema_components(all_types, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation, has_tokens)
    for schema in components.values():
        if schema.get("description"):
            schema["description"] = inspect.cleandoc(schema["description"])
    if has_tokens:
        schemes = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "novikoff", "version": __version__, "description": _DESCRIPTION},
        "paths": paths,
        "components": {"schemas": components} | (schemes if has_tokens else {}),
    }


def _describe(operation: Operation, has_tokens: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": inspect.cleandoc(operation.handler.__doc__ or ""),
        "responses": _responses(operation, has_tokens),
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _PATH_SCHEMAS[name]}
        for name in re.findall(r"\{(\w+)\}", operation.path)
    ]
    parameters += [
        {"name": each.name, "in": each.place, "description": each.description, "schema": dict(each.schema)}
        for each in operation.parameters
    ]
    if parameters:
        found["parameters"] = parameters
    content = {}
    if operation.body is not None:
        content["application/json"] = {"schema": _reference(operation.body)}
    if operation.line is not None:
        content[_LINES] = {"schema": {"type": "string", "description": f"Lines of {operation.line.__name__}"}}
    if content:
        found["requestBody"] = {"required": True, "content": content}
    if has_tokens and operation.scope is not None:
        found["security"] = [{"token": []}]
    return found


def _responses(operation: Operation, has_tokens: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {"schema": {"type": "string"}}
    if operation.answer is dict:
        answer = {"schema": {"type": "object"}}
    elif operation.answer is not None:
        answer = {"schema": _reference(operation.answer)}
    content = {operation.media_type: answer}
    if operation.line is not None:
        content[_LINES] = {"schema": {"type": "string", "description": "A line for each line"}}
    found = {"200": {"description": "OK", "content": content}}
    statuses = {*operation.errors, 403} | ({401} if has_tokens and operation.scope is not None else set())
    for status in sorted(statuses):
        problem = {"application/problem+json": {"schema": _reference(Problem)}}
        found[str(status)] = {"description": http.HTTPStatus(status).phrase, "content": problem}
    return found


def _reference(kind: type) -> dict[str, str]:
    return {"$ref": _REF.format(name=kind.__name__)}

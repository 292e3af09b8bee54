"""Problems: errors as problem documents (RFC 9457), with the member `error` of the Open Inference Protocol."""

from __future__ import annotations

import http
import logging

import msgspec
from starlette.responses import Response

from novikoff.service.refusals import RefusalError
from novikoff.service.web.wire import Problem

__all__ = ["describe_error", "problem", "problem_of", "status_of"]

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger("novikoff.service")


def problem(status: int, title: str, detail: str, retry_after: int | None = None) -> Response:
    """Return a problem document as an answer."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    if status == http.HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    content = msgspec.json.encode(Problem(title, status, detail, detail))
    return Response(content, status, headers, MEDIA_TYPE)


def status_of(error: Exception) -> int:
    """Return the status in HTTP of an error."""
    if isinstance(error, RefusalError):
        return error.status
    if isinstance(error, msgspec.ValidationError):
        return 422
    return 400 if isinstance(error, (msgspec.DecodeError, UnicodeDecodeError)) else 500


def describe_error(error: Exception) -> str:
    """Return what to tell a client of an error: of a bug, nothing about the code."""
    if isinstance(error, RefusalError):
        return str(error)
    if isinstance(error, msgspec.ValidationError):
        return f"{error}."
    if isinstance(error, (msgspec.DecodeError, UnicodeDecodeError)):
        return f"The body is not JSON: {error}."
    _log.error("A request has failed by a fault of the service", exc_info=error)
    return "The service has failed on this request. Nothing of it was logged."


def problem_of(error: Exception) -> Response:
    """Return an error as an answer."""
    if isinstance(error, RefusalError):
        return problem(error.status, error.title, str(error), error.retry_after)
    status = status_of(error)
    titles = {422: "The body cannot be used", 400: "The body cannot be read", 500: "The service has failed"}
    return problem(status, titles[status], describe_error(error))

"""The ASGI application: routes of all operations, behind the guard."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

from novikoff.service.web.operations import Endpoint
from novikoff.service.web.problems import on_error, on_http_error
from novikoff.service.web.security import Guard, Tokens
from novikoff.service.web.state import ServiceState
from novikoff.service.web.table import OPERATIONS

__all__ = ["make_application"]


def make_application(
    state: ServiceState, hosts: Sequence[str], origins: Sequence[str] = (), tokens: Tokens | None = None
) -> ASGIApp:
    """Return the application.

    Parameters
    ----------
    state : ServiceState
    hosts : sequence of str
        Names that the Host header may have; "*" for any.
    origins : sequence of str
        Of web pages that may call the service.
    tokens : Tokens, optional
    """
    routes = [Route(each.path, Endpoint(each, state), methods=[each.method]) for each in OPERATIONS]
    application = Starlette(routes=routes, exception_handlers={HTTPException: on_http_error, Exception: on_error})
    application.router.redirect_slashes = False  # a path with a slash too many is not found
    return Guard(application, hosts, origins, tokens)

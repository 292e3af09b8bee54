"""The ASGI application: routes of all operations, behind the guard."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from novikoff.service.web.operations import Endpoint
from novikoff.service.web.problems import problem
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
    for path in dict.fromkeys(
        each.path for each in OPERATIONS
    ):  # after all others: calls by methods that are not there
        allowed = [each.method for each in OPERATIONS if each.path == path]
        routes.append(Route(path, _MethodNotAllowed([*allowed, *(["HEAD"] if "GET" in allowed else [])])))
    return Guard(Router(routes, redirect_slashes=False, default=_answer_not_found), hosts, origins, tokens)


class _MethodNotAllowed:
    """Answers calls to a path by other methods than it has."""

    def __init__(self, methods: Sequence[str]) -> None:
        self._allowed = ", ".join(methods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = problem(405, "Method not allowed", f"{scope['path'][:200]} takes {self._allowed}.")
        answer.headers["allow"] = self._allowed
        await answer(scope, receive, send)


async def _answer_not_found(scope: Scope, receive: Receive, send: Send) -> None:
    detail = f"There is nothing at {scope['path'][:200]}. The calls are listed at /docs."
    await problem(404, "Not found", detail)(scope, receive, send)

"""Operations: which calls there are, as values; the application routes by them, and the OpenAPI document lists them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from novikoff.service.refusals import BadRequestError
from novikoff.service.web.bodies import read_body, require_json
from novikoff.service.web.problems import problem, problem_of
from novikoff.service.web.state import ServedModel, ServiceState

__all__ = ["Call", "Endpoint", "Operation", "Parameter", "json_answer"]

T = TypeVar("T")

_JSON = "application/json"


class Call:
    """One request, and what its handler needs."""

    __slots__ = ("receive", "scope", "state")

    def __init__(self, state: ServiceState, scope: Scope, receive: Receive) -> None:
        self.state, self.scope, self.receive = state, scope, receive

    @property
    def model(self) -> ServedModel:
        """The model that the path names."""
        return self.state.model(self.scope["path_params"]["model"])

    def path(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.scope["path_params"][name])

    async def read(self, decoder: msgspec.json.Decoder[T]) -> T:
        """Return the body, as the type of a decoder."""
        require_json(self.scope)
        return decoder.decode(await read_body(self.scope, self.receive))

    def query(self, name: str, default: str) -> str:
        """Return a parameter of the query."""
        return QueryParams(self.scope["query_string"]).get(name, default)

    def integer(self, name: str, default: int, largest: int) -> int:
        """Return a parameter of the query that is an integer from 0 on."""
        text = self.query(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= largest):
            raise BadRequestError(f"{name} must be an integer from 0 to {largest:,}, found {text[:40]!r}.")
        return int(text)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query or a header."""

    name: str
    description: str
    schema: Mapping[str, Any]
    place: str = "query"


Handler = Callable[[Call], Awaitable[ASGIApp]]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A call.

    Attributes
    ----------
    method, path : str
        Parts of the path in braces.
    name : str
        The operationId.
    summary : str
    handler : callable
    scope : str or None
        Which scope a token must have; None if no token is needed.
    body, line : type or None
        Of a body of JSON, and of the lines of one of ndjson.
    answer : type or None
        Of the body of an answer; None if it is no JSON.
    media_type : str
        Of an answer.
    errors : tuple of int
        The statuses of problem documents.
    parameters : tuple of Parameter
    """

    method: str
    path: str
    name: str
    summary: str
    handler: Handler
    scope: str | None
    body: type | None = None
    line: type | None = None
    answer: Any = None
    media_type: str = _JSON
    errors: tuple[int, ...] = ()
    parameters: tuple[Parameter, ...] = field(default=())


class Endpoint:
    """An operation as an ASGI application."""

    def __init__(self, operation: Operation, state: ServiceState) -> None:
        self._operation, self._state = operation, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin = time.perf_counter()
        operation = self._operation
        try:
            refused = self._check_scope(scope)
            answer = await operation.handler(Call(self._state, scope, receive)) if refused is None else refused
        except Exception as error:
            answer = problem_of(error)
        status = getattr(answer, "status_code", 200)
        self._state.counts.add(operation.name, status, time.perf_counter() - begin)
        await answer(scope, receive, send)

    def _check_scope(self, scope: Scope) -> Response | None:
        needed, scopes = self._operation.scope, scope.get("novikoff.scopes")
        if needed is None or scopes is None or needed in scopes:
            return None
        if not scopes:
            return problem(401, "A token is needed", "Send Authorization: Bearer and a token that this service knows.")
        return problem(403, "The token does not suffice", f"This call needs a token with the scope {needed!r}.")


_encode = msgspec.json.Encoder().encode


def json_answer(value: Any) -> Response:
    """Return a value as an answer; raise it if it is an error."""
    if isinstance(value, Exception):
        raise value
    return Response(_encode(value), media_type=_JSON)

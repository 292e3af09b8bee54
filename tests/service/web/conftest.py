"""The application in this process, called without a network."""

import asyncio
import json

import pytest

from novikoff.service.hosting import HostedModel, HostingOptions
from novikoff.service.starting import Beginning
from novikoff.service.web.application import make_application
from novikoff.service.web.state import Hub, ServedModel, ServiceState


class Answer:
    """An answer: status, headers, content."""

    def __init__(self, status, headers, content):
        self.status, self.headers, self.content = status, headers, content

    def json(self):
        return json.loads(self.content)

    def lines(self):
        return [json.loads(line) for line in self.content.splitlines()]


class Caller:
    """Calls an ASGI application, on one event loop.

    Parameters
    ----------
    tmp_path : Path
    tokens, origins, hosts
        As for `make_application`.
    options
        Of `HostingOptions`.
    """

    def __init__(self, tmp_path, tokens=None, origins=(), hosts=("localhost",), **options):
        self.loop = asyncio.new_event_loop()
        hub = Hub()
        new = Beginning(labels=["ham", "spam"], rule="perceptron")
        chosen = HostingOptions(**options)
        self.hosted = HostedModel("m", tmp_path, new=new, options=chosen, warn=pytest.fail, on_batch=hub.notify)
        self.state = ServiceState(tokens is not None)
        self.state.models["m"] = ServedModel(self.hosted, hub, self.loop)
        self.state.status = "ready"
        self.application = make_application(self.state, hosts, origins, tokens)

    def call(self, method, path, body=None, headers=None, pieces=None, until=None):
        """Return the answer; `body` is bytes or JSON, `pieces` several parts of a body.

        `until` is a number of bytes after which the client closes the connection.
        """
        return self.loop.run_until_complete(self._call(method, path, body, headers or {}, pieces, until))

    async def _call(self, method, path, body, headers, pieces, until):
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        headers = {"host": "localhost"} | headers
        parts = [body or b""] if pieces is None else list(pieces)
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        sent, content, enough = [], bytearray(), asyncio.Event()

        async def receive():
            if parts:
                part = parts.pop(0)
                return {"type": "http.request", "body": part, "more_body": bool(parts)}
            await enough.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)
            content.extend(message.get("body", b""))
            if until is not None and len(content) >= until:
                enough.set()

        await asyncio.wait_for(self.application(scope, receive, send), 60)
        start = sent[0]
        return Answer(
            start["status"], {name.decode(): value.decode() for name, value in start["headers"]}, bytes(content)
        )

    def close(self):
        self.hosted.stop()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()


@pytest.fixture
def make_caller(tmp_path):
    made = []

    def make(**options):
        made.append(Caller(tmp_path / str(len(made)), **options))
        return made[-1]

    yield make
    for caller in made:
        caller.close()


@pytest.fixture
def caller(make_caller):
    return make_caller()

"""Who may call what."""

import pytest

from novikoff.errors import ServiceError
from novikoff.service.hosting import HostingOptions
from novikoff.service.serving import ServerOptions, serve
from novikoff.service.web.security import Tokens, is_loopback, read_tokens
from novikoff.service.web.table import OPERATIONS

BASE = "/v2/models/m"
TOKENS = {"predict-0123456789": {"predict"}, "label-0123456789ab": {"label"}, "admin-0123456789ab": {"admin"}}


def test_hosts_of_other_names_are_refused(caller):
    """DNS rebinding: a page of evil.example lets its own name point to 127.0.0.1."""
    for host in ("evil.example", "evil.example:8000", "", "localhost.evil.example", "[", "localhost@evil"):
        assert caller.call("GET", "/v2", headers={"host": host}).status == 403, host
    for host in ("localhost", "localhost:8000", "LOCALHOST"):
        assert caller.call("GET", "/v2", headers={"host": host}).status == 200, host


def test_pages_of_other_origins_are_refused(caller):
    for origin in ("https://evil.example", "null", "http://localhost:9999"):
        answer = caller.call("POST", f"{BASE}/predict", {"features": {}}, {"origin": origin})
        assert answer.status == 403
        assert "access-control-allow-origin" not in answer.headers
    assert caller.call("GET", "/v2", headers={"origin": "http://localhost"}).status == 200


def test_origins_that_are_named(make_caller):
    caller = make_caller(origins=["https://shop.example"])
    headers = {"origin": "https://shop.example"}
    assert caller.call("OPTIONS", f"{BASE}/predict", headers=headers).status == 204
    answer = caller.call("POST", f"{BASE}/predict", {"features": {}}, headers)
    assert answer.headers["access-control-allow-origin"] == "https://shop.example"
    assert caller.call("GET", "/v2", headers={"origin": "https://other.example"}).status == 403


def test_every_call_needs_its_scope(make_caller):
    caller = make_caller(tokens=Tokens(TOKENS))
    for operation in OPERATIONS:
        path = operation.path.format(model="m", id="x", version="1")
        if operation.scope is None:
            continue
        assert caller.call(operation.method, path).status == 401, operation.name
        wrong = {"authorization": "Bearer wrong-0123456789"}
        assert caller.call(operation.method, path, headers=wrong).status == 401
        for token, scopes in TOKENS.items():
            if operation.name == "get_events" and operation.scope in scopes:
                continue
            answer = caller.call(operation.method, path, headers={"authorization": f"Bearer {token}"})
            assert (answer.status == 403) == (operation.scope not in scopes), (operation.name, token, answer.content)
            assert answer.status != 401


def test_health_needs_no_token(make_caller):
    caller = make_caller(tokens=Tokens(TOKENS))
    assert caller.call("GET", "/v2/health/live").status == 200
    assert "securitySchemes" in caller.call("GET", "/openapi.json").json()["components"]


def test_files_of_tokens(tmp_path):
    path = tmp_path / "tokens"
    path.write_text("# ours\npredict,label 0123456789abcdef\n\nadmin fedcba9876543210  # for backups\n")
    tokens = read_tokens(path)
    assert tokens.scopes_of("Bearer 0123456789abcdef") == {"predict", "label"}
    assert tokens.scopes_of("bearer fedcba9876543210") == {"admin"}
    for wrong in ("Basic 0123456789abcdef", "0123456789abcdef", "Bearer", "Bearer é", ""):
        assert tokens.scopes_of(wrong) is None
    for text in ("", "read 0123456789abcdef", "admin short", "admin"):
        path.write_text(text)
        with pytest.raises(ServiceError, match="tokens"):
            read_tokens(path)


def test_other_addresses_need_tokens(tmp_path):
    assert [is_loopback(each) for each in ("127.0.0.1", "::1", "localhost", "127.1.2.3", "0.0.0.0", "10.0.0.1")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip
    for host in ("0.0.0.0", "::", "192.168.0.1"):
        with pytest.raises(ServiceError, match="without tokens"):
            serve(tmp_path, {}, ServerOptions(host=host), HostingOptions(), print)


def test_names_of_models_are_no_paths(tmp_path):
    for name in ("../a", "a/b", "", ".a", "a" * 65, "ä"):
        with pytest.raises(ServiceError, match="cannot be the name of a model"):
            serve(tmp_path, {name: None}, ServerOptions(), HostingOptions(), print)


def test_headers_that_are_there_twice(caller):
    async def ask(name):
        sent = []

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"localhost"), (name, b"evil.example"), (name, b"localhost")]
        scope = {"type": "http", "method": "GET", "path": "/v2", "headers": headers, "query_string": b""}
        await caller.application(scope, None, send)
        return sent[0]["status"]

    assert caller.loop.run_until_complete(ask(b"host")) == 400
    assert caller.loop.run_until_complete(ask(b"origin")) == 400

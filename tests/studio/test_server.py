"""The server: what it answers, and whom it refuses."""

import http.client
import json

import pytest

from novikoff.studio.scenes import SCENES
from novikoff.studio.server import bind


@pytest.fixture
def ask(studio):
    """Return a function that sends a request and returns (status, headers, body)."""

    def send(method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    return send


def test_scenes_need_no_token(ask):
    status, headers, body = ask("GET", "/api/scenes")
    assert status == 200
    assert [each["name"] for each in json.loads(body)] == list(SCENES)
    assert ask("GET", "/api/scenes/xor")[0] == 200
    assert b"default-src 'self'" in headers["content-security-policy"].encode()
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_records_are_computed(ask):
    points = [[0, 0, -1], [1, 1, 1]]
    status, _, body = ask("POST", "/api/records", json.dumps({"points": points, "settings": {"passes": 3}}))
    assert status == 200
    assert json.loads(body)["verdict"]["separable"]


def test_own_points_become_a_page(ask):
    points = [[0, 0, -1], [1, 1, 1]]
    status, headers, body = ask("POST", "/api/page", json.dumps({"points": points, "settings": {"passes": 3}}))
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    data = body.decode().split('id="bundle">')[1].split("</script>")[0]
    assert json.loads(data)["variants"][0]["record"]["points"] == points


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1"])
def test_other_hosts_are_refused(host, ask, studio):
    """A name that an attacker's DNS points at 127.0.0.1 comes with its own Host."""
    status, _, body = ask("GET", "/api/scenes", Host=host.format(port=studio.port))
    assert (status, json.loads(body)) == (403, {"error": "The studio answers to 127.0.0.1 and localhost only."})


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
@pytest.mark.parametrize("path", ["/api/records", "/api/page", "/api/files?name=a.csv"])
def test_other_origins_are_refused(origin, path, ask, studio):
    status, _, body = ask("POST", path, "{}", Origin=origin.format(port=studio.port))
    assert (status, json.loads(body)) == (403, {"error": "The studio answers to its own page only."})


def test_requests_from_other_sites_are_refused(ask):
    assert ask("GET", "/api/scenes/xor", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")[0] == 403
    assert ask("GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")[0] == 200  # a link to the page


def test_files_need_the_token(ask, studio):
    cookie = f"novikoff-studio-{studio.port}"
    for given in ("", f"{cookie}=wrong", f"{cookie}="):
        for method, path in (
            ("POST", "/api/files?name=a.csv"),
            ("GET", "/api/files/1/model"),
            ("GET", "/api/files/1/run"),
        ):
            status, _, body = ask(method, path, "x,y\n1,a\n" if method == "POST" else None, Cookie=given)
            assert status == 403, path
            assert "the address with the token" in json.loads(body)["error"]
        assert json.loads(ask("GET", "/api/files", Cookie=given)[2]) == {"is_open": False}
    found = json.loads(ask("GET", "/api/files", Cookie=f"{cookie}={studio.token}")[2])
    assert found == {"is_open": True, "files": [], "target": None}


def test_the_opening_address_sets_a_cookie_and_keeps_the_query(ask, studio):
    path = studio.address.removeprefix(f"http://127.0.0.1:{studio.port}")
    status, headers, _ = ask("GET", f"{path}?scene=xor")
    assert status == 303
    assert headers["location"] == "/?scene=xor"
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=strict" in headers["set-cookie"]
    assert ask("GET", "/open/guess/")[0] == 403


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{", "The request is not JSON"),
        ("[]", "should be a JSON object, found list"),
        ('{"points": [[0, 1, 5]]}', "label of point 1"),
        ('{"points": [[0, 1, 1]], "settings": {"x": 1}}', "There is no setting 'x'"),
    ],
)
def test_bad_requests_are_explained(body, words, ask):
    status, _, answer = ask("POST", "/api/records", body)
    assert status == 400
    assert words in json.loads(answer)["error"]


def test_large_requests_are_refused(ask):
    assert ask("POST", "/api/records", b"[" + b"0," * 200_000 + b"0]")[0] == 413


@pytest.mark.parametrize("name", ["../records.py", "..%2frecords.py", "nothing.js", "main.py", ".js"])
def test_only_files_of_the_page_are_served(name, ask):
    assert ask("GET", f"/static/{name}")[0] == 404


def test_a_port_in_use_is_an_error_that_says_so(studio):
    with pytest.raises(ValueError, match=rf"Port {studio.port} is in use"):
        bind(studio.port)

"""Requests that nobody should send: every answer is a problem document or a success, and the service goes on."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novikoff.service.web.table import OPERATIONS

PATHS = [each.path.format(model="m", id="a", version="1") for each in OPERATIONS if each.name != "get_events"]
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["links", "sky", "", "label", "\ud800"]) | st.text()
NEARLY_RIGHT = st.fixed_dictionaries(
    {},
    optional={
        "features": st.dictionaries(
            st.sampled_from(["links", "sky", "", "label", "\ud800"]) | st.text(), VALUES, max_size=4
        ),
        "label": st.sampled_from(["ham", "spam"]) | VALUES,
        "id": st.sampled_from(["a", "b"]) | VALUES,
        "inputs": st.lists(
            st.fixed_dictionaries(
                {
                    "name": st.text(max_size=3),
                    "shape": st.lists(st.integers(), max_size=2) | VALUES,
                    "datatype": st.sampled_from(["FP64", "BYTES", "x"]),
                    "data": st.lists(VALUES, max_size=3),
                }
            )
        ),
    },
)
BODIES = st.binary(max_size=200) | st.builds(lambda value: json.dumps(value).encode(), VALUES | NEARLY_RIGHT)
LINES = st.lists(BODIES, max_size=4).map(b"\n".join)
TYPES = st.sampled_from(["application/json", "application/x-ndjson", "", "text/plain", "application/x-ndjson; a=b"])


@pytest.fixture(scope="module")
def module_caller(tmp_path_factory):
    from tests.service.web.conftest import Caller

    caller = Caller(tmp_path_factory.mktemp("hostile"))
    yield caller
    caller.close()


def attack(caller, method, path, body, kind):
    """Send one request; raise an AssertionError if the answer is none of ours."""
    answer = caller.call(method, path, body, {"content-type": kind} if kind else {})
    assert answer.status in (200, 400, 404, 405, 409, 410, 413, 415, 422, 503), (answer.status, answer.content)
    assert b"Traceback" not in answer.content
    assert b'File "' not in answer.content
    if answer.status >= 400 and method != "HEAD":
        found = answer.json()
        assert found["status"] == answer.status
        assert answer.status != 503 or "nothing to save" in found["error"]
    elif answer.headers["content-type"].startswith("application/x-ndjson"):
        for line in answer.lines():
            assert line.get("status", 200) in (200, 400, 404, 409, 410, 413, 422), line
    return answer


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"]), st.sampled_from(PATHS), BODIES | LINES, TYPES
)
def test_any_request(module_caller, method, path, body, kind):
    attack(module_caller, method, path, body, kind)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(["predict", "learn", "labels", "infer", "predictions/a/label"]), BODIES | LINES, TYPES)
def test_requests_that_are_nearly_right(module_caller, path, body, kind):
    attack(module_caller, "PUT" if path.endswith("label") else "POST", f"/v2/models/m/{path}", body, kind)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(codec="latin-1"), max_size=30), st.text(max_size=30))
def test_any_path(module_caller, path, query):
    caller = module_caller
    answer = caller.call("GET", "/v2/models/m/" + path.replace("?", "") + "?" + query.encode().hex())
    assert answer.status in (200, 400, 404, 405) or path.startswith("events")


def test_it_still_works(module_caller):
    answer = module_caller.call("POST", "/v2/models/m/predict", {"features": {"works": 1}})
    assert answer.status == 200

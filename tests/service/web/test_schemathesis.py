"""Schemathesis: requests made from the OpenAPI document, to a real server; every answer must be as documented."""

import pytest
from hypothesis import HealthCheck, given, settings

from novikoff.service.web.table import OPERATIONS
from tests.service.process import ServerProcess

schemathesis = pytest.importorskip("schemathesis")
openapi = pytest.importorskip("schemathesis.specs.openapi.checks")

CHECKS = [openapi.status_code_conformance, openapi.content_type_conformance, openapi.response_schema_conformance]
# Events never end, and the document itself is read already.
NAMES = [each.name for each in OPERATIONS if each.name not in ("get_events", "get_openapi")]


@schemathesis.serializer("application/x-ndjson")
def write_lines(context, value):
    """Write a body of lines, which the document describes as text."""
    return value.encode(errors="replace") if isinstance(value, str) else b""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schemathesis")
    process = ServerProcess("--new", "m", "--labels", "ham,spam", "--rule", "perceptron", "--data", folder)
    assert process.wait_until_ready(), process.lines
    yield process
    assert process.is_running
    assert process.terminate() == 0


@pytest.fixture(scope="module")
def operations(server):
    document = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")
    found = [result.ok() for result in document.get_all_operations()]
    return {each.definition.raw["operationId"]: each for each in found}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_as_documented(operations, name):
    operation = operations[name]

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy())
    def check(case):
        if "model" in (case.path_parameters or {}):
            case.path_parameters["model"] = "m"
        answer = case.call(timeout=60)
        assert answer.status_code < 500 or "nothing to save" in answer.text, answer.text
        case.validate_response(answer, checks=CHECKS)

    check()
    assert operation.path

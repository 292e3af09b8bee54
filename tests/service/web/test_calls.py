"""Every call and every status of the table in docs/service.md."""

import json
import time

import msgspec
import pytest

from novikoff.service.web.bodies import LARGEST

BASE = "/v2/models/m"
LINES = {"content-type": "application/x-ndjson"}


def lines(*rows):
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def require_problem(answer, status):
    assert answer.status == status, answer.content
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    assert found["error"] == found["detail"]
    assert "Traceback" not in found["error"]
    return found["detail"]


def test_a_prediction_and_its_label(caller):
    answer = caller.call("POST", f"{BASE}/predict", {"features": {"links": 3, "subject": "win a prize"}})
    assert answer.status == 200
    found = answer.json()
    assert found.keys() == {"id", "label", "scores", "version"}
    assert found["scores"] == {"ham": 0.0, "spam": 0.0}
    address = f"{BASE}/predictions/{found['id']}"
    assert caller.call("GET", address).json()["status"] == "pending"
    other = "ham" if found["label"] == "spam" else "spam"
    labelled = caller.call("PUT", f"{address}/label", {"label": other}).json()
    assert labelled == {"seq": 1, "mistake": True, "updated": True, "duplicate": False}
    again = caller.call("PUT", f"{address}/label", {"label": other}).json()
    assert again == {"seq": 1, "mistake": True, "updated": True, "duplicate": True}
    require_problem(caller.call("PUT", f"{address}/label", {"label": found["label"]}), 409)
    stored = caller.call("GET", address).json()
    assert (stored["status"], stored["true_label"], stored["seq"], stored["mistake"]) == ("labelled", other, 1, True)
    assert caller.call("GET", f"{BASE}/ledger").json()["seq"] == 1


def test_an_id_that_is_named_is_idempotent(caller):
    first = caller.call("POST", f"{BASE}/predict", {"id": "a", "features": {"links": 3}}).json()
    caller.call("POST", f"{BASE}/learn", {"features": {"links": 3}, "label": "ham"})
    assert caller.call("POST", f"{BASE}/predict", {"id": "a", "features": {"links": 9}}).json() == first
    learned = caller.call("POST", f"{BASE}/learn", {"id": "a", "features": {"links": 3}, "label": "ham"}).json()
    again = caller.call("POST", f"{BASE}/learn", {"id": "a", "features": {"links": 3}, "label": "ham"}).json()
    assert (learned["seq"], learned["duplicate"], again["seq"], again["duplicate"]) == (2, False, 2, True)
    require_problem(caller.call("POST", f"{BASE}/learn", {"id": "a", "features": {}, "label": "spam"}), 409)


def test_a_label_without_a_prediction(caller):
    require_problem(caller.call("PUT", f"{BASE}/predictions/x/label", {"label": "ham"}), 404)
    body = {"label": "ham", "features": {"links": 1}}
    found = caller.call("PUT", f"{BASE}/predictions/x/label", body).json()
    assert (found["seq"], found["mistake"], found["duplicate"]) == (1, None, False)
    assert caller.call("PUT", f"{BASE}/predictions/x/label", {"label": "ham"}).json()["duplicate"]
    report = caller.call("GET", f"{BASE}/ledger").json()
    assert (report["seq"], report["served"], report["mistakes_served"]) == (1, 0, 0)


def test_a_label_after_the_window(make_caller):
    caller = make_caller(window=30)
    caller.call("POST", f"{BASE}/predict", {"id": "a", "features": {"links": 1}})
    time.sleep(0.05)
    for label in ("ham", "ham", "spam"):
        assert "not learned" in require_problem(
            caller.call("PUT", f"{BASE}/predictions/a/label", {"label": label}), 410
        )
    stored = caller.call("GET", f"{BASE}/predictions/a").json()
    assert (stored["status"], stored["true_label"], stored["seq"]) == ("expired", "ham", None)
    assert caller.call("GET", f"{BASE}/ledger").json()["seq"] == 0


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({"links": "three"}, '"links" holds numbers, found a string, "three"'),
        ({"links": [1]}, '"links" holds numbers, found a list'),
        ({"new": {"a": 1}}, '"new" holds numbers, found an object'),
        ({"sky": 3}, '"sky" holds strings, found a number'),
        ({"links": 1e200}, '"links" must be a number of size below'),
        ({"links": 10**400}, '"links" must be a number of size below'),
        ({"": 1}, "has a name that is empty"),
        ({"a\nb": 1}, "not printable"),
        ({"label": 1}, "has the name of the label"),
        ([1], "Expected `object`"),
    ],
)
def test_bad_features_are_named_and_change_nothing(caller, features, expected):
    caller.call("POST", f"{BASE}/learn", {"features": {"links": 1, "sky": "red"}, "label": "ham"})
    before = caller.call("GET", f"{BASE}/ledger").json()
    for path, body in (("predict", {}), ("learn", {"label": "ham"})):
        assert expected in require_problem(caller.call("POST", f"{BASE}/{path}", body | {"features": features}), 422)
    assert caller.call("GET", f"{BASE}/ledger").json() == before
    assert caller.call("GET", f"{BASE}/predictions").json() == {"predictions": [], "next": None}
    assert caller.hosted.writer.features.kinds == {"links": "number", "sky": "word"}


@pytest.mark.parametrize("label", ["eggs", True, None, [], {}, 3, ""])
def test_bad_labels(caller, label):
    require_problem(caller.call("POST", f"{BASE}/learn", {"features": {"links": 1}, "label": label}), 422)
    assert caller.hosted.writer.features.kinds == {}


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[1]", b"null", b'{"features": {"a": NaN}}', b'{"id": "a"}'])
def test_bodies_that_cannot_be_read(caller, body):
    answer = caller.call("POST", f"{BASE}/predict", body)
    require_problem(answer, answer.status)
    assert answer.status in (400, 422)


def test_limits_and_types_of_bodies(caller):
    big = json.dumps({"features": {"text": "x" * LARGEST}}).encode()
    require_problem(caller.call("POST", f"{BASE}/predict", big), 413)
    require_problem(caller.call("POST", f"{BASE}/predict", big, {"content-length": str(len(big))}), 413)
    require_problem(caller.call("POST", f"{BASE}/predict", {"features": {}}, {"content-type": "text/xml"}), 415)
    require_problem(caller.call("POST", f"{BASE}/labels", b"{}"), 415)
    form = {"content-type": "application/x-www-form-urlencoded"}  # of curl -d
    assert caller.call("POST", f"{BASE}/predict", {"features": {}}, form).status == 200


@pytest.mark.parametrize("id", ["a b", "é", "x" * 129, "..", "a/b"])
def test_ids_are_validated(caller, id):
    answer = caller.call("POST", f"{BASE}/predict", {"id": id, "features": {}})
    assert answer.status in (400, 422)
    answer = caller.call("PUT", f"{BASE}/predictions/{id}/label", {"label": "ham", "features": {}})
    assert answer.status in (400, 404)


def test_names_that_are_not_there(caller):
    require_problem(caller.call("GET", "/v2/models/other"), 404)
    require_problem(caller.call("GET", "/nothing"), 404)
    require_problem(caller.call("DELETE", "/v2"), 405)
    require_problem(caller.call("GET", f"{BASE}/predictions/none"), 404)
    require_problem(caller.call("GET", f"{BASE}/snapshots/latest"), 404)
    require_problem(caller.call("GET", f"{BASE}/versions/2"), 400)


def test_starting_and_stopping(caller):
    for status in ("starting", "stopping"):
        caller.state.status = status
        answer = caller.call("POST", f"{BASE}/predict", {"features": {}})
        require_problem(answer, 503)
        assert answer.headers["retry-after"] == "1"
        require_problem(caller.call("GET", "/v2/health/ready"), 503)
        assert caller.call("GET", "/v2/health/live").json() == {"live": True}


def test_a_queue_that_is_full(make_caller):
    caller = make_caller(most_waiting=1)
    caller.hosted.writer.call(lambda: time.sleep(0.3), lambda result, error: None)
    caller.loop.run_until_complete(__import__("asyncio").sleep(0.1))
    caller.hosted.writer.submit([], lambda pairs: None, None)
    caller.hosted.writer._waiting += 1
    answer = caller.call("POST", f"{BASE}/predict", {"features": {}})
    require_problem(answer, 429)
    assert answer.headers["retry-after"] == "1"
    caller.hosted.writer._waiting -= 1


def test_lines(caller):
    body = lines(
        {"id": "a", "features": {"links": 1}, "label": "ham"},
        {"id": "b", "features": {"links": "x"}, "label": "ham"},
        "",
        "no json",
        {"id": "a", "features": {"links": 1}, "label": "ham"},
        {"features": {"links": 2}, "label": "spam"},
    )
    found = caller.call("POST", f"{BASE}/learn", body, LINES).lines()
    assert [each.get("status", 200) for each in found] == [200, 422, 400, 200, 200]
    assert [each.get("seq") for each in found] == [1, None, None, 1, 2]
    predicted = caller.call("POST", f"{BASE}/predict", lines({"id": "c", "features": {"links": 1}}), LINES).lines()
    assert predicted[0]["id"] == "c"
    labels = lines({"id": "c", "label": "ham"}, {"id": "c", "label": "spam"}, {"id": "d", "label": "ham"})
    found = caller.call("POST", f"{BASE}/labels", labels, LINES).lines()
    assert [(each["status"], each["id"]) for each in found] == [(200, "c"), (409, "c"), (404, "d")]


def test_lines_in_pieces_that_end_anywhere(caller):
    body = lines(*({"id": f"x{n}", "features": {"links": n, "sky": "réd"}, "label": "ham"} for n in range(50)))
    pieces = [body[at : at + 37] for at in range(0, len(body), 37)]
    found = caller.call("POST", f"{BASE}/learn", headers=LINES, pieces=pieces).lines()
    assert [each["id"] for each in found] == [f"x{n}" for n in range(50)]
    assert [each["seq"] for each in found] == list(range(1, 51))


def test_a_line_that_is_too_long(caller):
    pieces = [b'{"features": {}}\n', *[b"x" * 300_000] * 5]
    found = caller.call("POST", f"{BASE}/predict", headers=LINES, pieces=pieces).lines()
    assert [each.get("status", 200) for each in found] == [200, 413]


def test_predictions_that_wait(caller):
    for n in range(5):
        caller.call("POST", f"{BASE}/predict", {"id": f"p{n}", "features": {"links": n}})
    caller.call("PUT", f"{BASE}/predictions/p1/label", {"label": "ham"})
    page = caller.call("GET", f"{BASE}/predictions?status=pending&limit=2").json()
    assert [each["id"] for each in page["predictions"]] == ["p0", "p2"]
    rest = caller.call("GET", f"{BASE}/predictions?limit=10&after={page['next']}").json()
    assert ([each["id"] for each in rest["predictions"]], rest["next"]) == (["p3", "p4"], None)
    require_problem(caller.call("GET", f"{BASE}/predictions?limit=x"), 400)
    require_problem(caller.call("GET", f"{BASE}/predictions?status=all"), 400)


def test_the_log_is_read_by_learn(caller, tmp_path):
    import novikoff as nk

    rows = [{"features": {"links": n % 5, "sky": "red" if n % 2 else "blue"}, "label": "ham" if n % 2 else "spam"}
            for n in range(40)]  # fmt: skip
    caller.call("POST", f"{BASE}/learn", lines(*rows), LINES)
    content = caller.call("GET", f"{BASE}/log?from=31").content
    assert len(content.splitlines()) == 10
    path = tmp_path / "log.jsonl"
    path.write_bytes(caller.call("GET", f"{BASE}/log").content)
    assert json.loads(path.read_text().splitlines()[7]) == rows[7]["features"] | {"label": "ham"}
    model = nk.learn(path, shuffle="never")
    assert model.ledger.examples == 40
    assert model.labels == ["ham", "spam"]


def test_snapshots_are_model_files(caller, tmp_path):
    import novikoff as nk

    require_problem(caller.call("POST", f"{BASE}/snapshots"), 503)
    caller.call("POST", f"{BASE}/learn", {"features": {"links": 1}, "label": "ham"})
    assert caller.call("POST", f"{BASE}/snapshots").json() == {"seq": 1, "file": "snapshot-000000001.nk"}
    answer = caller.call("GET", f"{BASE}/snapshots/latest")
    path = tmp_path / "got.nk"
    path.write_bytes(answer.content)
    assert nk.load(path).predict_one({"links": 1}) == "ham"


def test_tensors(caller):
    caller.call("POST", f"{BASE}/learn", {"features": {"links": 1, "sky": "red"}, "label": "ham"})
    body = {
        "id": "batch-1",
        "inputs": [
            {"name": "links", "shape": [2], "datatype": "INT64", "data": [1, 4]},
            {"name": "sky", "shape": [2, 1], "datatype": "BYTES", "data": ["red", "blue"]},
        ],
    }
    found = caller.call("POST", f"{BASE}/infer", body).json()
    outputs = {each["name"]: each for each in found["outputs"]}
    assert (found["id"], found["model_name"]) == ("batch-1", "m")
    assert outputs["label"]["shape"] == [2]
    assert outputs["scores"]["shape"] == [2, 2]
    id = outputs["id"]["data"][1]
    assert caller.call("GET", f"{BASE}/predictions/{id}").json()["features"] == {"links": 4, "sky": "blue"}
    assert caller.call("PUT", f"{BASE}/predictions/{id}/label", {"label": "spam"}).json()["seq"] == 2
    for wrong in (
        {"shape": [3]},
        {"data": [1]},
        {"datatype": "COMPLEX"},
        {"data": ["a", "b"]},
        {"name": "sky", "data": ["a", "b"]},
    ):
        other = [body["inputs"][0] | wrong, body["inputs"][1]]
        assert "error" in caller.call("POST", f"{BASE}/infer", {"inputs": other}).json()
    require_problem(caller.call("POST", f"{BASE}/infer", {"inputs": []}), 422)


def test_metadata(caller):
    assert caller.call("GET", "/v2").json()["name"] == "novikoff"
    assert caller.call("GET", "/v2/health/ready").json() == {"ready": True}
    assert caller.call("GET", f"{BASE}/ready").json() == {"ready": True}
    assert caller.call("GET", f"{BASE}/versions/1/ready").json() == {"ready": True}
    caller.call("POST", f"{BASE}/predict", {"features": {"links": 1, "sky": "red"}})
    found = caller.call("GET", BASE).json()
    assert [(each["name"], each["datatype"]) for each in found["inputs"]] == [("links", "FP64"), ("sky", "BYTES")]
    assert found["labels"] == ["ham", "spam"]


def test_events_go_on_where_a_client_stopped(caller):
    caller.call("POST", f"{BASE}/learn", lines(*({"features": {"a": n}, "label": "ham"} for n in range(5))), LINES)
    answer = caller.call("GET", f"{BASE}/events", headers={"last-event-id": "2"}, until=200)
    assert answer.headers["content-type"] == "text/event-stream"
    text = answer.content.decode()
    assert [line for line in text.splitlines() if line.startswith("id:")] == ["id: 3", "id: 4", "id: 5"]
    assert '"seq":3' in text
    require_problem(caller.call("GET", f"{BASE}/events", headers={"last-event-id": "x"}), 400)


def test_metrics(caller):
    caller.call("POST", f"{BASE}/learn", {"id": "secret-id", "features": {"links": 1}, "label": "ham"})
    answer = caller.call("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    text = answer.content.decode()
    assert 'novikoff_labels_learned_total{model="m"} 1' in text
    assert 'novikoff_http_requests_total{operation="learn",status="200"} 1' in text
    assert "secret-id" not in text
    for line in text.splitlines():
        name, value = line.rsplit(" ", 1)
        assert line.startswith("#") or (name and float(value) >= 0)


def test_pages_load_nothing_from_elsewhere(caller):
    for path in ("/docs", f"{BASE}/live"):
        answer = caller.call("GET", path)
        assert answer.status == 200
        assert b"http://" not in answer.content
        assert b"https://" not in answer.content
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_openapi_document_has_every_call(caller):
    from novikoff.service.web.table import OPERATIONS

    document = caller.call("GET", "/openapi.json").json()
    calls = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert calls == {(each.method, each.path) for each in OPERATIONS}
    names = [own["operationId"] for methods in document["paths"].values() for own in methods.values()]
    assert len(set(names)) == len(names)
    schemas = document["components"]["schemas"]
    text = msgspec.json.encode(document).decode()
    assert {name.split('"')[0] for name in text.split("#/components/schemas/")[1:]} <= schemas.keys()
    assert schemas["Predicted"]["required"] == ["id", "label", "scores", "version"]

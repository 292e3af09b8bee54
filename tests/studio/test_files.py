"""Files in the studio: what is read, the verdict, learning with cancel, and what leaves the page to repeat it."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import DataError
from novikoff.studio.file_columns import describe_file, reading_options
from novikoff.studio.file_learning import learn_file
from novikoff.studio.file_verdicts import certify_file
from novikoff.studio.files import _safe_name
from novikoff.studio.jobs import Job
from novikoff.theory.conflicts import find_conflicts
from tests.studio.conftest import serving
from tests.studio.test_page import require_accessible, text_of, wait_for_text

MAIL = "words,links,sender,is_spam\n" + "".join(
    f"{100 + 7 * k % 50},{k % 5},{'known' if k % 3 else 'new'},{'yes' if k % 5 > 2 else 'no'}\n" for k in range(60)
)


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text(MAIL + "120,many,known,yes\n")
    return path


def finish(kind, work):
    job = Job(kind, work)
    job.wait(120)
    return job.to_json()


def test_columns_and_the_bad_row(mail):
    about = describe_file(mail, reading_options({"target": "is_spam"}))
    assert about["columns"] == [
        {"name": "words", "kind": "number"},
        {"name": "links", "kind": "number"},
        {"name": "sender", "kind": "word"},
    ]
    assert about["labels"] == [{"label": "no", "rows": 36}, {"label": "yes", "rows": 24}]
    assert about["n_rejects"] == 1
    (reject,) = about["rejects"]
    assert reject["line"] == 62
    assert "mail.csv:62:2" in reject["reason"]
    assert str(mail.parent) not in json.dumps(about)


def test_columns_can_be_changed(mail):
    about = describe_file(mail, reading_options({"target": "is_spam", "types": {"links": "word"}, "drop": ["words"]}))
    kinds = {column["name"]: column["kind"] for column in about["columns"]}
    assert kinds == {"links": "word", "sender": "word", "words": "left out"}
    assert about["n_rejects"] == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "JSON object"),
        ({"encoding": "x"}, "no option 'encoding'"),
        ({"target": 3}, "target should be"),
        ({"types": {"a": "date"}}, "types should give"),
        ({"drop": "a"}, "drop should be a list"),
    ],
)
def test_options_that_are_refused(given, words):
    with pytest.raises(DataError, match=words):
        reading_options(given)


def test_a_separable_file(mail):
    done = finish("certify", lambda job: certify_file(mail, {"target": "is_spam"}, job))
    assert (done["state"], done["error"]) == ("done", "")
    (verdict,) = done["result"]["verdicts"]
    assert verdict["separable"]
    assert done["result"]["notes"][-1] == "1 row that cannot be read left out, the first on line 62."
    X = [[float(line.split(",")[0]), float(line.split(",")[1])] for line in MAIL.splitlines()[1:]]
    # With more columns the margin can only grow.
    labels = [line.split(",")[3] for line in MAIL.splitlines()[1:]]
    assert verdict["margin"] >= nk.certify(X, labels).margin * (1 - 1e-9)


def test_a_file_with_identical_rows_and_opposite_labels(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("sky,wind,sail\nsun,3,yes\nrain,9,no\nsun,3,no\nsun,4,yes\n")
    result = finish("certify", lambda job: certify_file(path, {"target": "sail"}, job))["result"]
    (verdict,) = result["verdicts"]
    assert not verdict["separable"]
    assert [[one["line"], other["line"]] for one, other in verdict["identical"]] == [[4, 2]]
    assert {row["line"] for row in verdict["clash"]["rows"]} == {2, 4}
    assert verdict["clash"]["n_differing"] == 0
    assert (result["fewest"]["lower"], result["fewest"]["upper"]) == (1, 1)


def test_many_classes_have_a_verdict_each(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("x,label\n0,a\n1,b\n2,c\n")
    verdicts = finish("certify", lambda job: certify_file(path, {}, job))["result"]["verdicts"]
    found = {(each["positive"], each["negative"]): each["separable"] for each in verdicts}
    assert found["b", "the rest"] is False
    assert found["a", "the rest"] is True
    assert len(found) == 6


def test_learning_is_that_of_the_library(mail, tmp_path, monkeypatch):
    model_path = tmp_path / "mail.nk"
    given = {"rule": "perceptron", "passes": 2}
    done = finish("learn", lambda job: learn_file(mail, {"target": "is_spam"}, given, model_path, job))
    result = done["result"]
    assert (done["state"], done["error"]) == ("done", "")
    model = nk.learn(mail, target="is_spam", rule="perceptron", passes=2, bad_rows="skip")
    assert (result["examples"], result["mistakes"]) == (model.ledger.examples, model.ledger.mistakes)
    rows = [{"words": 120.0, "links": 3.0, "sender": "known"}, {"words": 101.0, "links": 1.0, "sender": "new"}]
    assert nk.load(model_path).decision_function(rows).tolist() == model.decision_function(rows).tolist()
    assert result["n_rejects"] == 1
    assert sum(cell["rows"] for cell in result["confusion"]["cells"]) == 60
    # What the page says reproduces it, does.
    monkeypatch.chdir(mail.parent)
    names = {}
    exec(result["python"], names)
    assert names["model"].ledger.mistakes == result["mistakes"]
    learn, certify = ([sys.executable, "-m", "novikoff", *line.split()[1:]] for line in result["command"].splitlines())
    subprocess.run(learn, check=True, capture_output=True)
    assert nk.load("mail.nk").ledger.mistakes == result["mistakes"]
    assert "mail.csv:62:2" in subprocess.run(certify, check=False, capture_output=True, text=True).stderr


def test_wrong_choices_and_files(mail, tmp_path):
    done = finish("learn", lambda job: learn_file(mail, {}, {"rule": "magic"}, tmp_path / "m.nk", job))
    assert done["state"] == "failed"
    assert "rule must be one of" in done["error"]
    done = finish("certify", lambda job: certify_file(mail, {"target": "words"}, job))
    assert "has 50 different labels; a verdict needs 2 to 30" in done["error"]


def test_names_of_uploads_lead_nowhere():
    assert _safe_name("../../etc/passwd") == "passwd"
    assert _safe_name("..\\..\\boot.ini") == "boot.ini"
    assert _safe_name(".bashrc") == "bashrc"
    assert _safe_name("") == "data"
    assert "/" not in _safe_name("a/b\x00/c\nd")


def test_conflicts_are_the_first_of_each_sign():
    X = np.array([[0.0], [-0.0], [1.0], [1.0], [0.0]])
    assert find_conflicts(X, np.array([1, -1, -1, -1, 1]), most=5) == [(1, 0)]
    assert find_conflicts(X, np.array([1, -1, -1, 1, 1]), most=1) == [(1, 0)]
    assert find_conflicts(X, np.array([1, 0, -1, -1, 1]), most=5) == []


# -- in the browser


def test_upload_verdict_learn_and_download(open_page, mail, tmp_path):
    with serving() as studio:
        page = open_page(studio.address)
        page.locator("#file-input").set_input_files(str(mail))
        wait_for_text(page, "#rejects-table", r"62.*mail\.csv:62:2")
        page.locator("#certify").click()
        wait_for_text(page, "#file-verdict-word", "^SEPARABLE")
        page.locator("#file-rule").select_option("perceptron")
        page.locator("#learn").click()
        page.wait_for_selector("#learned")
        page.locator("#confusion button").first.click()
        wait_for_text(page, "#cell-lines", r"lines \d+")
        assert "nk.learn('mail.csv'" in text_of(page, "#file-python")
        page.set_viewport_size({"width": 320, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        require_accessible(page)
        with page.expect_download() as download:
            page.locator("#model").click()
        path = tmp_path / "down.nk"
        download.value.save_as(path)
        assert nk.load(path).ledger.examples == 60


def test_without_the_token_files_stay_closed(open_page, studio):
    page = open_page(f"http://127.0.0.1:{studio.port}/?scene=xor")
    wait_for_text(page, "#file", "open the address that the command printed")


def test_a_long_run_can_be_cancelled(open_page, tmp_path):
    path = tmp_path / "long.csv"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 8))
    y = rng.integers(0, 2, 60_000)
    header = ",".join(f"x{k}" for k in range(8)) + ",label"
    np.savetxt(path, np.column_stack([X, y]), fmt=["%.4f"] * 8 + ["%d"], delimiter=",", header=header, comments="")
    with serving(file=path, target="label") as studio:
        page = open_page(studio.address)
        page.wait_for_selector("#columns-table")
        page.locator("#file-passes").fill("100")
        page.locator("#file-rule").select_option("perceptron")
        page.locator("#learn").click()
        wait_for_text(page, "#progress", r"\d examples")
        began = time.monotonic()
        page.locator("#timeline").fill("3")  # the page answers while the model learns
        assert "example 4 of" in text_of(page, "#where")
        page.locator("#cancel").click()
        page.wait_for_selector("#learned")
        assert time.monotonic() - began < 60
        shown = text_of(page, "#learned")
        assert "6,000,000" not in shown

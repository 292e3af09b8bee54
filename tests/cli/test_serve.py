"""novikoff serve and novikoff replay: what they refuse before anything is started, and what a replay prints."""

import pytest
from click.testing import CliRunner

pytest.importorskip("msgspec")

import novikoff as nk
from novikoff.cli import main
from novikoff.service.hosting import HostedModel
from novikoff.service.requests import Learn
from novikoff.service.starting import Beginning


def run(*arguments):
    found = CliRunner().invoke(main, [str(each) for each in arguments])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--labels", "a,b"], "--labels is for a model that begins with nothing"),
        (["--rule", "perceptron"], "--rule is for a model"),
        (["--new", "m", "--labels", "a"], "two or more different labels"),
        (["--new", "m", "--labels", "a,a"], "two or more different labels"),
        (["missing.nk"], "missing.nk does not exist"),
        (["--new", "m", "--new", "m"], "Two models have one name"),
        (["--new", "m", "--label-window", "soon"], "soon"),
    ],
)
def test_usage(tmp_path, arguments, message):
    code, output = run("serve", "--data", tmp_path / "data", *arguments)
    assert code == 2
    assert message in output
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "has no models"),
        (["--new", "../m"], "cannot be the name of a model"),
        (["--new", "m", "--host", "0.0.0.0"], "Give a file of tokens"),
    ],
)
def test_errors(tmp_path, arguments, message):
    code, output = run("serve", "--data", tmp_path / "data", *arguments)
    assert code == 1
    assert message in output


def test_a_model_that_predicts_numbers_is_refused(tmp_path):
    nk.learn([{"a": 1.0, "y": 2.0}, {"a": 2.0, "y": 3.5}], target="y", loss="squared").save(tmp_path / "price.nk")
    with pytest.raises(nk.errors.ServiceError, match="predicts numbers"):
        HostedModel("price", tmp_path / "data", tmp_path / "price.nk")


def test_a_replay_compares_and_writes(tmp_path):
    data = tmp_path / "data"
    hosted = HostedModel("m", data, new=Beginning(labels=["ham", "spam"], rule="perceptron"))
    hosted.writer.ask([Learn({"links": n % 5}, "ham" if n % 2 else "spam") for n in range(20)])
    hosted.stop()
    code, output = run("replay", data, "--verify")
    assert code == 0
    assert "m: 20 labels learned again" in output
    assert "snapshot-000000020.nk is the same, byte for byte" in output
    code, output = run("replay", data, "--until", 7, "-o", tmp_path / "seven.nk")
    assert code == 0
    assert nk.load(tmp_path / "seven.nk").ledger.examples == 7
    nk.load(tmp_path / "seven.nk").save(data / "m" / "snapshot-000000007.nk")
    (data / "m" / "snapshot-000000007.nk").write_bytes((data / "m" / "snapshot-000000020.nk").read_bytes())
    code, output = run("replay", data, "--verify")
    assert code == 1
    assert "snapshot-000000007.nk DIFFERS" in output
    code, output = run("replay", tmp_path)
    assert code == 1
    assert "has no log" in output


def test_a_model_of_learn_is_served_and_replayed(tmp_path):
    rows = [
        {"links": float(n % 7), "sky": "red" if n % 3 else "blue", "spam": "yes" if n % 7 > 3 else "no"}
        for n in range(60)
    ]
    nk.learn(rows, target="spam").save(tmp_path / "mail.nk")
    hosted = HostedModel("mail", tmp_path / "data", tmp_path / "mail.nk")
    [answer] = hosted.writer.ask([Learn({"links": 6, "sky": "red", "new": "word"}, "yes")])
    assert (answer.label, answer.seq) == ("yes", 1)
    report = hosted.writer.run(hosted.writer.report)
    assert (report.seq, report.examples) == (1, 61)
    hosted.stop()
    code, output = run("replay", tmp_path / "data", "--verify")
    assert code == 0, output
    assert "byte for byte" in output

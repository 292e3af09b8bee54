"""The result of learning depends on rows and their order alone, and flags say which rows changed the weights."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import ServiceError
from novikoff.service.features import Features, make_block, split_rows
from novikoff.service.labels import KnownLabels
from novikoff.service.online_model import REFUSED, UPDATED, OnlineModel
from novikoff.service.refusals import BadLabelError, BadRowError

KINDS = {"size": "number", "sky": "word", "subject": "text", "late": "number"}
VALUES = {
    "size": st.floats(-1e3, 1e3),
    "sky": st.sampled_from(["red", "blue", "grey"]),
    "subject": st.sampled_from(["win a prize now", "see you at lunch", "a", ""]),
    "late": st.integers(-3, 3),
}
ROWS = st.lists(st.fixed_dictionaries({}, optional=VALUES), min_size=1, max_size=30)
RULES = st.sampled_from(["auto", "perceptron", "arow", "passive-aggressive-I"])


def untrained(rule):
    hypothesis = None if rule in ("auto", "arow") else "averaged"
    from novikoff.streaming.defaults import choose_rule_and_hypothesis

    return OnlineModel.untrained(nk.Learner(*choose_rule_and_hypothesis(rule, hypothesis)), ["ham", "spam"])


@settings(max_examples=60, deadline=None)
@given(st.data(), ROWS, RULES)
def test_batches_do_not_matter(tmp_path_factory, data, rows, rule):
    labels = [
        data.draw(st.sampled_from(["ham", "spam", "eggs"] if n > 5 else ["ham", "spam"])) for n in range(len(rows))
    ]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows)))) | {len(rows)})
    one_by_one, in_batches = untrained(rule), untrained(rule)
    flags = b"".join(one_by_one.learn([row], [label], KINDS) for row, label in zip(rows, labels, strict=True))
    found, start = b"", 0
    for stop in cuts:
        found += in_batches.learn(rows[start:stop], labels[start:stop], KINDS)
        start = stop
    assert found == flags
    assert flags.count(UPDATED) == one_by_one.ledger.updates
    folder = tmp_path_factory.mktemp("models")
    one_by_one.save(folder / "a.nk")
    in_batches.save(folder / "b.nk")
    assert (folder / "a.nk").read_bytes() == (folder / "b.nk").read_bytes()
    assert OnlineModel.load(folder / "a.nk").seq == len(rows)


def test_long_texts_are_learned_in_pieces_and_every_flag_is_found():
    texts = [" ".join(f"w{(n * k) % 97}" for k in range(400)) for n in range(600)]
    rows, labels = [{"subject": text} for text in texts], ["ham" if n % 3 else "spam" for n in range(600)]
    model = untrained("perceptron")
    flags = model.learn(rows, labels, KINDS)
    assert len(flags) == model.seq == 600
    assert flags.count(UPDATED) == model.ledger.updates


def test_a_row_that_cannot_be_learned_is_passed_over():
    from novikoff.data.encoding import Features as Encoded
    from novikoff.streaming.model import StreamModel

    model = OnlineModel(StreamModel(nk.Learner(), Encoded(scale=False)))
    rows = [{"size": 1.0}, {"size": 1e149}, {"size": -1.0}]
    flags = model.learn(rows, ["a", "b", "b"], KINDS)
    assert flags[1] == REFUSED
    assert (model.seq, model.ledger.examples) == (3, 2)


def test_blocks_have_bounded_cells():
    rows = [{f"n{k}": 1.0 for k in range(n, n + 1000)} for n in range(0, 60_000, 10)]
    parts = list(split_rows(rows))
    assert parts[0][0] == 0
    assert parts[-1][1] == len(rows)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(parts))
    for start, stop in parts:
        assert (stop - start) * len(set().union(*rows[start:stop])) <= 1 << 22


def test_models_of_other_data_are_refused(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:2\n-1 1:3\n")
    with pytest.raises(ServiceError, match="svmlight"):
        OnlineModel(nk.learn(path, format="svmlight"))
    with pytest.raises(ServiceError, match="predicts numbers"):
        OnlineModel(nk.learn([{"a": 1.0, "y": 2.0}, {"a": 2.0, "y": 3.0}], target="y", loss="squared"))


def test_numbers_as_labels():
    model = OnlineModel(nk.learn([{"a": 1.0}, {"a": 2.0}], [0.0, 1.0]))
    labels = KnownLabels(model.labels)
    assert labels.check(1) == labels.check("1") == 1.0
    assert model.predict([{"a": 5.0}], {"a": "number"})[0][0] in (0, 1)
    assert isinstance(model.predict([{"a": 5.0}], {"a": "number"})[0][0], int)
    with pytest.raises(BadLabelError):
        labels.check("spam")


def test_labels_that_were_not_logged_are_forgotten():
    labels = KnownLabels(["ham"])
    labels.add(labels.check("spam"))
    labels.forget_new()
    assert labels.known == ["ham"]
    labels.add(labels.check("spam"))
    labels.keep_new()
    labels.forget_new()
    assert labels.known == ["ham", "spam"]


def test_names_that_were_not_logged_are_forgotten():
    features = Features({"a": "number"})
    features.read({"b": "red", "c": True})
    assert features.kinds == {"a": "number", "b": "word", "c": "word"}
    features.forget_new()
    assert features.kinds == {"a": "number"}
    with pytest.raises(BadRowError):
        features.read({"d": 1, "a": "x"})
    assert features.kinds == {"a": "number"}
    assert features.read({"a": True, "e": None}) == {"a": 1}


def test_too_many_names():
    features = Features({f"n{k}": "number" for k in range(10_000)})
    with pytest.raises(BadRowError, match="one more than the 10,000"):
        features.read({"one more": 1})


def test_columns_of_a_block():
    block = make_block([{"sky": "red"}, {"size": 2, "subject": "a text"}], KINDS, None)
    assert block.labels is None
    assert {name: column.tolist()[1] for name, column in block.columns.items()} == {
        "sky": None, "size": 2.0, "subject": "a text",
    }  # fmt: skip

"""The theorems of docs/service.md, on streams whose labels come late."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from novikoff.data.encoding import Features
from novikoff.perceptron.model import Model
from novikoff.service.online_model import UPDATED, OnlineModel
from novikoff.streaming.model import StreamModel

NAMES = ["a", "b", "c"]
KINDS = dict.fromkeys(NAMES, "number")
NORMAL = (2, -1, 1, 1)  # of the separating plane; the last is the constant


@st.composite
def streams(draw):
    """Rows of integers that NORMAL separates, and in which order they are predicted and labelled."""
    rows = draw(st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=25))
    rows = [row for row in rows if score(row) != 0]
    events, left, waiting = [], list(range(len(rows))), []
    while left or waiting:
        if left and (not waiting or draw(st.booleans())):
            waiting.append(left[0])
            events.append(("predict", left.pop(0)))
        else:
            events.append(("label", waiting.pop(draw(st.integers(0, len(waiting) - 1)))))
    return rows, events


def score(row):
    return sum(u * x for u, x in zip(NORMAL, (*row, 1), strict=True))


def plain_model():
    """The perceptron on the numbers as they are, with its last weights."""
    model = StreamModel(nk.Learner(nk.rules.Perceptron(), nk.hypotheses.Last()), Features(scale=False))
    model.model = Model(model.model.learner, ["no", "yes"])
    return OnlineModel(model)


def play(rows, events):
    """Return for each learned row, in order: (row, version of its prediction, was it a mistake, was it an update)."""
    model, served, learned = plain_model(), {}, []
    for what, n in events:
        row, label = dict(zip(NAMES, rows[n], strict=True)), "yes" if score(rows[n]) > 0 else "no"
        if what == "predict":
            served[n] = model.seq, model.predict([row], KINDS)[0][0] != label
        else:
            flags = model.learn([row], [label], KINDS)
            learned.append((rows[n], *served[n], flags[0] == UPDATED))
    return learned


@settings(max_examples=150, deadline=None)
@given(streams())
def test_updates_are_bounded_however_late_labels_come(stream):
    rows, events = stream
    learned = play(rows, events)
    if not learned:
        return
    updates = sum(is_update for *_, is_update in learned)
    squared_radius = max(sum(x * x for x in row) + 1 for row, *_ in learned)
    squared_margin = Fraction(min(score(row) ** 2 for row, *_ in learned), sum(u * u for u in NORMAL))
    assert updates <= squared_radius / squared_margin


@settings(max_examples=150, deadline=None)
@given(streams())
def test_mistakes_served_are_bounded_by_updates_and_what_was_outstanding(stream):
    """Label t of the log was predicted after `version` labels; it is outstanding at the labels in between."""
    learned = play(*stream)
    mistakes = bound = 0
    for t, (_, version, is_mistake, is_update) in enumerate(learned, start=1):
        mistakes += is_mistake
        bound += is_update
        bound += sum(learned[s - 1][3] for s in range(version + 1, t)) > 0  # it was outstanding at some update
    most = max((sum(version < s < t for t, (_, version, *_) in enumerate(learned, 1)) for s, one in
                enumerate(learned, 1) if one[3]), default=0)  # fmt: skip
    updates = sum(is_update for *_, is_update in learned)
    assert mistakes <= bound <= (1 + most) * updates


@settings(max_examples=30, deadline=None)
@given(streams())
def test_without_delay_mistakes_are_updates(stream):
    rows, _ = stream
    learned = play(rows, [(what, n) for n in range(len(rows)) for what in ("predict", "label")])
    first = [is_update for *_, is_update in learned]
    # A tie is an update even where the label that was served is right.
    assert all(is_update for *_, is_mistake, is_update in learned if is_mistake)
    assert len(first) == len(rows)

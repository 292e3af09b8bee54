"""Taggers and structured perceptrons that threads share, that are interrupted, and that are copied."""

import copy
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import DataError, ReentryError
from tests.support.bytecode_interrupts import Interrupt, bytecodes_of
from tests.support.forks import call_in_fork

TEMPLATES = ["word[0]", "word[-1]+suffix2[0]", "tag[-1]+word[0]"]
X = [["the", "dog", "ran"], ["a", "cat"], ["dogs", "run", "far", "x"]] * 2
Y = [["D", "N", "V"], ["D", "N"], ["N", "V", "A", "Q"]] * 2
OTHERS = [["new", "dog"], ["cat", "the", "zebra"]], [["Z", "N"], ["N", "D", "W"]]  # with new words and tags
WRONG = [["the", "dog", "ran"], ["a", "cat"]], [["V", "D", "V"], ["Q", "N"]]  # with none, so that no array has to grow


def blocks(rng, n, *, words=60, tags=5, size=8):
    """n lists of sentences and their tags; later ones bring new words and tags."""
    found = []
    for k in range(n):
        X = [[f"w{w}" for w in rng.integers(0, words + 5 * k, rng.integers(1, 7))] for _ in range(size)]
        found.append((X, [[f"t{(int(w[1:]) + rng.integers(2)) % (tags + k // 4)}" for w in x] for x in X]))
    return found


def saved(tagger, path):
    """The bytes of its file, which holds a tagger that answers alike."""
    tagger.save(path)
    assert nk.load(path).predict(X + OTHERS[0]) == tagger.predict(X + OTHERS[0])
    return path.read_bytes()


OPTIONS = [{}, {"hash_bits": 6}, {"markov_order": 2, "hypothesis": "last"}, {"beam": 2}]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_tagger_learns_while_it_is_asked(options, tmp_path):
    """Every answer is that of the tagger after some whole number of blocks, and of none before one already given."""
    lessons, asked = blocks(np.random.default_rng(0), 12), blocks(np.random.default_rng(1), 1, size=40)[0][0]
    alone = nk.SequenceTagger(TEMPLATES, **options).partial_fit(*lessons[0])
    shared, right = copy.copy(alone), [alone.predict(asked)]
    right += [alone.partial_fit(*lesson).predict(asked) for lesson in lessons[1:]]
    done = threading.Event()

    def ask():
        found = []
        while not done.is_set():
            found.append(right.index(shared.predict(asked)))
            shared.save(tmp_path / f"{threading.get_ident()}")
        return found

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        try:
            for lesson in lessons[1:]:
                shared.partial_fit(*lesson)
        finally:
            done.set()
        for found in asking:
            assert found.result() == sorted(found.result())
    for file in tmp_path.iterdir():
        nk.load(file).predict(asked)
    assert saved(shared, tmp_path / "m") == saved(alone, tmp_path / "m")


@pytest.mark.parametrize("options", OPTIONS)
def test_several_threads_teach_one_tagger(options, tmp_path):
    lessons = blocks(np.random.default_rng(2), 40)
    tagger = nk.SequenceTagger(TEMPLATES, **options)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda lesson: tagger.partial_fit(*lesson), lessons))
    assert tagger.ledger_.examples == sum(len(X) for X, _ in lessons)
    assert tagger.ledger_.passes == len(lessons)
    if tagger.hash_bits is None:
        assert tagger.known_words() == {word for X, _ in lessons for x in X for word in x}
    saved(tagger, tmp_path / "m")


def test_fit_and_partial_fit_at_once(tmp_path):
    lessons = blocks(np.random.default_rng(3), 16)
    tagger = nk.SequenceTagger(TEMPLATES, max_iter=2).fit(*lessons[0])

    def learn(number):
        (tagger.fit if number % 4 == 0 else tagger.partial_fit)(*lessons[number])
        tagger.predict(X)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(learn, range(16)))
    saved(tagger, tmp_path / "m")


def test_passes_and_partial_fit_in_turns(tmp_path):
    """Sentences learned between two passes may have given the same features rows, and brought new tags."""
    tagger = nk.SequenceTagger(TEMPLATES, max_iter=5).fit(X, Y)
    ((sentences, tags),) = blocks(np.random.default_rng(4), 1)
    undecided = [*tags, *(["V"] * len(own) for own in tags)]  # no pass is without a mistake
    passes = tagger.passes(sentences * 2, undecided, go_on=True)
    for lesson in (OTHERS, (sentences, tags), WRONG):
        next(passes)
        tagger.partial_fit(*lesson)
        saved(tagger, tmp_path / "m")
    tagger.fit(X, Y)
    with pytest.raises(DataError, match="begun to learn anew"):
        next(passes)


ACTS = {
    "partial_fit": lambda tagger: tagger.partial_fit(*OTHERS),
    "partial_fit in place": lambda tagger: tagger.partial_fit(*WRONG),
    "fit": lambda tagger: tagger.fit(*OTHERS),
    "passes": lambda tagger: next(tagger.passes(*WRONG, go_on=True)),
    "predict": lambda tagger: tagger.predict(OTHERS[0]),
}


def is_free(lock):
    """Whether another thread could take it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: lock.acquire(blocking=False) and lock.release() is None).result()


@pytest.mark.parametrize("act", ACTS.values(), ids=list(ACTS))
@pytest.mark.parametrize("options", OPTIONS[:2])
def test_a_tagger_that_is_interrupted(act, options, tmp_path):
    """Whenever Ctrl-C comes, the tagger is as before or after; its file can be loaded, and it goes on learning."""
    base, path = nk.SequenceTagger(TEMPLATES, max_iter=2, **options).fit(X, Y), tmp_path / "m"
    done = copy.copy(base)
    act(done)
    either = [saved(base, path), saved(done, path)]
    onwards = [saved(tagger.partial_fit(X, Y), path) for tagger in (copy.copy(base), done)]
    trial = copy.copy(base)
    n = bytecodes_of(lambda: act(trial))
    rng = np.random.default_rng(n)
    for number in sorted(rng.choice(n, 40, replace=False).tolist() + list(range(n - 40, n))):
        tagger, interrupt = copy.copy(base), Interrupt(number)
        interrupt(lambda tagger=tagger: act(tagger))
        assert interrupt.came
        found = either.index(saved(tagger, path))
        assert saved(tagger.partial_fit(X, Y), path) == onwards[found], number
        assert all(map(is_free, (tagger._learning, tagger._weights, tagger._known().program.words.lock))), number


def test_interrupted_twice(tmp_path):
    """Also while it undoes what was interrupted."""
    base, path = nk.SequenceTagger(TEMPLATES, max_iter=2).fit(X, Y), tmp_path / "m"
    before = saved(base, path)
    trial = copy.copy(base)
    n = bytecodes_of(lambda: trial.partial_fit(*WRONG))
    for number in range(n - 120, n, 9):
        for second in range(0, 120, 7):
            tagger = copy.copy(base)
            Interrupt(number)(lambda tagger=tagger: tagger.partial_fit(*WRONG))
            if tagger._undo is None:
                break
            Interrupt(second)(lambda tagger=tagger: tagger.predict(X))
            assert saved(tagger, path) == before


def test_an_interrupted_save_leaves_a_file_that_can_be_read(tmp_path):
    path, tagger = tmp_path / "m", nk.SequenceTagger(TEMPLATES, max_iter=2).fit(X, Y)
    either = [saved(tagger, path)]
    tagger.partial_fit(*OTHERS)
    either.append(saved(tagger, tmp_path / "later"))
    n = bytecodes_of(lambda: tagger.save(tmp_path / "trial"))
    for number in np.random.default_rng(n).choice(n, 100, replace=False).tolist():
        path.write_bytes(either[0])
        Interrupt(number)(lambda: tagger.save(path))
        assert path.read_bytes() in either


def test_learning_from_within_learning_is_refused(tmp_path):
    """By an attribute, or a problem."""

    def meddling(word):
        if word == "zebra":
            with pytest.raises(ReentryError, match="from within another call"):
                tagger.partial_fit(X, Y)
        return word

    tagger = nk.SequenceTagger(["f[0]"], attributes={"f": meddling}).fit(X, Y)
    tagger.partial_fit(*OTHERS)
    assert tagger.ledger_.examples == nk.SequenceTagger(["word[0]"]).fit(X, Y).partial_fit(*OTHERS).ledger_.examples

    class Meddling(Ordering):
        def best(self, weights, x):
            with pytest.raises(ReentryError):
                model.partial_fit([x], [x])
            return super().best(weights, x)

    model = nk.StructuredPerceptron(Meddling())
    assert model.partial_fit([(2, 1)], [(1, 2)]).ledger_.examples == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_a_fork_while_another_thread_learns(tmp_path):
    """The child has a tagger that answers and learns, whatever that thread was about."""
    lessons, done = blocks(np.random.default_rng(9), 10), threading.Event()
    tagger = nk.SequenceTagger(TEMPLATES).partial_fit(*lessons[0])

    def learn():
        while not done.is_set():
            for lesson in lessons:
                tagger.partial_fit(*lesson)

    with ThreadPoolExecutor(1) as pool:
        learning = pool.submit(learn)
        try:
            for _ in range(20):
                assert call_in_fork(lambda: saved(tagger.partial_fit(*lessons[1]), tmp_path / "child")) == 0
        finally:
            done.set()
        learning.result()
    saved(tagger, tmp_path / "m")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda tagger: pickle.loads(pickle.dumps(tagger))])
def test_copies_of_a_tagger_learn_apart(copied, tmp_path):
    tagger = nk.SequenceTagger(TEMPLATES, max_iter=2).fit(X, Y)
    tagger.predict(OTHERS[0])  # which are strangers
    before = saved(tagger, tmp_path / "m")
    again = copied(tagger)
    assert saved(again, tmp_path / "m") == before
    again.partial_fit(*WRONG).partial_fit(*OTHERS)
    assert saved(tagger, tmp_path / "m") == before
    after = saved(again, tmp_path / "m")
    tagger.fit(*OTHERS).partial_fit(*WRONG)
    assert saved(again, tmp_path / "m") == after


class Ordering:
    """Digits in their order, by which of two comes first."""

    def features(self, x, y):
        return {(a, b): 1 for k, a in enumerate(y) for b in y[k + 1 :]}

    def best(self, weights, x):
        return tuple(sorted(x, key=lambda a: sum(weights[a, b] for b in x)))


class Dense:
    def features(self, x, y):
        return np.outer(np.eye(3)[y], x)

    def best(self, weights, x):
        return int(np.argmax(weights @ x))


class Places:
    size = 30

    def features(self, x, y):
        return np.array([10 * y + k for k in x])

    def best(self, weights, x):
        return int(np.argmax([weights[self.features(x, y)].sum() for y in range(3)]))


def examples(problem, rng, n):
    if isinstance(problem, Ordering):
        X = [tuple(rng.permutation(9)[:4].tolist()) for _ in range(n)]
        return X, [tuple(sorted(x)) for x in X]
    if isinstance(problem, Dense):
        X = list(rng.integers(-3, 4, (n, 4)).astype(float))
        return X, [int(np.argmax(x[:3] + x[3])) for x in X]
    X = [rng.integers(0, 10, 3).tolist() for _ in range(n)]
    return X, [sum(x) % 3 for x in X]


def state_of(model):
    weights, ledger = model.weights_, model.ledger_
    kept = dict(weights) if isinstance(weights, dict) else weights.tolist()
    return kept, ledger.examples, ledger.mistakes, ledger.passes, ledger.radius, ledger.norm, ledger.trace.points


@pytest.mark.parametrize("hypothesis", ["averaged", "last"])
@pytest.mark.parametrize("kind", [Ordering, Dense, Places])
def test_a_structured_perceptron_learns_while_it_is_asked(kind, hypothesis):
    problem, rng = kind(), np.random.default_rng(5)
    lessons, asked = [examples(problem, rng, 5) for _ in range(20)], examples(problem, rng, 5)[0]
    alone = nk.StructuredPerceptron(problem, hypothesis=hypothesis).partial_fit(*lessons[0])
    shared, right = copy.copy(alone), [alone.predict(asked)]
    right += [alone.partial_fit(*lesson).predict(asked) for lesson in lessons[1:]]
    done = threading.Event()

    def ask():
        while not done.is_set():
            assert shared.predict(asked) in right
            assert shared.ledger_.examples % 5 == 0

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(ask) for _ in range(2)]
        try:
            for lesson in lessons[1:]:
                shared.partial_fit(*lesson)
        finally:
            done.set()
        for found in asking:
            found.result()
    assert repr(state_of(shared)) == repr(state_of(alone))


def test_several_threads_teach_one_structured_perceptron():
    model, rng = nk.StructuredPerceptron(Ordering()), np.random.default_rng(6)
    lessons = [examples(model.problem, rng, 3) for _ in range(100)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda lesson: model.partial_fit(*lesson), lessons))
    assert (model.ledger_.examples, model.ledger_.passes) == (300, 100)


@pytest.mark.parametrize("verb", ["partial_fit", "fit"])
@pytest.mark.parametrize("kind", [Ordering, Dense, Places])
def test_a_structured_perceptron_that_is_interrupted(kind, verb):
    problem, rng = kind(), np.random.default_rng(7)
    first, second = examples(problem, rng, 6), examples(problem, rng, 6)
    base = nk.StructuredPerceptron(problem, max_iter=2).fit(*first)
    either = [repr(state_of(base)), repr(state_of(getattr(copy.copy(base), verb)(*second)))]
    trial = copy.copy(base)
    n = bytecodes_of(lambda: getattr(trial, verb)(*second))
    for number in np.random.default_rng(n).choice(n, 100).tolist():
        model = copy.copy(base)
        Interrupt(number)(lambda model=model: getattr(model, verb)(*second))
        assert repr(state_of(model)) in either
        assert is_free(model._learning)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("kind", [Ordering, Dense, Places])
def test_copies_of_a_structured_perceptron_learn_apart(copied, kind):
    problem, rng = kind(), np.random.default_rng(8)
    first, second = examples(problem, rng, 6), examples(problem, rng, 6)
    model = nk.StructuredPerceptron(problem).partial_fit(*first)
    again, before = copied(model), repr(state_of(model))
    again.partial_fit(*second)
    assert repr(state_of(model)) == before != repr(state_of(again))
    after = repr(state_of(again))
    model.partial_fit(*first)
    assert repr(state_of(again)) == after

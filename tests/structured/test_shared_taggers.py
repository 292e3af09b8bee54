"""Taggers and structured perceptrons under threads, interrupts, forks and copying."""

import copy
import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import DataError, ReentryError
from tests.support.bytecode_interrupts import Interrupt, count_bytecodes
from tests.support.forks import call_in_fork

TEMPLATES = ["word[0]", "word[-1]+suffix2[0]", "tag[-1]+word[0]"]
X = [["the", "dog", "ran"], ["a", "cat"], ["dogs", "run", "far", "x"]] * 2
Y = [["D", "N", "V"], ["D", "N"], ["N", "V", "A", "Q"]] * 2
NEW = [["new", "dog"], ["cat", "the", "zebra"]], [["Z", "N"], ["N", "D", "W"]]  # new words and tags
CHANGED = [["the", "dog", "ran"], ["a", "cat"]], [["V", "D", "V"], ["Q", "N"]]  # neither, so that no array has to grow


def make_blocks(rng, n, *, words=60, tags=5, size=8):
    """Return n lists of sentences and their tags; later ones have new words and tags."""
    found = []
    for k in range(n):
        X = [[f"w{w}" for w in rng.integers(0, words + 5 * k, rng.integers(1, 7))] for _ in range(size)]
        found.append((X, [[f"t{(int(w[1:]) + rng.integers(2)) % (tags + k // 4)}" for w in x] for x in X]))
    return found


def save(tagger, path):
    """Save a tagger, check that the file predicts as it does, and return the bytes of the file."""
    tagger.save(path)
    assert nk.load(path).predict(X + NEW[0]) == tagger.predict(X + NEW[0])
    return path.read_bytes()


OPTIONS = [{}, {"hash_bits": 6}, {"markov_order": 2, "hypothesis": "last"}, {"beam": 2}]


@pytest.mark.parametrize("options", OPTIONS)
def test_tagger_predicts_while_it_learns(options, tmp_path):
    """Every prediction is that of the tagger after some number of complete blocks, which never decreases."""
    blocks, queries = make_blocks(np.random.default_rng(0), 12), make_blocks(np.random.default_rng(1), 1, size=40)[0][0]
    alone = nk.SequenceTagger(TEMPLATES, **options).partial_fit(*blocks[0])
    shared, right = copy.copy(alone), [alone.predict(queries)]
    right += [alone.partial_fit(*block).predict(queries) for block in blocks[1:]]
    done = threading.Event()

    def ask():
        found = []
        while not done.is_set():
            found.append(right.index(shared.predict(queries)))
            shared.save(tmp_path / f"{threading.get_ident()}")
        return found

    with ThreadPoolExecutor(3) as pool:
        askers = [pool.submit(ask) for _ in range(3)]
        try:
            for block in blocks[1:]:
                shared.partial_fit(*block)
        finally:
            done.set()
        for found in askers:
            assert found.result() == sorted(found.result())
    for file in tmp_path.iterdir():
        nk.load(file).predict(queries)
    assert save(shared, tmp_path / "m") == save(alone, tmp_path / "m")


@pytest.mark.parametrize("options", OPTIONS)
def test_several_threads_train_one_tagger(options, tmp_path):
    blocks = make_blocks(np.random.default_rng(2), 40)
    tagger = nk.SequenceTagger(TEMPLATES, **options)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda block: tagger.partial_fit(*block), blocks))
    assert tagger.ledger_.examples == sum(len(X) for X, _ in blocks)
    assert tagger.ledger_.passes == len(blocks)
    if tagger.hash_bits is None:
        assert tagger.known_words() == {word for X, _ in blocks for x in X for word in x}
    save(tagger, tmp_path / "m")


def test_fit_and_partial_fit_in_several_threads(tmp_path):
    blocks = make_blocks(np.random.default_rng(3), 16)
    tagger = nk.SequenceTagger(TEMPLATES, max_iter=2).fit(*blocks[0])

    def learn(number):
        (tagger.fit if number % 4 == 0 else tagger.partial_fit)(*blocks[number])
        tagger.predict(X)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(learn, range(16)))
    save(tagger, tmp_path / "m")


def test_passes_alternate_with_partial_fit(tmp_path):
    """Between two passes, other calls may give rows to the features of these sentences, and add tags."""
    tagger = nk.SequenceTagger(TEMPLATES, max_iter=5).fit(X, Y)
    ((sentences, tags),) = make_blocks(np.random.default_rng(4), 1)
    contradictory = [*tags, *(["V"] * len(own) for own in tags)]  # so that every pass makes a mistake
    passes = tagger.passes(sentences * 2, contradictory, go_on=True)
    for block in (NEW, (sentences, tags), CHANGED):
        next(passes)
        tagger.partial_fit(*block)
        save(tagger, tmp_path / "m")
    tagger.fit(X, Y)
    with pytest.raises(DataError, match="begun to learn anew"):
        next(passes)


ACTIONS = {
    "partial_fit": lambda tagger: tagger.partial_fit(*NEW),
    "partial_fit in place": lambda tagger: tagger.partial_fit(*CHANGED),
    "fit": lambda tagger: tagger.fit(*NEW),
    "passes": lambda tagger: next(tagger.passes(*CHANGED, go_on=True)),
    "predict": lambda tagger: tagger.predict(NEW[0]),
}


def copy_with_spare_rows(tagger):
    """Return a copy that changes its weights in place when it learns, if there are no new tags: it has rows for all new
    features, for which it would otherwise move the weights to a larger array."""
    again = copy.copy(tagger)
    again._require_snapshot().state._reserve(1000)
    return again


def test_weights_change_in_place():
    tagger = copy_with_spare_rows(nk.SequenceTagger(TEMPLATES, max_iter=2).fit(X, Y))
    weights = tagger._require_snapshot().state.weights
    before = weights.copy()
    assert tagger.partial_fit(*CHANGED)._require_snapshot().state.weights is weights
    assert (weights != before).any()


def is_free(lock):
    """Return whether another thread could acquire the lock."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: lock.acquire(blocking=False) and lock.release() is None).result()


@pytest.mark.parametrize("action", ACTIONS.values(), ids=list(ACTIONS))
@pytest.mark.parametrize("options", OPTIONS[:2])
def test_interrupted_tagger(action, options, tmp_path):
    """After an interrupt at any bytecode, the tagger is as before or after the call, and can be saved and trained."""
    base, path = nk.SequenceTagger(TEMPLATES, max_iter=2, **options).fit(X, Y), tmp_path / "m"
    done = copy.copy(base)
    action(done)
    either = [save(base, path), save(done, path)]
    onwards = [save(tagger.partial_fit(X, Y), path) for tagger in (copy.copy(base), done)]
    trial = copy_with_spare_rows(base)
    n = count_bytecodes(lambda: action(trial))
    rng = np.random.default_rng(n)
    for number in sorted(rng.choice(n, 40, replace=False).tolist() + list(range(n - 40, n))):
        tagger, interrupt = copy_with_spare_rows(base), Interrupt(number)
        interrupt(lambda tagger=tagger: action(tagger))
        assert interrupt.came
        found = either.index(save(tagger, path))
        assert save(tagger.partial_fit(X, Y), path) == onwards[found], number
        assert all(
            map(is_free, (tagger._learning_lock, tagger._weights_lock, tagger._require_snapshot().extractor.words.lock))
        ), number


def test_interrupt_while_an_interrupted_call_is_undone(tmp_path):
    base, path = nk.SequenceTagger(TEMPLATES, max_iter=2).fit(X, Y), tmp_path / "m"
    before = save(base, path)
    trial = copy_with_spare_rows(base)
    n = count_bytecodes(lambda: trial.partial_fit(*CHANGED))
    for number in range(n - 120, n, 9):
        for second in range(0, 120, 7):
            tagger = copy_with_spare_rows(base)
            Interrupt(number)(lambda tagger=tagger: tagger.partial_fit(*CHANGED))
            if tagger._backup is None:
                break
            Interrupt(second)(lambda tagger=tagger: tagger.predict(X))
            assert save(tagger, path) == before


def test_interrupted_save_leaves_a_complete_file(tmp_path):
    path, tagger = tmp_path / "m", nk.SequenceTagger(TEMPLATES, max_iter=2).fit(X, Y)
    either = [save(tagger, path)]
    tagger.partial_fit(*NEW)
    either.append(save(tagger, tmp_path / "later"))
    n = count_bytecodes(lambda: tagger.save(tmp_path / "trial"))
    for number in np.random.default_rng(n).choice(n, 100, replace=False).tolist():
        path.write_bytes(either[0])
        Interrupt(number)(lambda: tagger.save(path))
        assert path.read_bytes() in either


def test_reentrant_learning_raises_an_error(tmp_path):
    """An attribute or a problem of the user calls partial_fit of the tagger that is learning."""

    def reentrant(word):
        if word == "zebra":
            with pytest.raises(ReentryError, match="inside another call"):
                tagger.partial_fit(X, Y)
        return word

    tagger = nk.SequenceTagger(["f[0]"], attributes={"f": reentrant}).fit(X, Y)
    tagger.partial_fit(*NEW)
    assert tagger.ledger_.examples == nk.SequenceTagger(["word[0]"]).fit(X, Y).partial_fit(*NEW).ledger_.examples

    class ReentrantOrdering(Ordering):
        def best(self, weights, x):
            with pytest.raises(ReentryError):
                model.partial_fit([x], [x])
            return super().best(weights, x)

    model = nk.StructuredPerceptron(ReentrantOrdering())
    assert model.partial_fit([(2, 1)], [(1, 2)]).ledger_.examples == 1


class HandlerCall(Interrupt):
    """Call something, and a handler before the bytecode with this number, as a signal or the garbage collector may."""

    def __init__(self, number, handler):
        super().__init__(number)
        self.handler, self.result = handler, None

    def _step(self, frame, event, arg):
        if event == "opcode":
            if self.left == 0:
                self.came = True
                try:
                    self.result = self.handler()
                except Exception as error:
                    self.result = error
            self.left -= 1
        return self._step


def save_and_read(tagger, path):
    tagger.save(path)
    return path.read_bytes()


def describe_ledger(ledger):
    return repr(ledger), ledger.trace.points


READS = {
    "predict": lambda tagger, path: tagger.predict(X),
    "predict new words": lambda tagger, path: tagger.predict([["new", "zebra", "ape"], ["dog", "ox", "new"]]),
    "k_best": lambda tagger, path: tagger.k_best([["new", "ape"], ["the", "cat"]], 3),
    "margins": lambda tagger, path: tagger.margins(X, Y).tolist(),
    "score": lambda tagger, path: tagger.score(X, Y),
    "heaviest": lambda tagger, path: tagger.heaviest(5),
    "transitions": lambda tagger, path: tagger.transitions(),
    "ledger_": lambda tagger, path: describe_ledger(tagger.ledger_),
    "known_words": lambda tagger, path: tagger.known_words(),
    "save": save_and_read,
    "copy": lambda tagger, path: save_and_read(copy.copy(tagger), path),
    "deepcopy": lambda tagger, path: save_and_read(copy.deepcopy(tagger), path),
    "pickle": lambda tagger, path: save_and_read(pickle.loads(pickle.dumps(tagger)), path),
}


def choose_moments(n, seed):
    """Return the numbers of some of n bytecodes: half of them among the last ones, in which weights have changed and
    are not yet published."""
    rng = np.random.default_rng(seed)
    return sorted({*rng.choice(n, 12).tolist(), *(n - 1 - rng.choice(min(n, 150), 16)).tolist()})


@pytest.mark.parametrize("read", READS.values(), ids=list(READS))
@pytest.mark.parametrize("action", ACTIONS.values(), ids=list(ACTIONS))
@pytest.mark.parametrize("options", OPTIONS[:2])
def test_signal_handler_reads_while_the_tagger_learns(options, action, read, tmp_path):
    """At any bytecode of a call, a handler in the same thread gets the answer from before or after the call; the call
    ends with the same tagger, bit by bit, as without the handler."""
    base, path = nk.SequenceTagger(TEMPLATES, max_iter=2, **options).fit(X, Y), tmp_path / "m"
    done = copy.copy(base)
    action(done)
    either = [repr(read(copy.copy(tagger), path)) for tagger in (base, done)]
    right = save(done, path)
    trial = copy_with_spare_rows(base)
    n = count_bytecodes(lambda: action(trial))
    for number in choose_moments(n, seed=n):
        tagger = copy_with_spare_rows(base)
        if number % 3 == 0:
            tagger.predict(X)  # so that it has a decoder
        handler = HandlerCall(number, lambda tagger=tagger: read(tagger, tmp_path / "handler"))
        handler(lambda tagger=tagger: action(tagger))
        assert not handler.came or repr(handler.result) in either, (number, handler.result)
        assert save(tagger, path) == right, number


@pytest.mark.parametrize("read", READS.values(), ids=list(READS))
@pytest.mark.parametrize("options", OPTIONS[:2])
def test_signal_handler_learns_while_the_tagger_is_read(options, read, tmp_path):
    """A handler in the same thread either learns as usual or gets a ReentryError; the read call returns the answer
    from before or after."""
    base, path = nk.SequenceTagger(TEMPLATES, max_iter=2, **options).fit(X, Y), tmp_path / "m"
    for lesson in (CHANGED, NEW):
        done = copy.copy(base).partial_fit(*lesson)
        either = [repr(read(copy.copy(tagger), path)) for tagger in (base, done)]
        files = [save(base, path), save(done, path)]
        trial = copy_with_spare_rows(base)
        n = count_bytecodes(lambda trial=trial: read(trial, path))
        for number in choose_moments(n, seed=n):
            tagger = copy_with_spare_rows(base)
            handler = HandlerCall(number, lambda tagger=tagger, lesson=lesson: tagger.partial_fit(*lesson))
            found = handler(lambda tagger=tagger: repr(read(tagger, path)))
            has_learned = handler.result is tagger
            assert has_learned or not handler.came or isinstance(handler.result, ReentryError), handler.result
            assert found in either, number
            assert save(tagger, path) == files[has_learned], number


@pytest.mark.parametrize("options", OPTIONS[:2])
def test_signal_handler_reads_while_an_interrupted_call_is_undone(options, tmp_path):
    base, path = nk.SequenceTagger(TEMPLATES, max_iter=2, **options).fit(X, Y), tmp_path / "m"
    before, answer = save(base, path), copy.copy(base).heaviest()
    trial = copy_with_spare_rows(base)
    n, tried = count_bytecodes(lambda: trial.partial_fit(*CHANGED)), 0
    for number in range(n - 1, n - 200, -20):
        for second in range(0, 120, 7):
            tagger = copy_with_spare_rows(base)
            Interrupt(number)(lambda tagger=tagger: tagger.partial_fit(*CHANGED))
            if tagger._backup is None:
                break
            handler = HandlerCall(second, tagger.heaviest)
            handler(lambda tagger=tagger: tagger.predict(X))
            assert not handler.came or handler.result == answer
            assert save(tagger, path) == before
            tried += 1
    assert tried


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this system")
@pytest.mark.parametrize("read", ["predict new words", "heaviest", "save"])
def test_timer_signals_while_the_tagger_learns(read, tmp_path):
    """A tagger whose thread is interrupted by a timer again and again learns what it learns without the timer."""
    blocks = make_blocks(np.random.default_rng(12), 4, words=300, size=6000)
    blocks.append((blocks[0][0], [own[::-1] for own in blocks[0][1]]))  # neither new words nor new tags
    base = nk.SequenceTagger(TEMPLATES, max_iter=2).fit(*blocks[0])
    alone, shared, results = copy.copy(base), copy.copy(base), []
    READS[read](alone, tmp_path / "m")
    done = threading.Event()

    def handle(*_):
        try:
            READS[read](shared, tmp_path / "handler")
            results.append(None)
        except Exception as error:
            results.append(error)
        if not done.is_set():
            signal.setitimer(signal.ITIMER_REAL, 0.001)  # at the end, so that handlers do not interrupt one another

    usual = signal.signal(signal.SIGALRM, handle)
    try:
        for block in blocks[1:] * 2:
            alone.partial_fit(*block)
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            shared.partial_fit(*block)
            assert save_and_read(shared, tmp_path / "m") == save_and_read(alone, tmp_path / "m")
    finally:
        done.set()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, usual)
    assert results
    assert not any(results), results


def test_copying_and_reading_in_two_threads_do_not_wait_for_each_other(tmp_path):
    """One thread is in an attribute of the user, which saves the tagger; another thread copies it."""
    copying, copied = threading.Event(), threading.Event()

    def reentrant(word):
        if word == "ape" and not copying.is_set():
            copying.set()
            copied.wait(0.5)
            tagger.save(tmp_path / "m")
        return word

    def make_copy():
        copying.wait(10)
        copy.copy(tagger)
        copied.set()

    tagger = nk.SequenceTagger(["f[0]"], attributes={"f": reentrant}).fit(X, Y)
    threads = [threading.Thread(target=call, daemon=True) for call in (make_copy, lambda: tagger.predict([["ape"]]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_fork_while_another_thread_learns(tmp_path):
    """In the child, the tagger predicts and learns, whatever the other thread was doing."""
    blocks, done = make_blocks(np.random.default_rng(9), 10), threading.Event()
    tagger = nk.SequenceTagger(TEMPLATES).partial_fit(*blocks[0])
    save(tagger, tmp_path / "m")  # compiles all that a child runs, which otherwise takes a child up to a minute

    def learn():
        while not done.is_set():
            for block in blocks:
                tagger.partial_fit(*block)

    with ThreadPoolExecutor(1) as pool:
        learning = pool.submit(learn)
        try:
            for _ in range(20):
                assert call_in_fork(lambda: save(tagger.partial_fit(*blocks[1]), tmp_path / "child")) == 0
        finally:
            done.set()
        learning.result()
    save(tagger, tmp_path / "m")


@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy, lambda tagger: pickle.loads(pickle.dumps(tagger))])
def test_copies_of_a_tagger_learn_independently(make_copy, tmp_path):
    tagger = nk.SequenceTagger(TEMPLATES, max_iter=2).fit(X, Y)
    tagger.predict(NEW[0])  # which adds unknown words
    before = save(tagger, tmp_path / "m")
    again = make_copy(tagger)
    assert save(again, tmp_path / "m") == before
    again.partial_fit(*CHANGED).partial_fit(*NEW)
    assert save(tagger, tmp_path / "m") == before
    after = save(again, tmp_path / "m")
    tagger.fit(*NEW).partial_fit(*CHANGED)
    assert save(again, tmp_path / "m") == after


class Ordering:
    """Sort digits; the features are which of two digits comes first."""

    def features(self, x, y):
        return {(a, b): 1 for k, a in enumerate(y) for b in y[k + 1 :]}

    def best(self, weights, x):
        return tuple(sorted(x, key=lambda a: sum(weights[a, b] for b in x)))


class DenseClasses:
    def features(self, x, y):
        return np.outer(np.eye(3)[y], x)

    def best(self, weights, x):
        return int(np.argmax(weights @ x))


class IndexedClasses:
    size = 30

    def features(self, x, y):
        return np.array([10 * y + k for k in x])

    def best(self, weights, x):
        return int(np.argmax([weights[self.features(x, y)].sum() for y in range(3)]))


def make_examples(problem, rng, n):
    if isinstance(problem, Ordering):
        X = [tuple(rng.permutation(9)[:4].tolist()) for _ in range(n)]
        return X, [tuple(sorted(x)) for x in X]
    if isinstance(problem, DenseClasses):
        X = list(rng.integers(-3, 4, (n, 4)).astype(float))
        return X, [int(np.argmax(x[:3] + x[3])) for x in X]
    X = [rng.integers(0, 10, 3).tolist() for _ in range(n)]
    return X, [sum(x) % 3 for x in X]


def describe(model):
    weights, ledger = model.weights_, model.ledger_
    kept = dict(weights) if isinstance(weights, dict) else weights.tolist()
    return kept, ledger.examples, ledger.mistakes, ledger.passes, ledger.radius, ledger.norm, ledger.trace.points


@pytest.mark.parametrize("hypothesis", ["averaged", "last"])
@pytest.mark.parametrize("kind", [Ordering, DenseClasses, IndexedClasses])
def test_structured_perceptron_predicts_while_it_learns(kind, hypothesis):
    problem, rng = kind(), np.random.default_rng(5)
    blocks, queries = [make_examples(problem, rng, 5) for _ in range(20)], make_examples(problem, rng, 5)[0]
    alone = nk.StructuredPerceptron(problem, hypothesis=hypothesis).partial_fit(*blocks[0])
    shared, right = copy.copy(alone), [alone.predict(queries)]
    right += [alone.partial_fit(*block).predict(queries) for block in blocks[1:]]
    done = threading.Event()

    def ask():
        while not done.is_set():
            assert shared.predict(queries) in right
            assert shared.ledger_.examples % 5 == 0

    with ThreadPoolExecutor(2) as pool:
        askers = [pool.submit(ask) for _ in range(2)]
        try:
            for block in blocks[1:]:
                shared.partial_fit(*block)
        finally:
            done.set()
        for found in askers:
            found.result()
    assert repr(describe(shared)) == repr(describe(alone))


def test_several_threads_train_one_structured_perceptron():
    model, rng = nk.StructuredPerceptron(Ordering()), np.random.default_rng(6)
    blocks = [make_examples(model.problem, rng, 3) for _ in range(100)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda block: model.partial_fit(*block), blocks))
    assert (model.ledger_.examples, model.ledger_.passes) == (300, 100)


@pytest.mark.parametrize("method", ["partial_fit", "fit"])
@pytest.mark.parametrize("kind", [Ordering, DenseClasses, IndexedClasses])
def test_interrupted_structured_perceptron(kind, method):
    problem, rng = kind(), np.random.default_rng(7)
    first, second = make_examples(problem, rng, 6), make_examples(problem, rng, 6)
    base = nk.StructuredPerceptron(problem, max_iter=2).fit(*first)
    either = [repr(describe(base)), repr(describe(getattr(copy.copy(base), method)(*second)))]
    trial = copy.copy(base)
    n = count_bytecodes(lambda: getattr(trial, method)(*second))
    for number in np.random.default_rng(n).choice(n, 100).tolist():
        model = copy.copy(base)
        Interrupt(number)(lambda model=model: getattr(model, method)(*second))
        assert repr(describe(model)) in either
        assert is_free(model._learning_lock)


@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("kind", [Ordering, DenseClasses, IndexedClasses])
def test_copies_of_a_structured_perceptron_learn_independently(make_copy, kind):
    problem, rng = kind(), np.random.default_rng(8)
    first, second = make_examples(problem, rng, 6), make_examples(problem, rng, 6)
    model = nk.StructuredPerceptron(problem).partial_fit(*first)
    again, before = make_copy(model), repr(describe(model))
    again.partial_fit(*second)
    assert repr(describe(model)) == before != repr(describe(again))
    after = repr(describe(again))
    model.partial_fit(*first)
    assert repr(describe(again)) == after

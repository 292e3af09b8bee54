"""Taggers that several threads teach and ask, that are interrupted anywhere, forked, copied and saved meanwhile."""

from __future__ import annotations

import copy
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import novikoff as nk
from novikoff.structured import tagging
from tests.support.bytecode_interrupts import Interrupt, count_bytecodes
from tests.support.forks import call_in_fork

TEMPLATES = ["word[-1]+suffix2[0]", "word[+1]", "lower[0]", "tag[-1]+word[0]", "tag[-1]+shape[0]"]


def attack(rng: np.random.Generator) -> int:
    plays = [_teach_and_ask, _teach_at_once, _interrupt, _interrupt_the_generic, _fork, _ask_in_handlers]
    play = plays[rng.integers(len(plays))]
    default = tagging.MAX_UNKNOWN_WORDS
    tagging.MAX_UNKNOWN_WORDS = int(rng.choice([3, 50, default]))
    try:
        with tempfile.TemporaryDirectory() as folder:
            return play(rng, Path(folder))
    finally:
        tagging.MAX_UNKNOWN_WORDS = default


def _tagger(rng: np.random.Generator) -> nk.SequenceTagger:
    return nk.SequenceTagger(
        ["word[0]", *map(str, rng.choice(TEMPLATES, rng.integers(0, 4), replace=False))],
        max_iter=int(rng.integers(1, 4)),
        hypothesis=str(rng.choice(["averaged", "last"])),
        order=str(rng.choice(["shuffled", "given"])),
        markov_order=int(rng.integers(1, 3)),
        beam=None if rng.random() < 0.7 else int(rng.integers(1, 4)),
        hash_bits=None if rng.random() < 0.6 else int(rng.integers(1, 10)),
    )


def _lesson(rng: np.random.Generator, words: int, tags: int) -> tuple[list[list[str]], list[list[str]]]:
    sizes = rng.integers(0, 7, rng.integers(1, 9))
    X = [[f"{'Ww'[k % 2]}{k}" for k in rng.integers(0, words, size)] for size in [1, *sizes]]
    return X, [[f"t{k}" for k in rng.integers(0, tags, len(x))] for x in X]


def _lessons(rng: np.random.Generator, n: int) -> list[tuple[list[list[str]], list[list[str]]]]:
    """Later ones bring more words and tags, so that all arrays have to grow."""
    return [_lesson(rng, int(rng.integers(5, 20 + 20 * k)), int(rng.integers(1, 3 + k))) for k in range(n)]


def _bytes_of(tagger: nk.SequenceTagger, path: Path, asked: list[list[str]]) -> bytes:
    """Of its file, which must hold a tagger that answers alike."""
    tagger.save(path)
    assert nk.load(path).predict(asked) == tagger.predict(asked)
    return path.read_bytes()


def _teach_and_ask(rng: np.random.Generator, folder: Path) -> int:
    """One thread learns, others ask: every answer is that after some number of complete lessons, in order."""
    lessons, asked = _lessons(rng, 10), _lesson(rng, 200, 2)[0]
    alone = _tagger(rng).partial_fit(*lessons[0])
    shared, right = copy.copy(alone), [alone.predict(asked)]
    if rng.random() < 0.5:
        shared.predict(asked)
    right += [alone.partial_fit(*lesson).predict(asked) for lesson in lessons[1:]]
    done, asks = threading.Event(), []

    def ask(seed: int) -> None:
        own, found = np.random.default_rng(seed), []
        while not done.is_set():
            found.append(_first_from(right, shared.predict(asked), found[-1] if found else 0))
            match own.integers(6):
                case 0:
                    shared.save(folder / str(seed))
                case 1:
                    assert copy.copy(shared).predict(asked) in right
                case 2:
                    shared.predict(_lesson(own, 5000, 2)[0])
                case 3:
                    shared.heaviest(), shared.transitions(), shared.ledger_, shared.known_words()
                case 4:
                    shared.margins(asked)
        asks.append(len(found))

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask, seed) for seed in range(3)]
        try:
            for lesson in lessons[1:]:
                shared.partial_fit(*lesson)
        finally:
            done.set()
        for each in asking:
            each.result()
    for file in folder.iterdir():
        assert nk.load(file).predict(asked) in right
    assert _bytes_of(shared, folder / "m", asked) == _bytes_of(alone, folder / "m", asked)
    return sum(asks)


def _first_from(right: list[Any], found: Any, start: int) -> int:
    """Where an answer is among those from `start` on."""
    assert found in right[start:], (start, right.index(found) if found in right else None)
    return start + right[start:].index(found)


def _teach_at_once(rng: np.random.Generator, folder: Path) -> int:
    lessons, tagger = _lessons(rng, 24), _tagger(rng)
    tagger.partial_fit(*lessons[0])
    fits = set(rng.choice(24, rng.integers(0, 3), replace=False).tolist())

    def learn(number: int) -> None:
        if number in fits:
            tagger.fit(*lessons[number])
        elif number % 5 == 0:
            try:
                list(tagger.passes(*lessons[number], go_on=True))
            except nk.errors.DataError:
                assert fits  # it has begun to learn anew meanwhile
        else:
            tagger.partial_fit(*lessons[number])
        tagger.predict(lessons[number][0])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(learn, range(1, 24)))
    _bytes_of(tagger, folder / "m", lessons[-1][0])
    if not fits:
        plain = sum(len(X) for k, (X, _) in enumerate(lessons) if k % 5 or not k)
        rest = [k for k in range(1, 24) if k % 5 == 0]
        assert tagger.ledger_.examples >= plain + sum(len(lessons[k][0]) for k in rest)
    return 24


def _interrupt(rng: np.random.Generator, folder: Path) -> int:
    """Anywhere, once or twice: as before or after, and it goes on as if nothing had been."""
    first, second, third = _lessons(rng, 3)
    base = _tagger(rng).fit(*first)
    if rng.random() < 0.5:
        second = first[0], [own[::-1] for own in first[1]]  # with nothing new, so that all is changed in place
    acts: list[Callable[[nk.SequenceTagger], object]] = [
        lambda tagger: tagger.partial_fit(*second),
        lambda tagger: tagger.fit(*second),
        lambda tagger: next(tagger.passes(*second, go_on=True)),
        lambda tagger: tagger.predict(second[0]),
        lambda tagger: tagger.save(folder / "act"),
    ]
    act, asked, path = acts[rng.integers(len(acts))], third[0], folder / "m"
    done = copy.copy(base)
    act(done)
    either = [_bytes_of(base, path, asked), _bytes_of(done, path, asked)]
    onwards = [_bytes_of(copy.copy(each).partial_fit(*third), path, asked) for each in (base, done)]
    trial = copy.copy(base)
    n, tried = count_bytecodes(lambda: act(trial)), 40
    for number in rng.integers(0, n, tried).tolist():
        tagger = copy.copy(base)
        if rng.random() < 0.5:
            tagger.predict(asked)
        Interrupt(number)(lambda tagger=tagger: act(tagger))
        if rng.random() < 0.3:
            Interrupt(int(rng.integers(0, 100)))(lambda tagger=tagger: tagger.predict(asked))
        found = either.index(_bytes_of(tagger, path, asked))
        assert _bytes_of(tagger.partial_fit(*third), path, asked) == onwards[found]
    return tried


def _ask_in_handlers(rng: np.random.Generator, folder: Path) -> int:
    """A timer interrupts lessons; its handler predicts, saves and copies the tagger, and tries to learn. The tagger is
    then equal to one that learned from the same lessons in the same order without the timer."""
    if not hasattr(signal, "setitimer"):
        return 0
    lessons, extra, queries = _lessons(rng, 12), _lessons(rng, 2), _lesson(rng, 200, 2)[0]
    base = _tagger(rng).fit(*lessons[0])
    shared, calls, pause = copy.copy(base), [], float(rng.choice([1e-4, 1e-3]))
    learned_by_handler: dict[int, Any] = {}  # the lesson of each pass that a handler made
    done = threading.Event()

    def handle(*_: object) -> None:
        calls.append(kind := rng.integers(6))
        match kind:
            case 0:
                _bytes_of(shared, folder / "handler", queries)
            case 1:
                shared.predict(_lesson(rng, 5000, 2)[0])
            case 2:
                shared.heaviest(), shared.transitions(), shared.known_words()
            case 3:
                copy.copy(shared).predict(queries)
            case 4:
                shared.margins(queries)
            case 5:
                lesson = extra[rng.integers(2)]
                with suppress(nk.errors.ReentryError):
                    shared.partial_fit(*lesson)
                    learned_by_handler[shared.ledger_.passes] = lesson
        if not done.is_set():
            signal.setitimer(signal.ITIMER_REAL, pause)  # at the end, so that handlers do not interrupt one another

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, pause)
        for lesson in lessons[1:]:
            shared.partial_fit(*lesson)
            shared.predict(queries)
    finally:
        done.set()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    alone, others = copy.copy(base), iter(lessons[1:])
    for number in range(base.ledger_.passes, shared.ledger_.passes):
        alone.partial_fit(*(learned_by_handler.get(number + 1) or next(others)))
    assert _bytes_of(shared, folder / "m", queries) == _bytes_of(alone, folder / "m", queries)
    return len(calls)


class _Chains:
    """Which of two digits comes first."""

    def features(self, x: Any, y: Any) -> Any:
        return {(a, b): 1 for k, a in enumerate(y) for b in y[k + 1 :]}

    def best(self, weights: Any, x: Any) -> Any:
        return tuple(sorted(x, key=lambda a: sum(weights[a, b] for b in x)))


def _interrupt_the_generic(rng: np.random.Generator, folder: Path) -> int:
    def examples() -> tuple[list[Any], list[Any]]:
        X = [tuple(rng.permutation(9)[:4].tolist()) for _ in range(4)]
        return X, [tuple(sorted(x)) for x in X]

    first, second = examples(), examples()
    verb = str(rng.choice(["partial_fit", "fit"]))
    base = nk.StructuredPerceptron(_Chains(), max_iter=2).fit(*first)
    done = getattr(copy.copy(base), verb)(*second)
    either = [_seen(base), _seen(done)]
    trial = copy.copy(base)
    n, tried = count_bytecodes(lambda: getattr(trial, verb)(*second)), 60
    for number in rng.integers(0, n, tried).tolist():
        model = copy.copy(base)
        Interrupt(number)(lambda model=model: getattr(model, verb)(*second))
        assert _seen(model) in either
    return tried


def _seen(model: nk.StructuredPerceptron) -> str:
    return f"{dict(model.weights_)} {model.ledger_} {model.ledger_.trace.points}"


def _fork(rng: np.random.Generator, folder: Path) -> int:
    """While a thread learns: the child has a tagger that is whole."""
    if not hasattr(os, "fork"):
        return 0
    lessons, done = _lessons(rng, 8), threading.Event()
    tagger = _tagger(rng).partial_fit(*lessons[0])

    def learn() -> None:
        while not done.is_set():
            for lesson in lessons:
                tagger.partial_fit(*lesson)

    with ThreadPoolExecutor(1) as pool:
        learning = pool.submit(learn)
        try:
            for _ in range(10):
                ended = call_in_fork(lambda: _bytes_of(tagger.partial_fit(*lessons[1]), folder / "c", lessons[2][0]))
                assert ended == 0, f"the child ended with {ended}"
        finally:
            done.set()
        learning.result()
    return 10

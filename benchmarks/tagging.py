"""Taggers, against CRFsuite's averaged perceptron on CoNLL-2000 and NLTK's tagger on the English Web Treebank.

Sentences are read from $NOVIKOFF_DATA: sequences/conll2000/ and sequences/en_ewt/, or the same folders without
sequences/. The peers take many seconds to train, so both sides do it once, ours after a first time that compiles;
tagging is the best of several turns, as many for each side. Times are processor time of one thread, so that other
processes on the machine count little. Training is from sentences in memory to a model: features are extracted on both
sides. Without the data or a peer, a line says so instead.

Memory is that of training: by how much a fresh process has grown at its peak, sentences included, since it trained on a
single sentence, which loads the code of either library. The note has the peak of the whole process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import novikoff as nk
from benchmarks import data
from benchmarks.measure import Benchmark, Line, Options, Times, at_least, at_most, best_of
from novikoff.structured.evaluation import TaggingEvaluation, evaluate_tagger
from novikoff.structured.sentence_files import SentenceFile
from novikoff.structured.spans import SpanCounts

PASSES = 10
_CALLS_PER_TURN = 3

# The templates of CRFsuite's example for this task, and of the figures in its documentation.
_WORDS = ["word[-2]", "word[-1]", "word[0]", "word[1]", "word[2]", "word[-1]+word[0]", "word[0]+word[1]"]
_POS = ["pos[-2]", "pos[-1]", "pos[0]", "pos[1]", "pos[2]"]
_PAIRS = ["pos[-2]+pos[-1]", "pos[-1]+pos[0]", "pos[0]+pos[1]", "pos[1]+pos[2]"]
NINETEEN = [*_WORDS, *_POS, *_PAIRS, "pos[-2]+pos[-1]+pos[0]", "pos[-1]+pos[0]+pos[1]", "pos[0]+pos[1]+pos[2]"]

# The cells of each template: whether in the second column, and the offset of the token.
_CELLS = {
    name: [(cell.startswith("pos"), int(cell.partition("[")[2][:-1])) for cell in name.split("+")] for name in NINETEEN
}

Corpus = tuple[list[list[Any]], list[list[str]]]


def _sentences(name: str) -> Path | None:
    """A file of sentences, in the layout of the shared data or directly below $NOVIKOFF_DATA."""
    return data.real_file(f"sequences/{name}") or data.real_file(name)


def _read(path: Path, tag: int, used: list[int]) -> Corpus:
    with SentenceFile(path) as file:
        rows = [sentence.rows for sentence in file]
    words = [[row[used[0]] if len(used) == 1 else tuple(row[k] for k in used) for row in own] for own in rows]
    return words, [[row[tag] for row in own] for own in rows]


def _skipped(work: str, peer: str, target: Any, why: str) -> list[Line]:
    return [Line(work, peer, target, note=why)]


# -- CoNLL-2000


def _chunks() -> tuple[Corpus, Corpus] | None:
    train, test = _sentences("conll2000/train.txt.gz"), _sentences("conll2000/test.txt.gz")
    return (_read(train, 2, [0, 1]), _read(test, 2, [0, 1])) if train and test else None


def _some(corpus: Corpus, n: int) -> Corpus:
    return corpus[0][:n], corpus[1][:n]


def _crfsuite_features(sentence: list[tuple[str, str]]) -> list[list[str]]:
    """The nineteen templates as feature strings, as users of CRFsuite write them."""
    found = []
    for i in range(len(sentence)):
        own = []
        for name, cells in _CELLS.items():
            values = [sentence[i + at][column] if 0 <= i + at < len(sentence) else f"_B{at}" for column, at in cells]
            own.append(f"{name}={'|'.join(values)}")
        found.append(own)
    return found


def _crfsuite_model(train: Corpus, path: str) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": PASSES})
    features = [_crfsuite_features(sentence) for sentence in train[0]]  # all of them first, as its tutorial does
    for own, tags in zip(features, train[1], strict=True):
        trainer.append(own, tags)
    trainer.train(path)


def _ours(train: Corpus, templates: Any) -> nk.SequenceTagger:
    return nk.SequenceTagger(templates, max_iter=PASSES).fit(*train)


def _f1(tags: list[list[str]], guesses: list[list[str]]) -> float:
    counts = SpanCounts()
    for own, guessed in zip(tags, guesses, strict=True):
        counts.add(own, guessed)
    return counts.scores()[2] or 0.0


def chunking(options: Options) -> list[Line]:
    work, peer = f"chunking, 19 templates, {PASSES} passes: sentences to model", "python-crfsuite ap"
    corpora = _chunks()
    if corpora is None:
        return _skipped(work, peer, at_least(10), "set NOVIKOFF_DATA to a folder with sequences/conll2000/")
    train, test = _some(corpora[0], options.size(10**9, 1000)), corpora[1]
    return [*_against_crfsuite(work, peer, train, test, options), *_best_chunker(train, test, options)]


def _against_crfsuite(work: str, peer: str, train: Corpus, test: Corpus, options: Options) -> Iterator[Line]:
    tokens = sum(map(len, test[0]))
    tagger = _ours(train, NINETEEN)
    ours = _once(lambda: _ours(train, NINETEEN))
    score = _f1(test[1], tagger.predict(test[0]))
    try:
        import pycrfsuite
    except ImportError:
        yield from _skipped(work, peer, at_least(10), f"pip install python-crfsuite; ours {ours:.2f} s, F1 {score:.4f}")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "chunks.crfsuite"))
        theirs = _once(lambda: _crfsuite_model(train, path))
        model = pycrfsuite.Tagger()
        model.open(path)

        def tag() -> list[list[str]]:
            return [model.tag(_crfsuite_features(sentence)) for sentence in test[0]]

        their_score = _f1(test[1], tag())
        their_apply, apply = _in_turns(tag, lambda: tagger.predict(test[0]))
        model.close()
    yield Line(
        work,
        peer,
        at_least(10),
        theirs / ours,
        Times(theirs, ours),
        (their_score, score),
        "span F1",
        is_sound=score >= their_score,
    )
    yield Line("the same: tagging the test set", peer, at_least(10), their_apply / apply, Times(their_apply, apply))
    yield Line("the same: tokens tagged in a second", "500,000", at_least(5e5, " /s"), tokens / apply)
    (mine, whole), (other, other_whole) = _peak("ours", options), _peak("crfsuite", options)
    yield Line(
        "the same: peak memory of training",
        peer,
        at_most(0.25),
        mine / other,
        note=f"{other / 1e6:,.0f} MB / {mine / 1e6:,.0f} MB with the sentences; whole processes "
        f"{other_whole / 1e6:,.0f} MB / {whole / 1e6:,.0f} MB",
    )


def _best_chunker(train: Corpus, test: Corpus, options: Options) -> Iterator[Line]:
    tagger = _ours(train, "chunk")
    f1 = _f1(test[1], tagger.predict(test[0]))
    yield Line('chunking, templates="chunk": F1', "published: 93.5-93.75", at_least(93.8, " F1"), 100 * f1)
    yield from _file_of(tagger, "chunking")


def _file_of(tagger: nk.SequenceTagger, what: str) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.nk")
        tagger.save(path)
        yield Line(f"{what}: model file", "itself", at_most(25, " MB"), path.stat().st_size / 1e6)
        yield Line(f"{what}: loading it", "itself", at_most(0.2, " s"), best_of(lambda: nk.load(path), 3))


def _peak(side: str, options: Options) -> tuple[float, float]:
    """The peak memory of a process that reads and learns the chunks, in bytes: its growth, and all."""
    command = [sys.executable, "-m", "benchmarks.tagging", side, str(options.size(10**9, 1000))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, whole = done.stdout.split()[-2:]
    return float(grown), float(whole)


def _memory(what: str) -> int:
    """VmRSS or VmHWM, its peak; getrusage would include the peak of the process that started this one."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(what)).split()[1])


def _print_memory_of_training(side: str, size: int) -> None:
    """Train in this process and print by how much it grew, and its peak."""
    train = {"ours": lambda corpus, path: _ours(corpus, NINETEEN), "crfsuite": _crfsuite_model}[side]
    path = _sentences("conll2000/train.txt.gz")
    assert path is not None, "set NOVIKOFF_DATA"
    with tempfile.TemporaryDirectory() as folder:
        train(([[("One", "CD")]], [["B-NP"]]), str(Path(folder, "m")))
        before = _memory("VmRSS")
        train(_some(_read(path, 2, [0, 1]), size), str(Path(folder, "m")))
    print(_memory("VmHWM") - before, _memory("VmHWM"))


# -- the English Web Treebank


def _treebank() -> tuple[Corpus, Corpus] | None:
    train, test = _sentences("en_ewt/train.conllu.gz"), _sentences("en_ewt/test.conllu.gz")
    return (_read(train, 3, [1]), _read(test, 3, [1])) if train and test else None


def parts_of_speech(options: Options) -> list[Line]:
    work, peer = f'UPOS of EWT, templates="pos", {PASSES} passes', "NLTK PerceptronTagger"
    corpora = _treebank()
    if corpora is None:
        return _skipped(work, peer, at_least(30), "set NOVIKOFF_DATA to a folder with sequences/en_ewt/")
    train, test = _some(corpora[0], options.size(10**9, 500)), corpora[1]
    tagger = _ours(train, "pos")
    ours = _once(lambda: _ours(train, "pos"))
    found = evaluate_tagger(tagger, *test)
    lines = list(_file_of(tagger, "UPOS of EWT"))
    try:
        from nltk.tag.perceptron import PerceptronTagger
    except ImportError:
        why = f"pip install nltk; ours {ours:.2f} s, accuracy {found.accuracy:.4f}"
        return [*lines, *_skipped(work, peer, at_least(30), why)]
    return [*lines, *_against_nltk(work, peer, PerceptronTagger(load=False), tagger, train, test, ours, found)]


def _against_nltk(
    work: str,
    peer: str,
    nltk: Any,
    tagger: nk.SequenceTagger,
    train: Corpus,
    test: Corpus,
    ours: float,
    found: TaggingEvaluation,
) -> Iterator[Line]:
    pairs = [list(zip(words, tags, strict=True)) for words, tags in zip(*train, strict=True)]
    theirs = _once(lambda: nltk.train(pairs, nr_iter=PASSES))

    def tag() -> list[str]:
        return [tag for own in test[0] for _, tag in nltk.tag(own)]

    score = sum(map(str.__eq__, tag(), chain.from_iterable(test[1]))) / found.tokens
    their_apply, apply = _in_turns(tag, lambda: tagger.predict(test[0]))
    yield Line(
        work,
        peer,
        at_least(30),
        theirs / ours,
        Times(theirs, ours),
        (score, found.accuracy),
        "accuracy",
        is_sound=found.accuracy >= score + 0.005,
    )
    yield Line("the same: tagging the test set", peer, at_least(50), their_apply / apply, Times(their_apply, apply))
    yield Line("the same: tokens tagged in a second", "500,000", at_least(5e5, " /s"), found.tokens / apply)


def _once(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _in_turns(theirs: Callable[[], Any], ours: Callable[[], Any], turns: int = 5) -> tuple[float, float]:
    """The shortest time of each. They take turns, so that both meet the same load of the machine; each is called
    several times in a turn, so that it does not pay for the other's use of the caches."""
    times = [
        (min(_once(theirs) for _ in range(_CALLS_PER_TURN)), min(_once(ours) for _ in range(_CALLS_PER_TURN)))
        for _ in range(turns)
    ]
    return min(theirs for theirs, _ in times), min(ours for _, ours in times)


BENCHMARKS: dict[str, Benchmark] = {"chunking": chunking, "parts-of-speech": parts_of_speech}


if __name__ == "__main__":
    _print_memory_of_training(sys.argv[1], int(sys.argv[2]))

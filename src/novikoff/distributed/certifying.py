"""nk.distributed.certify: exact certificates of data that no machine can hold.

problem   decide whether a half-space has every row of many files on its side, and prove it
given     files; which labels should be on which side
result    the certificate of a small working set of rows, which is one of all rows: a witness among some rows is
          one among all; a separator with margin m on the working set is one of all rows once no row of any file
          is nearer to it than m
method    certify the working set; let every file, in parallel, return its rows nearest to the separator or on the
          wrong side of it; add them; repeat. In the end the independent checkers go over all files.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from novikoff.data.encoding import Features
from novikoff.data.formats.block import Block, CategoricalColumn, TableBlock, TextColumn
from novikoff.distributed.caching import read_persist
from novikoff.distributed.chains import Plan
from novikoff.distributed.engines import Engine, open_engine
from novikoff.distributed.learning import PathLike, expand_files
from novikoff.distributed.looking import describe_files, look_at, merge_looks
from novikoff.distributed.pricing import (
    Claim,
    FilePart,
    Sides,
    WorkingSet,
    check_file,
    check_named_rows,
    find_first_rows,
    price_file,
)
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize
from novikoff.inputs.labels import Labels
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.model import Model
from novikoff.streaming.model import StreamModel
from novikoff.theory.certificates import Certificate, Inseparable, Separable, Verdicts
from novikoff.theory.questions import Question
from novikoff.theory.separability import certify as certify_rows
from novikoff.theory.separability import certify_classes

__all__ = ["Location", "Proof", "certify"]

_HASH_BITS = 28  # the most there are, so that no two names share a column
# Rows of all files together, in the first working set.
_FIRST_ROWS, _FIRST_ROWS_PER_FEATURE = 2000, 40
_MOST_LABELS = 100
# Rows that a pass adds, if they contradict the separator: of each file, and of all files.
_FEWEST_WANTED, _WANTED_PER_FEATURE = 20, 8


@dataclass(frozen=True)
class Location:
    """Where a row is: its file, and the line that it begins on; in files without lines, the row, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, eq=False)
class Proof:
    """A verdict about all rows of some files, checked over all of them.

    Attributes
    ----------
    verdict : Separable, Inseparable or Verdicts
        As `novikoff.certify` returns for all rows together; rows are counted through all files, from 0.
    locations : dict of int to Location
        Where each row is that the verdict names.
    feature_names : list of str
        The names of the columns, in the order of the separator's weights.
    passes : int
        How often all files were gone through, the look and the check included.
    """

    verdict: Certificate | Verdicts
    locations: dict[int, Location]
    feature_names: list[str]
    passes: int

    def __bool__(self) -> bool:
        return bool(self.verdict)

    def named_rows(self, certificate: Certificate | None = None) -> list[Location]:
        """Return where the rows are that a certificate names: the support of a separator, or the rows of a witness."""
        named = self.verdict if certificate is None else certificate
        if isinstance(named, Inseparable):
            return [self.locations[row] for row in named.rows.tolist()]
        if isinstance(named, Separable):
            return [self.locations[row] for row in named.support.tolist()]
        raise DataError("There are verdicts about several questions: pass one of them, such as verdict['a', 'b'].")


def certify(
    files: PathLike | Sequence[PathLike],
    *,
    cluster: Any = None,
    positive: Any = None,
    fit_intercept: bool = True,
    tol: float = 1e-9,
    persist: bool | str | int = "auto",
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Proof:
    """Decide whether the rows of many files are linearly separable, and prove it.

    Parameters
    ----------
    files, cluster, persist
        As those of `learn`.
    positive : label, optional
        Decide only about this label against the rest. Without it, more than two labels give a verdict for each against
        the rest, and for each pair.
    fit_intercept, tol
        As those of `novikoff.certify`.
    progress : callable, optional
        Called with a sentence about each pass.
    **options
        How the files are read, as for `novikoff.learn`. Columns of words become a column of 0 and 1 for each value.

    Returns
    -------
    Proof
        True if separable. Every claim has been checked, over all files, by the independent checkers of
        `novikoff.theory.checkers`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import novikoff as nk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, rows in (("a", "0,0,no\\n0,1,yes\\n"), ("b", "1,0,yes\\n1,1,no\\n")):
    ...         _ = pathlib.Path(folder, f"{name}.csv").write_text(f"u,v,y\\n{rows}")
    ...     proof = nk.distributed.certify(f"{folder}/*.csv", target="y")
    >>> bool(proof), [(pathlib.Path(row.file).name, row.line) for row in proof.named_rows()]
    (False, [('a.csv', 2), ('a.csv', 3), ('b.csv', 2), ('b.csv', 3)])
    """
    with open_engine(cluster) as engine:
        search = _Search(engine, expand_files(files), options, read_persist(persist), tol, progress or (lambda _: None))
        names = search.labels.known
        if positive is not None:
            label = next((name for name in names if _is_label(positive, name)), positive)
            return search.prove(search.decide(Question.against_rest(label, names, fit_intercept)))
        if len(names) <= 2:
            negative, own = search.labels.of_code
            return search.prove(search.decide(Question(own, negative, fit_intercept)))
        if len(names) > _MOST_LABELS:
            raise DataError(f"Found {len(names):,} different labels, more than {_MOST_LABELS}: ask about one of them.")
        return search.prove(certify_classes(search.decide, names, fit_intercept))


class _Search:
    """Decides questions about the rows of some files, which it has looked at."""

    def __init__(
        self,
        engine: Engine,
        files: list[str],
        options: dict[str, Any],
        memory: int,
        tol: float,
        report: Callable[[str], None],
    ) -> None:
        self.engine, self.tol, self.report = engine, tol, report
        report(f"Pass 1: looking at {pluralize(len(files), 'file')}")
        facts, known = describe_files(engine, files, options)
        features = Features(scale=False, hats=False, hash_bits=_HASH_BITS)
        looks = look_at(engine, facts, known, features, _require_complete)
        self.encoding = merge_looks(looks)
        self.starts = np.cumsum([0, *(look.rows for look in looks)])
        self.files = [FilePart(k, look.path, look.rows) for k, look in enumerate(looks)]
        self.labels = Labels()
        self.labels.add(*{label: None for look in looks for label in look.labels})
        model = StreamModel(Learner(), features)
        model.encoding, model.target, model.form = self.encoding, facts[0].target_name, facts[0].form
        model.model = Model(model.model.learner, self.labels)
        self.plan = Plan(model, options, uuid.uuid4().hex, memory)
        n_first = max(_FIRST_ROWS, _FIRST_ROWS_PER_FEATURE * self.encoding.n_features)
        n_first = max(2, n_first // (len(files) * len(self.labels)))
        self._first = WorkingSet.join(engine.map(partial(find_first_rows, self.plan, n_first), self.files))
        self.passes, self._locations = 2, dict[int, Location]()

    def decide(self, question: Question) -> Certificate:
        """Return the certificate of one question, checked over all files."""
        sides, working = Sides.of(question, self.labels), self._first
        n_wanted = max(_FEWEST_WANTED, _WANTED_PER_FEATURE * self.encoding.n_features // len(self.files))
        while True:
            chosen = np.flatnonzero(sides.signs(working.codes))
            asked = working.take(chosen)
            found = certify_rows(asked.X, sides.signs(asked.codes), fit_intercept=question.fit_intercept, tol=self.tol)
            assert isinstance(found, Separable | Inseparable)
            claim = Claim(sides, found)
            if isinstance(found, Separable):
                self._count_pass(f"{question}: {len(asked):,} rows are separable, pricing all others")
                priced = list(self.engine.map(partial(price_file, self.plan, claim, self.tol, n_wanted), self.files))
                grown = WorkingSet.join([working, *(each.rows for each in priced)])
                if len(grown) > len(working):
                    working = grown
                    continue
                claim = claim.with_prices(priced)
            certificate, violations = self._check(question, claim, asked)
            if not violations:
                return certificate
            working = WorkingSet.join([working, *violations])

    def _count_pass(self, what: str) -> None:
        self.passes += 1
        self.report(f"Pass {self.passes}: {what}")

    def _check(self, question: Question, claim: Claim, asked: WorkingSet) -> tuple[Certificate, list[WorkingSet]]:
        """Return the certificate of all rows, and rows that contradict it in exact arithmetic, after a pass of the
        independent checkers over all files."""
        found = claim.found
        named = asked.take(found.rows if isinstance(found, Inseparable) else found.support)
        claim = replace(claim, named=named)
        self._count_pass(f"{question}: checking the proof in exact arithmetic")
        check_named_rows(claim)
        checks = list(self.engine.map(partial(check_file, self.plan, claim), self.files))
        for part, check in zip(self.files, checks, strict=True):
            start = int(self.starts[part.number])
            self._locations |= {start + row: Location(part.path, line) for row, line in check.lines.items()}
        question = replace(question, n_asked=sum(check.n_asked for check in checks))
        rows, n_rows = self.starts[named.files] + named.numbers, int(self.starts[-1])
        certificate: Certificate
        if isinstance(found, Inseparable):
            certificate = replace(found, question=question, rows=rows, n_rows=n_rows)
        else:
            certificate = replace(
                found,
                question=question,
                support=rows,
                margin_lower=claim.margin_lower,
                radius=claim.radius,
                n_rows=n_rows,
            )
        return certificate, [check.violation for check in checks if check.violation is not None]

    def prove(self, verdict: Certificate | Verdicts) -> Proof:
        """Return a verdict with what is needed to read it."""
        return Proof(verdict, dict(self._locations), self.encoding.names, self.passes)


def _is_label(given: Any, name: Any) -> bool:
    """Return whether a label, or how a person writes it, is this one."""
    return given == name or str(given) in (str(name), f"{name:g}" if isinstance(name, float) else "")


def _require_complete(block: Block) -> None:
    """Raise a DataError if a block has a text or a missing cell, about which there is no question to ask."""
    if not isinstance(block, TableBlock):
        return
    for name, column in block.columns.items():
        if isinstance(column, TextColumn):
            raise DataError(f"{block.source}: column {name!r} holds texts. Leave it out with drop.")
        gaps = column.codes < 0 if isinstance(column, CategoricalColumn) else np.isnan(column)
        if gaps.any():
            line = block.lines[int(gaps.argmax())]
            raise DataError(f"{block.source}:{line}: {name!r} is missing. Leave the column out with drop.")

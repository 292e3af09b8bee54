"""The first number that `novikoff learn` prints on files as people have them, and what it is worth.

    NOVIKOFF_DATA=../shared/data python -m benchmarks.first_hour
    NOVIKOFF_DATA=../shared/data PYTHONPATH=../old/src python -m benchmarks.first_hour    of another version
    NOVIKOFF_DATA=../shared/data python -m benchmarks.first_hour --only adult --peers

Each file is made from one of $NOVIKOFF_DATA by what has happened to many files: sorted by class, ids in front, decimal
commas, no header. A fifth of its rows is held out, at random, or the last fifth of a stream. The command learns from
the others with its defaults, and is then tested on the held-out rows; if it refuses, also with the option of the table.
With --peers, scikit-learn's LogisticRegression learns from the same rows: numbers standardised, words one-hot, texts as
counts of words.
"""

from __future__ import annotations

import csv
import gzip
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks import data

_LIMIT = 120.0  # seconds for one command


@dataclass(frozen=True)
class Sample:
    """Rows of cells, and how they are written to a file.

    Parameters
    ----------
    source : str
        A file below $NOVIKOFF_DATA.
    what : str
        What has happened to it.
    name : str
        Name of the file to write.
    rows : callable
        Makes the rows, in the order of the file, from the lines of the source.
    header : tuple of str
        Empty: the file has none.
    label : int
        Position of the labels.
    delimiter : str
    mend : tuple of str
        Options to add if the command refuses the file.
    is_stream : bool
        Whether the last rows are held out, instead of random ones.
    """

    source: str
    what: str
    name: str
    rows: Callable[[list[str]], list[list[str]]]
    header: tuple[str, ...] = ()
    label: int = -1
    delimiter: str = ","
    mend: tuple[str, ...] = ()
    is_stream: bool = False

    def write(self, rows: list[list[str]], path: Path) -> None:
        with path.open("w", newline="") as file:
            if self.name.endswith(".svm"):
                file.writelines(f"{' '.join(row)}\n" for row in rows)
                return
            if self.delimiter == "\t":
                file.writelines("\t".join(row) + "\n" for row in rows)
                return
            writer = csv.writer(file, delimiter=self.delimiter, lineterminator="\n")
            writer.writerows([self.header] if self.header else [])
            writer.writerows(rows)


def _cells(lines: list[str]) -> list[list[str]]:
    return [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]


def _sorted_by_label(lines: list[str]) -> list[list[str]]:
    return sorted(_cells(lines), key=lambda row: row[-1])


def _with_ids(lines: list[str]) -> list[list[str]]:
    return [[str(1_000_025 + 37 * k), *row] for k, row in enumerate(_cells(lines))]


def _decimal_commas(lines: list[str]) -> list[list[str]]:
    return [[cell.replace(".", ",") for cell in row] for row in _cells(lines)]


def _texts(lines: list[str]) -> list[list[str]]:
    return [line.split("\t", 1) for line in lines]


def _texts_with_paths(lines: list[str]) -> list[list[str]]:
    rows = _texts(lines)
    return [[label, f"mail/{label}/{k:05}.txt", text] for k, (label, text) in enumerate(rows)]


def _dense_svmlight(lines: list[str]) -> list[list[str]]:
    return [[row[-1], *(f"{j}:{cell}" for j, cell in enumerate(row[:-1], 1))] for row in _cells(lines)]


def _below_header(lines: list[str]) -> list[list[str]]:
    return _cells(lines[1:])


_WISCONSIN = ("id", "clump", "size", "shape", "adhesion", "epithelial", "nuclei", "chromatin", "nucleoli", "mitoses")
_ELEC = ("period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer", "class")

SAMPLES = {
    "adult": Sample("uci/adult-train.csv.gz", "sorted by class, no header", "adult.csv", _sorted_by_label),
    "spambase": Sample("uci/spambase.data", "sorted by class, no header", "spambase.data", _sorted_by_label),
    "wisconsin": Sample(
        "uci/breast-cancer-wisconsin.csv", "ids in front", "wisconsin.csv", _with_ids, (*_WISCONSIN, "class")
    ),
    "banknote": Sample(
        "uci/banknote_authentication.csv",
        "decimal commas, sorted by class",
        "banknote.csv",
        _decimal_commas,
        ("variance", "skewness", "curtosis", "entropy", "class"),
        delimiter=";",
    ),
    "iris": Sample("uci/iris.csv", "no header, sorted by class", "iris.csv", _cells),
    "votes": Sample(
        "uci/house-votes-84.csv",
        "labels in front, ? for missing",
        "votes.csv",
        _below_header,
        ("ClassName", *(f"vote{k}" for k in range(1, 17))),
        label=0,
        mend=("--target", "first"),
    ),
    "mail": Sample(
        "text/sms_spam.tsv.gz",
        "(label, path, text): the last column is no label",
        "mail.csv",
        _texts_with_paths,
        ("label", "path", "text"),
        label=0,
    ),
    "sms": Sample("text/sms_spam.tsv.gz", "text", "sms.tsv", _texts, label=0, delimiter="\t"),
    "svmlight": Sample("uci/spambase.data", "svmlight of dense numbers", "spam.svm", _dense_svmlight, label=0),
    "elec": Sample("streams/elec.csv.gz", "a stream that drifts", "elec.csv", _below_header, _ELEC, is_stream=True),
}


@dataclass(frozen=True)
class Outcome:
    """What one version of the command made of a file: what it printed, and its errors on held-out rows in percent."""

    printed: str
    held_out: float | None
    seconds: float


def measure(sample: Sample, train: Path, test: Path) -> list[Outcome]:
    """Learn with the defaults, and once more with the option that mends it if they fail."""
    outcomes = [_learn(train, test)]
    if outcomes[0].held_out is None and sample.mend:
        again = _learn(train, test, *sample.mend)
        outcomes.append(Outcome(f"{' '.join(sample.mend)}: {again.printed}", again.held_out, again.seconds))
    return outcomes


def _learn(train: Path, test: Path, *options: str) -> Outcome:
    model = train.with_name("model.nk")
    model.unlink(missing_ok=True)
    start = time.perf_counter()
    run = _novikoff("learn", str(train), "-o", str(model), *options)
    took = time.perf_counter() - start
    if run is None:
        return Outcome(f"nothing within {_LIMIT:.0f} s", None, took)
    message = re.search(r"Error: (.*)", run.stderr)
    if message or not model.exists():
        return Outcome(f"refused: {message[1] if message else ''}", None, took)
    return Outcome(_first_number(run.stderr), _error_on(model, test), took)


def _first_number(output: str) -> str:
    """The rate of mistakes in the last line of the table, and that at the end of the pass, if it is printed."""
    lines = re.findall(r"^ *[\d,]+ +[\d,]+ +[\d.]+ +([\d.]+) +\S+$", output, re.MULTILINE)
    recent = re.search(r"at the end of the pass: .*, ([\d.]+)%", output)
    return f"{100.0 * float(lines[-1]):.1f}" + (f", at the end {float(recent[1]):.1f}" if recent else "")


def _error_on(model: Path, test: Path) -> float | None:
    run = _novikoff("predict", str(model), str(test))
    if run is None or run.returncode:
        return None
    labels = test.with_suffix(".labels").read_text().splitlines()
    predicted = run.stdout.splitlines()
    return 100.0 * float(np.mean([_plain(a) != _plain(b) for a, b in zip(predicted, labels, strict=True)]))


def _plain(label: str) -> str:
    """A label without the notation of its number: 1, +1 and 1.0 are the same."""
    try:
        return f"{float(label):g}"
    except ValueError:
        return label.strip()


def _novikoff(*arguments: str) -> subprocess.CompletedProcess[str] | None:
    command = [sys.executable, "-m", "novikoff", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        return None


def logistic_regression(sample: Sample, train: list[list[str]], test: list[list[str]]) -> float:
    """The errors of scikit-learn's LogisticRegression on the held-out rows, in percent."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    features, test_features = ([_without(row, sample.label) for row in rows] for rows in (train, test))
    labels, test_labels = ([row[sample.label] for row in rows] for rows in (train, test))
    model = make_pipeline(_encoder(sample, features), LogisticRegression(max_iter=5_000))
    model.fit(np.array(features, dtype=object), labels)
    return 100.0 * (1.0 - model.score(np.array(test_features, dtype=object), test_labels))


def _without(row: list[str], label: int) -> list[str]:
    return [cell.split(":", 1)[-1] if ":" in cell[:4] else cell for k, cell in enumerate(row) if k != label % len(row)]


def _encoder(sample: Sample, rows: list[list[str]]) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    if sample.source.startswith("text/"):
        return make_column_transformer((CountVectorizer(), len(rows[0]) - 1))
    numbers = [
        j
        for j in range(len(rows[0]))
        if all(_is_number(row[j]) for row in rows) and sample.header[j : j + 1] != ("id",)
    ]
    words = [j for j in range(len(rows[0])) if j not in numbers and sample.header[j : j + 1] != ("id",)]
    to_floats = FunctionTransformer(lambda X: np.array([[float(c.replace(",", ".")) for c in row] for row in X]))
    return make_column_transformer(
        (make_pipeline(to_floats, StandardScaler()), numbers), (OneHotEncoder(handle_unknown="ignore"), words)
    )


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[-+]?\d*[.,]?\d+(e[-+]?\d+)?", cell, re.IGNORECASE) is not None


def split(sample: Sample, rows: list[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Training and held-out rows, in the order of the file."""
    n = len(rows) // 5
    held_out = set(
        range(len(rows) - n, len(rows)) if sample.is_stream else random.Random(0).sample(range(len(rows)), n)
    )
    return [row for k, row in enumerate(rows) if k not in held_out], [rows[k] for k in sorted(held_out)]


def read(sample: Sample) -> list[list[str]] | None:
    path = data.real_file(sample.source)
    if path is None:
        return None
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8", errors="replace")
    return sample.rows([line for line in text.split("\n") if line])


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", multiple=True, type=click.Choice(list(SAMPLES)), help="Only this file; may be repeated.")
@click.option("--peers", is_flag=True, help="Let LogisticRegression learn from the same rows, too.")
def main(only: tuple[str, ...], peers: bool) -> None:
    """Print the table."""
    print(
        "| file | rows | first number, % | errors on held-out rows, % | seconds |" + " LogisticRegression, % |" * peers
    )
    print("|---|--:|---|--:|--:|" + "--:|" * peers)
    for name in only or SAMPLES:
        sample = SAMPLES[name]
        rows = read(sample)
        if rows is None:
            sys.exit(f"Set NOVIKOFF_DATA: there is no {sample.source}.")
        train, test = split(sample, rows)
        peer = f" {logistic_regression(sample, train, test):.1f} |" if peers else ""
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, f"{which}-{sample.name}") for which in ("train", "test")]
            for path, part in zip(paths, (train, test), strict=True):
                sample.write(part, path)
            paths[1].with_suffix(".labels").write_text("".join(f"{row[sample.label]}\n" for row in test))
            for outcome in measure(sample, *paths):
                errors = "–" if outcome.held_out is None else f"{outcome.held_out:.1f}"
                first = f"| {name}: {sample.what} | {len(train):,} | {outcome.printed} |"
                print(f"{first} {errors} | {outcome.seconds:.1f} |{peer}", flush=True)


if __name__ == "__main__":
    main()

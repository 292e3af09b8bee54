"""nk.distributed.test and predict: a model applied to many files, each by one worker."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from novikoff.distributed.engines import open_engine
from novikoff.distributed.learning import PathLike, expand_files
from novikoff.errors import DataError
from novikoff.selection.evaluation import Evaluation, Evaluator, plain_labels
from novikoff.streaming.model import StreamModel
from novikoff.streaming.opening import open_for_model
from novikoff.system.atomic_files import open_atomic

__all__ = ["predict", "test"]

_Progress = Callable[[int, int], None]  # files done, and all files


def test(
    model: StreamModel | PathLike,
    files: PathLike | Sequence[PathLike],
    *,
    cluster: Any = None,  # noqa: PT028 - no test of ours
    progress: _Progress | None = None,  # noqa: PT028
    **options: Any,
) -> Evaluation:
    """Count the errors of a model on labelled files, in parallel.

    Parameters
    ----------
    model : StreamModel, or path of a model file
    files, cluster
        As those of `learn`.
    progress : callable, optional
        Called with the number of files done, and of all files.
    **options
        How the files are read, as for `novikoff.learn`.

    Returns
    -------
    Evaluation
        With `errors` by hypothesis, `counts` of pairs of a label and a prediction, and `per_label()`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import novikoff as nk
    >>> model = nk.learn([{"x": x} for x in range(9)], ["yes" if x > 4 else "no" for x in range(9)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in (1, 8):
    ...         _ = pathlib.Path(folder, f"part{k}.csv").write_text(f"x,y\\n{k},yes\\n")
    ...     evaluation = nk.distributed.test(model, f"{folder}/*.csv", target="y")
    >>> evaluation.rows, evaluation.errors["last"]
    (2, 1)
    """
    learned, paths = _load(model), expand_files(files)
    if learned.predicts_numbers:
        raise DataError("The model predicts numbers, and test counts wrong labels: use StreamRegressor.measure_errors.")
    total: Evaluation | None = None
    with open_engine(cluster) as engine:
        for done, part in enumerate(engine.map(partial(_test_file, learned, options), paths), start=1):
            total = part if total is None else _add(total, part)
            if progress is not None:
                progress(done, len(paths))
    assert total is not None
    return total


def predict(
    model: StreamModel | PathLike,
    files: PathLike | Sequence[PathLike],
    output: PathLike,
    *,
    cluster: Any = None,
    progress: _Progress | None = None,
    **options: Any,
) -> list[Path]:
    """Write the label, or the number, that a model predicts for each row of some files, in parallel.

    Parameters
    ----------
    model : StreamModel, or path of a model file
    files, cluster
        As those of `learn`.
    output : path of a folder
        It gets one file for each of these, with its name and ".txt" behind that: a line for each row, an empty one for
        a row that `bad_rows="skip"` leaves out. It is made if it is not there, and workers must find it by this name.
    progress : callable, optional
        Called with the number of files done, and of all files.
    **options
        How the files are read, as for `novikoff.learn`.

    Returns
    -------
    list of Path
        What was written, in the order of the files.
    """
    learned, paths, folder = _load(model), expand_files(files), Path(output)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file: name a folder, which gets one file for each that is read.")
    names = Counter(os.path.basename(path) for path in paths)
    if names.most_common(1)[0][1] > 1:
        raise DataError(
            f"Several files are called {names.most_common(1)[0][0]!r}, and their predictions would overwrite each "
            "other: predict one folder at a time."
        )
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with open_engine(cluster) as engine:
        for done, path in enumerate(engine.map(partial(_predict_file, learned, options, folder), paths), start=1):
            written.append(path)
            if progress is not None:
                progress(done, len(paths))
    return written


def _load(model: StreamModel | PathLike) -> StreamModel:
    return model if isinstance(model, StreamModel) else StreamModel.load(model)


def _test_file(model: StreamModel, options: dict[str, Any], path: str) -> Evaluation:
    """Count the errors on one file; a task."""
    evaluator = Evaluator(model.model)
    with open_for_model(model, path, options) as reader:
        for block in reader:
            if len(block):
                if block.labels is None:
                    raise DataError(f"{path} has no labels to compare with.")
                evaluator.add(model.rows_of(block), block.labels.tolist())
    return evaluator.evaluation


def _add(total: Evaluation, part: Evaluation) -> Evaluation:
    errors = {name: total.errors[name] + part.errors[name] for name in total.errors}
    return Evaluation(total.hypothesis, total.known, total.counts + part.counts, errors)


def _predict_file(model: StreamModel, options: dict[str, Any], folder: Path, path: str) -> Path:
    """Write the predictions for one file; a task."""
    output = folder / f"{os.path.basename(path)}.txt"
    with open_atomic(output) as file:
        for line in _predicted_lines(model, options, path):
            file.write(f"{line}\n".encode())
    return output


def _predicted_lines(model: StreamModel, options: dict[str, Any], path: str) -> Iterator[str]:
    with open_for_model(model, path, options, labelled=False) as reader:
        for block in reader:
            lines = []
            if len(block):
                predicted = plain_labels(model.model.predict(model.rows_of(block)).tolist())
                lines = list(zip(block.lines.tolist(), map(str, predicted), strict=True))
            lines += [(reject.line, "") for reject in block.rejects]
            yield from (text for _, text in sorted(lines, key=lambda line: line[0]))

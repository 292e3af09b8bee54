"""novikoff export: write a model as JSON or ONNX for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.options import require_distinct_paths

_EPILOG = """\b
JSON has everything that is needed to compute the score of a row; weights of 0 are left out:
  {
   "format": "novikoff-coef", "version": 1,
   "rule": "Perceptron", "hypothesis": "averaged", "fit_intercept": true,
   "classes": ["go", "stay"],
   "ties": "last",
   "features": "table",
   "columns": {"age": {"kind": "number", "mean": 40.5, "deviation": 9.5}, "sky": {"kind": "word"}},
   "vectors": [{"class": "stay", "intercept": 0.25,
                "coef": {"age": 1.5, "age is missing": -0.5, "sky=rain": 2.0, "sky=?": 0.125}}]
  }
A row with age 50 and sky rain has the score 0.25 + 1.5 * (50 - 40.5) / 9.5 + 2.0 = 3.75. It is
above 0, so it is the second class, stay. A score of 0 is the last class or the first, as "ties"
says. With more than two classes each has a vector, and the highest score wins.

\b
  number   (value - mean) / deviation; 0 if the deviation is 0; the value itself if there is none.
           If missing: 0, and "column is missing" is 1
           If there are "knots", z = (value - mean) / deviation, by the moments in "curved", also has
           the interpolated value at z of its "curves", which have a height at each knot
  word     "column=word" is 1; if missing, "column=?" is 1
  text     lower case; "column:word word" and "column~chars" are runs of "ngrams" words and
           "char_ngrams" characters, with their number n, or if "log_counts" with 1 + ln n. All known
           ones ("zero" lists those with weight 0) are multiplied by "text_length" and divided by the
           root of the sum of their squares. The docstring of novikoff.exports.json_coefficients has
           the details
"features" is "table"; "index" (coef by svmlight's index), "array" (coef by column from 0) or
"names" (Vowpal Wabbit's are namespace^name), with values as they are in the file; but if
"log_counts", a value v above 1 of a feature that is not in "linear" is 1 + ln v, and one below -1
is -1 - ln -v. Features that are not listed have weight 0. If there is "hash_bits", later names
share weights, and cannot be looked up.

\b
ONNX is for models of numbers and words, and needs the extra "onnx" (from a clone: pip install ".[onnx]")
  input    X, doubles, (rows, columns): a table's columns in order, an svmlight file's indices
           from 0. NaN is a missing number. With words: one input for each column, (rows, 1), by
           its name; a missing word is ""
  output   label (int64, or double or string if they are), scores

\b
Examples:
  novikoff export mail.nk -o coef.json
  novikoff export mail.nk -o mail.onnx
  novikoff export mail.nk -o - --to json | jq '.vectors[0].coef'
"""


def _output_format(output: str, to: str | None) -> str:
    name = output.lower()
    for extension in ("json", "onnx"):
        if to == extension or (to is None and name.endswith((f".{extension}", f".{extension}.gz"))):
            return extension
    raise click.UsageError(f"{output} ends in neither .json nor .onnx: say which to write with --to.")


@click.command(cls=InterruptibleCommand, epilog=_EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Where to write; - is the standard output.",
)
@click.option("--to", type=click.Choice(["json", "onnx"]), help="What to write.  [default: by the extension]")
def export(model: Path, output: str, to: str | None) -> None:
    """Write a model for other programs.

    The weights of MODEL by the names of its features, as JSON, or as an ONNX graph that answers as MODEL does.
    """
    format = _output_format(output, to)
    require_distinct_paths({"--output": output}, [model])
    from novikoff.cli.model_loading import load_model
    from novikoff.data.writing.outputs import open_output
    from novikoff.errors import ModelFileError
    from novikoff.estimators import Perceptron
    from novikoff.exports import to_json, to_onnx
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.regressor import StreamRegressor

    found = load_model(model)
    if isinstance(found, StreamRegressor):
        raise ModelFileError(
            f"{model} predicts numbers by weights that depend on the size of each value, which cannot be exported; "
            "only models of labels can be."
        )
    if not isinstance(found, (Perceptron, StreamModel)):
        raise ModelFileError(
            f"{model} holds a {type(found).__name__}, which has no weights by feature; "
            "only models of Perceptron and of novikoff learn can be exported."
        )
    content = to_json(found).encode() if format == "json" else to_onnx(found).SerializeToString()
    with open_output(output) as file:
        file.write(content)

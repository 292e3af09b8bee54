"""Models as ONNX graphs in double precision, which predict the same labels without novikoff.

    input    X: (rows, columns), doubles, NaN where a cell is missing; for tables with words, one input for each column,
             by its name, of shape (rows, 1): doubles, and strings, "" where a cell is missing
    output   label: (rows,), integers or strings; scores: (rows,) for two classes, (rows, classes) for more

Numbers are standardised inside the graph, by the moments of the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff._compiled.loops.hats import KNOTS, N_KNOTS
from novikoff.data.encoding import NameBatch, TableEncoding
from novikoff.data.feature_names import category_prefix
from novikoff.errors import ModelFileError
from novikoff.exports.linear_function import LinearFunction, extract_linear_function
from novikoff.formatting.extras import explain_missing

if TYPE_CHECKING:
    from novikoff.estimators import Perceptron
    from novikoff.streaming.model import StreamModel

__all__ = ["to_onnx"]

_OPSETS = {"": 17, "ai.onnx.ml": 3}
_IR_VERSION = 8  # as old as these opsets: newer runtimes read older versions
_JSON = "Export it to JSON: novikoff export MODEL -o coef.json"


def to_onnx(model: Perceptron | StreamModel) -> Any:
    """Return a model as an ONNX graph.

    It supports models of arrays, svmlight files (the input is as wide as the model), and tables of numbers and words,
    and needs the extra `onnx`. Models of named features or text cannot be exported; `to_json` exports them.

    Parameters
    ----------
    model : Perceptron or StreamModel

    Returns
    -------
    onnx.ModelProto
        `SerializeToString()` makes the content of a file.

    Examples
    --------
    >>> import novikoff as nk
    >>> from novikoff.exports import to_onnx
    >>> model = nk.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> [output.name for output in to_onnx(model).graph.output]
    ['label', 'scores']
    """
    _require_onnx()
    linear = extract_linear_function(model)
    graph = _Graph()
    scores = _add_scores(graph, linear)
    _add_outputs(graph, linear, scores)
    return graph.model()


def _require_onnx() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError:
        purpose = "Exporting to ONNX, unlike JSON,"
        raise ModelFileError(explain_missing(purpose, "onnx", "onnx")) from None


@dataclass
class _Graph:
    """Builds a graph: each step has a name, by which later steps refer to its result."""

    nodes: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def input(self, name: str, dtype: type, width: int) -> str:
        self.inputs.append(_info(name, dtype, ["rows", width]))
        return name

    def output(self, name: str, dtype: Any, shape: list[Any]) -> None:
        self.outputs.append(_info(name, dtype, shape))

    def constant(self, values: Any) -> str:
        from onnx import numpy_helper

        name = f"constant:{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def step(self, operator: str, *inputs: str, name: str | None = None, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = name or f"{operator}:{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name, domain=domain, **attributes))
        return name

    def model(self) -> Any:
        from onnx import checker, helper

        graph = helper.make_graph(self.nodes, "novikoff", self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        model = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=_IR_VERSION,
            producer_name="novikoff",
            producer_version=version("novikoff"),
        )
        checker.check_model(model)
        return model


def _info(name: str, dtype: Any, shape: list[Any]) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, _tensor_type(dtype), shape)


def _add_scores(graph: _Graph, linear: LinearFunction) -> str:
    """Add the scores, of shape (rows, vectors), and return their name."""
    if isinstance(linear.encoding, TableEncoding):
        return _add_table_scores(graph, linear, linear.encoding)
    if not linear.is_positional:
        raise ModelFileError(
            f"A model over named features cannot be exported to ONNX, whose inputs are columns. {_JSON}"
        )
    X = graph.input("X", np.float64, linear.coef.shape[1])
    values = X if linear.is_linear.all() else _add_logarithms(graph, X, linear.is_linear)
    scores = graph.step("Add", graph.step("MatMul", values, graph.constant(linear.coef.T)), graph.constant(linear.bias))
    if linear.curves is None or not len(linear.curves.columns):
        return scores
    dense = graph.step("Gather", X, graph.constant(linear.curves.columns.astype(np.int64)), axis=1)
    Z = _standardise(graph, dense, linear.curves.means, linear.curves.deviations)
    return graph.step("Add", scores, _add_curve_scores(graph, linear, Z))


def _add_logarithms(graph: _Graph, X: str, is_linear: np.ndarray) -> str:
    """Add the logarithms of counts: 1 + ln v for v above 1, -1 - ln -v for v below -1."""
    sizes, one = graph.step("Abs", X), graph.constant(1.0)
    logarithms = graph.step("Log", graph.step("Max", sizes, one))
    compressed = graph.step("Mul", graph.step("Sign", X), graph.step("Add", graph.step("Min", sizes, one), logarithms))
    return graph.step("Where", graph.constant(is_linear[None, :]), X, compressed)


def _add_table_scores(graph: _Graph, linear: LinearFunction, encoding: TableEncoding) -> str:
    numbers, words = encoding.columns("number"), encoding.columns("word")
    known = {column: _find_words(column, encoding) for column in words}
    _require_all_known(linear, encoding, known)
    scores = graph.constant(linear.bias[None, :])
    if numbers:
        inputs = [graph.input(name, np.float64, 1) for name in encoding.kinds if name in numbers] if words else []
        X = graph.step("Concat", *inputs, axis=1) if words else graph.input("X", np.float64, len(numbers))
        scores = graph.step("Add", _add_number_scores(graph, linear, encoding, X), scores)
    for column in words:
        scores = graph.step("Add", scores, _add_word_scores(graph, linear, column, known[column]))
    return scores


def _add_number_scores(graph: _Graph, linear: LinearFunction, encoding: TableEncoding, X: str) -> str:
    """Add the scores of standardised numbers; a missing one counts 0, plus the weight of its being missing."""
    coef, is_missing = linear.coef[:, encoding.number_indices], graph.step("IsNaN", X)
    if encoding.features.scale:
        counts, means, squares = encoding.moments
        X = _standardise(graph, X, means, np.sqrt(squares / np.maximum(counts, 1.0)))
    X = graph.step("Where", is_missing, graph.constant(0.0), X)
    scores = graph.step("MatMul", X, graph.constant(coef.T))
    if linear.curves is not None:
        scores = graph.step("Add", scores, _add_curve_scores(graph, linear, X, is_missing))
    indices = _indices_of_missing(encoding)
    if (indices < 0).all():
        return scores
    weights = np.where(indices >= 0, linear.coef[:, indices], 0.0)
    flags = graph.step("Cast", is_missing, to=_tensor_type(np.float64))
    return graph.step("Add", scores, graph.step("MatMul", flags, graph.constant(weights.T)))


def _standardise(graph: _Graph, X: str, means: np.ndarray, deviations: np.ndarray) -> str:
    """Add numbers minus their means over their deviations; a constant column becomes 0."""
    divisors = np.where(deviations > 0.0, deviations, np.inf)
    return graph.step("Div", graph.step("Sub", X, graph.constant(means)), graph.constant(divisors))


def _add_curve_scores(graph: _Graph, linear: LinearFunction, Z: str, is_missing: str | None = None) -> str:
    """Add the scores of the hats of standardised numbers, none for missing ones.

    How far z is between two knots, from 0 to 1, minus how far it is between the next two, is the hat between them. The
    interval before the first knot is always behind z, the one after the last always ahead of it.
    """
    knots = np.array([KNOTS[0] - 1.0, *KNOTS, KNOTS[-1] + 1.0])
    Z = graph.step("Clip", Z, graph.constant(KNOTS[0]), graph.constant(KNOTS[-1]))
    Z = graph.step("Unsqueeze", Z, graph.constant(np.array([2])))
    ahead = graph.step("Sub", Z, graph.constant(knots[:-1]))
    shares = graph.step("Div", ahead, graph.constant(np.diff(knots)))
    shares = graph.step("Clip", shares, graph.constant(0.0), graph.constant(1.0))
    before, after = (graph.step("Gather", shares, graph.constant(np.arange(k, k + N_KNOTS)), axis=2) for k in (0, 1))
    hats = graph.step("Sub", before, after)
    if is_missing is not None:
        flags = graph.step("Unsqueeze", is_missing, graph.constant(np.array([2])))
        hats = graph.step("Where", flags, graph.constant(0.0), hats)
    weights = linear.curve_weights.reshape(len(linear.bias), -1).T
    flat = graph.step("Reshape", hats, graph.constant(np.array([-1, len(weights)])))
    return graph.step("MatMul", flat, graph.constant(weights))


def _add_word_scores(graph: _Graph, linear: LinearFunction, column: str, known: dict[str, int]) -> str:
    """Add the weights of each row's word: those of "?" for an empty cell, 0 for an unknown word."""
    weights = np.vstack([linear.coef[:, list(known.values())].T, np.zeros(len(linear.bias))])
    codes = {word: code for code, word in enumerate(known)}
    codes[""] = codes.get("?", len(known))
    code = graph.step(
        "LabelEncoder",
        graph.input(column, str, 1),
        domain="ai.onnx.ml",
        keys_strings=list(codes),
        values_int64s=list(codes.values()),
        default_int64=len(known),
    )
    flat = graph.step("Squeeze", code, graph.constant(np.array([1])))
    return graph.step("Gather", graph.constant(weights), flat, axis=0)


def _indices_of_missing(encoding: TableEncoding) -> np.ndarray:
    names = [encoding.name_of_missing(column) for column in encoding.columns("number")]
    return encoding.vocabulary.find_indices(
        NameBatch.with_prefixes((head, [name]) for head, name in names), learn=False
    )


def _find_words(column: str, encoding: TableEncoding) -> dict[str, int]:
    """Return the words of a categorical column, and their feature indices."""
    head = category_prefix(column)
    candidates = {name[len(head) :]: at for at, name in enumerate(encoding.names) if name.startswith(head)}
    indices = encoding.vocabulary.find_indices(NameBatch.with_prefix(head, list(candidates)), learn=False).tolist()
    return {word: at for (word, at), index in zip(candidates.items(), indices, strict=True) if at == index}


def _require_all_known(linear: LinearFunction, encoding: TableEncoding, known: dict[str, dict[str, int]]) -> None:
    """Raise a ModelFileError if a feature has weight that a graph of numbers and words cannot compute."""
    if "text" in encoding.kinds.values():
        raise ModelFileError(f"A model over text cannot be exported to ONNX. {_JSON}")
    if known and encoding.vocabulary.is_full:
        raise ModelFileError(
            "The model has more feature names than weights, so that some share one, which ONNX cannot express. Learn "
            "again with larger hash_bits."
        )
    known_indices = {*encoding.number_indices.tolist(), *_indices_of_missing(encoding).tolist()}
    known_indices.update([] if linear.curves is None else linear.curves.hats.ravel().tolist())
    known_indices.update(index for words in known.values() for index in words.values())
    unknown = [at for at in np.flatnonzero(linear.coef.any(axis=0)).tolist() if at not in known_indices]
    if unknown:
        raise ModelFileError(
            f"The feature {encoding.names[unknown[0]]!r} is longer than the names that the model "
            f"keeps whole; it cannot be exported to ONNX. {_JSON}"
        )


def _add_outputs(graph: _Graph, linear: LinearFunction, scores: str) -> None:
    """Add label and scores; ties are decided as novikoff decides them."""
    n_vectors = len(linear.bias)
    if n_vectors == 1:
        scores = graph.step("Squeeze", scores, graph.constant(np.array([1])), name="scores")
        compare = "GreaterOrEqual" if linear.prefers_last else "Greater"
        code = graph.step("Cast", graph.step(compare, scores, graph.constant(0.0)), to=_tensor_type(np.int64))
    else:
        scores = graph.step("Identity", scores, name="scores")
        code = graph.step("ArgMax", scores, axis=1, keepdims=0, select_last_index=int(linear.prefers_last))
    classes = _classes(linear.classes if len(linear.classes) > 1 else 2 * linear.classes)
    graph.step("Gather", graph.constant(classes), code, name="label", axis=0)
    graph.output("label", classes.dtype, ["rows"])
    graph.output("scores", np.float64, ["rows", n_vectors] if n_vectors > 1 else ["rows"])


def _classes(labels: list[Any]) -> np.ndarray:
    """Return labels as ONNX represents them: integers, floats, or strings."""
    if all(isinstance(label, (bool, int, float)) for label in labels):
        numbers = np.array(labels, float)
        return numbers.astype(np.int64) if (numbers == np.floor(numbers)).all() else numbers
    return np.array([str(label) for label in labels], object)


def _tensor_type(dtype: Any) -> int:
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(np.dtype(object if dtype is str else dtype)))

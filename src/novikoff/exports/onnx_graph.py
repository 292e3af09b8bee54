"""Models as ONNX graphs, in double precision, which answer as they do here: to serve without novikoff.

    input    X: (rows, columns), doubles, NaN where a cell is missing; for tables with words one input for each column,
             by its name, of shape (rows, 1): doubles, and strings, "" where a cell is missing
    output   label: (rows,), whole numbers or strings; scores: (rows,) for two classes, (rows, classes) for more

Numbers are standardised inside the graph, by the moments that the model has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.encoding import Names, TableEncoding
from novikoff.errors import ModelFileError
from novikoff.exports.linear_function import Linear, linear_of

if TYPE_CHECKING:
    from novikoff.estimators import Perceptron
    from novikoff.streaming.model import StreamModel

__all__ = ["to_onnx"]

_OPSETS = {"": 17, "ai.onnx.ml": 3}
_IR_VERSION = 8  # of the same age: newer runtimes read older ones
_JSON = "Export it to JSON: novikoff export MODEL -o coef.json"


def to_onnx(model: Perceptron | StreamModel) -> Any:
    """A model as an ONNX graph.

    For models over arrays, svmlight files (the input is as wide as the model), and tables of numbers and words; the
    extra `onnx` has what it takes. Models over names or text are refused: `to_json` has them.

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
    linear = linear_of(model)
    graph = _Graph()
    scores = _scores(graph, linear)
    _outputs(graph, linear, scores)
    return graph.model()


def _require_onnx() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise ModelFileError(
            "To export to ONNX takes the extra onnx: pip install 'novikoff[onnx]'. Or export to JSON, "
            "which takes nothing."
        ) from None


@dataclass
class _Graph:
    """A graph in the making: each step has a name, by which later ones take it."""

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


def _scores(graph: _Graph, linear: Linear) -> str:
    """(rows, vectors)."""
    if isinstance(linear.encoding, TableEncoding):
        return _table_scores(graph, linear, linear.encoding)
    if not linear.is_positional:
        raise ModelFileError(
            f"A model over named features cannot be exported to ONNX, whose inputs are columns. {_JSON}"
        )
    X = graph.input("X", np.float64, linear.coef.shape[1])
    return graph.step("Add", graph.step("MatMul", X, graph.constant(linear.coef.T)), graph.constant(linear.bias))


def _table_scores(graph: _Graph, linear: Linear, encoding: TableEncoding) -> str:
    numbers, words = encoding.columns("number"), encoding.columns("word")
    known = {column: _words(column, encoding) for column in words}
    _require_all_known(linear, encoding, known)
    scores = graph.constant(linear.bias[None, :])
    if numbers:
        inputs = [graph.input(name, np.float64, 1) for name in encoding.kinds if name in numbers] if words else []
        X = graph.step("Concat", *inputs, axis=1) if words else graph.input("X", np.float64, len(numbers))
        scores = graph.step("Add", _number_scores(graph, linear, encoding, X), scores)
    for column in words:
        scores = graph.step("Add", scores, _word_scores(graph, linear, column, known[column]))
    return scores


def _number_scores(graph: _Graph, linear: Linear, encoding: TableEncoding, X: str) -> str:
    """Standardised, 0 where one is missing, and then the weight of that."""
    coef, is_missing = linear.coef[:, encoding.places], graph.step("IsNaN", X)
    if encoding.features.scale:
        counts, means, squares = encoding.moments
        deviations = np.sqrt(squares / np.maximum(counts, 1.0))
        coef = np.where(deviations > 0.0, coef, 0.0)  # a column that has not varied counts for nothing
        centred = graph.step("Sub", X, graph.constant(means))
        X = graph.step("Div", centred, graph.constant(np.where(deviations > 0.0, deviations, 1.0)))
    X = graph.step("Where", is_missing, graph.constant(0.0), X)
    scores = graph.step("MatMul", X, graph.constant(coef.T))
    places = _places_of_missing(encoding)
    if (places < 0).all():
        return scores
    weights = np.where(places >= 0, linear.coef[:, places], 0.0)
    flags = graph.step("Cast", is_missing, to=_tensor_type(np.float64))
    return graph.step("Add", scores, graph.step("MatMul", flags, graph.constant(weights.T)))


def _word_scores(graph: _Graph, linear: Linear, column: str, known: dict[str, int]) -> str:
    """The weights of the word that a row has, those of ? for an empty one, 0 for one that was never met."""
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


def _places_of_missing(encoding: TableEncoding) -> np.ndarray:
    names = [encoding.name_of_missing(column) for column in encoding.columns("number")]
    return encoding.vocabulary.places(Names.joined((head, [name]) for head, name in names), learn=False)


def _words(column: str, encoding: TableEncoding) -> dict[str, int]:
    """The words that a column has brought, and their features."""
    head = f"{column}="
    found = {name[len(head) :]: at for at, name in enumerate(encoding.names) if name.startswith(head)}
    places = encoding.vocabulary.places(Names.under(head, list(found)), learn=False).tolist()
    return {word: at for (word, at), place in zip(found.items(), places, strict=True) if at == place}


def _require_all_known(linear: Linear, encoding: TableEncoding, known: dict[str, dict[str, int]]) -> None:
    """Raise if a feature counts that a graph of numbers and words cannot tell."""
    if "text" in encoding.kinds.values():
        raise ModelFileError(f"A model over text cannot be exported to ONNX. {_JSON}")
    if known and encoding.vocabulary.is_full:
        raise ModelFileError(
            "The model has met more words than it has weights, and lets them share; ONNX does not "
            "know how. Learn anew with more --hash-bits."
        )
    told = {*encoding.places.tolist(), *_places_of_missing(encoding).tolist()}
    told.update(place for words in known.values() for place in words.values())
    untold = [at for at in np.flatnonzero(linear.coef.any(axis=0)).tolist() if at not in told]
    if untold:
        raise ModelFileError(
            f"The feature {encoding.names[untold[0]]!r} is too long for the model to know how it "
            f"ends; it cannot be exported to ONNX. {_JSON}"
        )


def _outputs(graph: _Graph, linear: Linear, scores: str) -> None:
    """Ties go as they go here."""
    n_vectors = len(linear.bias)
    if n_vectors == 1:
        scores = graph.step("Squeeze", scores, graph.constant(np.array([1])), name="scores")
        compare = "GreaterOrEqual" if linear.takes_last else "Greater"
        code = graph.step("Cast", graph.step(compare, scores, graph.constant(0.0)), to=_tensor_type(np.int64))
    else:
        scores = graph.step("Identity", scores, name="scores")
        code = graph.step("ArgMax", scores, axis=1, keepdims=0, select_last_index=int(linear.takes_last))
    classes = _classes(linear.classes if len(linear.classes) > 1 else 2 * linear.classes)
    graph.step("Gather", graph.constant(classes), code, name="label", axis=0)
    graph.output("label", classes.dtype, ["rows"])
    graph.output("scores", np.float64, ["rows", n_vectors] if n_vectors > 1 else ["rows"])


def _classes(labels: list[Any]) -> np.ndarray:
    """As ONNX has them: whole numbers, other numbers, or strings."""
    if all(isinstance(label, (bool, int, float)) for label in labels):
        numbers = np.array(labels, float)
        return numbers.astype(np.int64) if (numbers == np.floor(numbers)).all() else numbers
    return np.array([str(label) for label in labels], object)


def _tensor_type(dtype: Any) -> int:
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(np.dtype(object if dtype is str else dtype)))

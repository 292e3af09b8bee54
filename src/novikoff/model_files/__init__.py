"""Model files: everything a learner has learned, as plain data in one safetensors file.

A file holds numbers and text. Nothing in it is executed, there is no pickle, and every number is checked before
anything is built from it. Equal models give equal bytes. The entry "novikoff" of the metadata is JSON:

    schema      version of this layout; files of a newer version are refused with an error that says so
    kind        which learner it is, for example "perceptron"; `loading.py` has the registry of kinds
    checksum    BLAKE2b over the schema, kind and facts and all tensors with their names, types and shapes
    facts       JSON values, nested by section

The name of a tensor begins with the path of its section:

    learner     rule, hypothesis, ties, intercept; learner.separator.coef, .bias if there is one
    labels      the labels learned so far, sorted, with their types, and the dtype of `classes_`
    names       the vocabulary, if features have names, by index
    state       .raw, .sums, .pocket (each .coef, .bias), .counts, .measures, .trace.counts, .trace.sizes; passes;
                .importance_range if examples had weights
    state.history.K    update sequence K of a voted learner: .slots (row indices), .steps, .classes, .examples, .base,
                and the stored rows, dense (.rows) or as CSR (.rows.data, .rows.indices, .rows.indptr)
    parameters  the arguments of the constructor, with the state of a RandomState
    regression  .coordinates, .counts, .measures of a stream regressor; see _compiled/loops/regression.py
    calibration how scores become probabilities, if a stream model was calibrated: kind, slope, intercept, rows
    fitted      n_iter_, converged_, n_features_in_, feature_names_in_, where there are any

A list of strings or values of several types is three tensors: .bytes, .offsets and, if the types differ, .types.

A function `write_x(section, x)` adds x to a section, and `read_x(section)` reads and checks it; some classes have the
methods `write_to` and `read_from` instead. Other kinds of models add sections of their own, with `add_part` and
`add_tensor` to write, and `part`, `fact` and `tensor` to read; see `Section`.
"""

from novikoff.model_files.container import SCHEMA, read, write
from novikoff.model_files.models import read_labels, read_model, write_labels, write_model
from novikoff.model_files.parameters import read_named, write_named
from novikoff.model_files.perceptrons import SavedPerceptron, load, read_saved, save
from novikoff.model_files.section import Section
from novikoff.model_files.states import read_trace, write_trace
from novikoff.model_files.values import read_values, write_values

__all__ = [
    "SCHEMA",
    "SavedPerceptron",
    "Section",
    "load",
    "read",
    "read_labels",
    "read_model",
    "read_named",
    "read_saved",
    "read_trace",
    "read_values",
    "save",
    "write",
    "write_labels",
    "write_model",
    "write_named",
    "write_trace",
    "write_values",
]

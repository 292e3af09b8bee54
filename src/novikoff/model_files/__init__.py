"""Model files: everything a learner has learned, as plain data in one safetensors file.

A file is numbers and text. Nothing in it is executed, there is no pickle, and every number is checked before anything
is built from it. The same model always gives the same bytes. The text entry "novikoff" of its metadata is JSON:

    schema      version of this layout; a newer one is refused with a sentence
    kind        which learner it is: "perceptron"
    checksum    BLAKE2b over the schema, kind and facts and all tensors with their names, types and shapes
    facts       the small things, by section: the same names as the tensors begin with

and the tensors are named by their place:

    learner     rule, hypothesis, ties, intercept; learner.separator.coef, .bias if there is one
    labels      the labels met so far, sorted, with their types, and the dtype of `classes_`
    names       the vocabulary, if features have names, in the order of their columns
    state       .raw, .sums, .pocket (each .coef, .bias), .counts, .measures, .trace.counts, .trace.sizes; passes
    state.history.K    chain K of a voted learner: .slots, .steps, .classes, .examples, .base, and the stored rows, as
                they came (.rows) or as CSR (.rows.data, .rows.indices, .rows.indptr)
    parameters  what the constructor was given; the state of a RandomState is data too
    fitted      n_iter_, converged_, n_features_in_, feature_names_in_, where there are any

A list of text or mixed values is three tensors: .bytes, .offsets and, if the types differ, .types.

Another kind of model adds sections of its own: `root.open("encoding")` and `put` to write, `root.part("encoding")`,
`fact` and `tensor` to read; see `Section`.
"""

from novikoff.model_files.container import SCHEMA, read, write
from novikoff.model_files.models import put_labels, put_model, take_labels, take_model
from novikoff.model_files.parameters import put_named, take_named
from novikoff.model_files.perceptrons import Saved, load, save, taken
from novikoff.model_files.section import Section
from novikoff.model_files.states import put_trace, take_trace
from novikoff.model_files.values import put_values, take_values

__all__ = [
    "SCHEMA",
    "Saved",
    "Section",
    "load",
    "put_labels",
    "put_model",
    "put_named",
    "put_trace",
    "put_values",
    "read",
    "save",
    "take_labels",
    "take_model",
    "take_named",
    "take_trace",
    "take_values",
    "taken",
    "write",
]

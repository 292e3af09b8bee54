"""Taggers in model files.

    parameters  the parameters of the constructor; the lines of the templates
    tags        the tags seen, in order; columns, their names
    files       of the files it has learned from: the .format, the .names of all columns, and that of the tags (.tag);
                missing if it has not learned from files
    words       the words of the training sentences, and which of them were in the first column (.known)
    features    for each row its hash (.keys) and what it was extracted from (.origins, not with hash_bits)
    weights     for each row how many tags have weights (.sizes), and for each of these the tag (.tags), w (.now) and
                u (.moments)
    pairs       .now and .moments; triples, likewise, for chains of order two
    counts      sentences, mistakes, rows, |w|^2, R^2; trace; passes

Most rows have weights for two or three tags only, so rows are stored as lists of tags and weights, in the narrowest
integer type that holds them. A tagger that was saved and loaded continues to learn exactly as the original would.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff import model_files
from novikoff._compiled.loops.chains import LOGGED, ROWS
from novikoff.errors import DataError
from novikoff.structured.attributes import Attribute
from novikoff.structured.chain import ChainState
from novikoff.structured.constraints import build_constraints
from novikoff.structured.sentence_files import FORMATS, FileColumns
from novikoff.structured.snapshot import TaggerSnapshot
from novikoff.structured.templates import TemplateSource

if TYPE_CHECKING:
    from novikoff.model_files import Section
    from novikoff.structured.tagger import SequenceTagger

__all__ = ["KIND", "load_tagger", "save"]

KIND = "tagger"

_SIGNED = (np.int8, np.int16, np.int32, np.int64)
_UNSIGNED = (np.uint8, np.uint16, np.uint32)
_N_TRACE = 4  # columns of the trace: updates, sentences, mistakes, |w|
_PARAMETERS = ("max_iter", "hypothesis", "order", "random_state", "markov_order", "beam", "constraints", "hash_bits")


def save(tagger: SequenceTagger, path: str | os.PathLike[str]) -> None:
    """Write a model file. If the tagger could not be loaded again, raise an error and leave the old file."""
    root = model_files.Section(f"{os.fspath(path)} cannot be written")
    parameters = root.add_part("parameters")
    parameters.facts |= {name: getattr(tagger, name) for name in _PARAMETERS}
    parameters.facts |= {
        "templates": list(tagger.templates.lines),
        "name": tagger.templates.name,
        "attributes": sorted(tagger.attributes),
    }
    with_names = tagger.hash_bits is None
    tagger._read_weights(lambda snapshot: _write_snapshot(root, snapshot, tagger.files, with_names=with_names))
    model_files.write(path, KIND, root, lambda read_back: load_tagger(path, KIND, read_back, tagger.attributes))


def _write_snapshot(root: Section, snapshot: TaggerSnapshot, files: FileColumns | None, *, with_names: bool) -> None:
    root.facts["columns"] = list(snapshot.columns)
    if files is not None:
        root.add_part("files").facts |= {"format": files.format, "names": list(files.names), "tag": files.tag}
    model_files.write_values(root.add_part("tags"), snapshot.tags)
    if with_names:
        words = root.add_part("words")
        model_files.write_values(words, snapshot.extractor.words.texts[: snapshot.n_kept])
        words.add_tensor("known", snapshot.is_known.astype(np.uint8))
    _write_state(root, snapshot.state, with_names=with_names)


def _write_state(root: Section, state: ChainState, *, with_names: bool) -> None:
    n = state.n_rows
    features, weights, pairs = root.add_part("features"), root.add_part("weights"), root.add_part("pairs")
    features.add_tensor("keys", state.keys[:n])
    if with_names:
        features.add_tensor("origins", _narrow(state.origins[:n], _SIGNED))
    n_tags = state.n_tags
    now, moments = state.weights[:n, :n_tags], state.moments[:n, :n_tags]
    has_weight = (now != 0) | (moments != 0)
    weights.add_tensor("sizes", _narrow(has_weight.sum(axis=1), _UNSIGNED))
    weights.add_tensor("tags", _narrow(np.nonzero(has_weight)[1], _UNSIGNED))
    weights.add_tensor("now", _narrow(now[has_weight], _SIGNED))
    weights.add_tensor("moments", _narrow(moments[has_weight], _SIGNED))
    pairs.add_tensor("now", state.pairs[:, :n_tags].astype(np.int32))
    pairs.add_tensor("moments", state.pair_moments[:, :n_tags])
    if state.triples is not None and state.triple_moments is not None:
        triples = root.add_part("triples")
        triples.add_tensor("now", _narrow(state.triples[:, :, :n_tags], _SIGNED))
        triples.add_tensor("moments", _narrow(state.triple_moments[:, :, :n_tags], _SIGNED))
    root.add_tensor("counts", state.counts[:LOGGED])
    root.add_tensor("trace", np.array([point[:_N_TRACE] for point in state.trace.points], float).reshape(-1, _N_TRACE))
    root.facts |= {"stride": state.trace.stride, "passes": state.passes}


def _narrow(array: np.ndarray, dtypes: tuple[Any, ...]) -> np.ndarray:
    """Return the array in the narrowest of these types that holds all its numbers."""
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    fitting = [dtype for dtype in dtypes if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max]
    return array.astype(fitting[0])


def load_tagger(
    path: str | os.PathLike[str], kind: str, root: Section, attributes: Mapping[str, Attribute] | None
) -> SequenceTagger:
    """Return the tagger of a model file that has been read."""
    tagger = _make_tagger(root, path, attributes)
    columns = root.fact("columns", list)
    root.require(columns and all(type(name) is str for name in columns), f"columns is {columns!r}")
    try:
        snapshot = tagger._empty_snapshot(tuple(columns))
    except DataError as error:
        root.fail(f"its templates are not valid: {error}", error)
    if "files" in root.facts:
        tagger.files = _read_files(root.part("files"))
    tags = model_files.read_values(root.part("tags"))
    codes = {tag: code for code, tag in enumerate(tags)}
    root.require(len(codes) == len(tags), "it has a tag twice")
    snapshot = replace(snapshot, tags=tags, codes=codes)
    if tagger.hash_bits is None:
        snapshot = _read_words(root.part("words"), snapshot)
    _read_state(root, snapshot, tagger.constraints, with_names=tagger.hash_bits is None)
    tagger._snapshot = snapshot
    return tagger


def _read_files(section: Section) -> FileColumns:
    format, names, tag = section.fact("format", str), section.fact("names", list), section.fact("tag", str)
    section.require(format in FORMATS, f"the format is {format!r}")
    section.require(all(type(name) is str for name in names) and tag in names, f"names is {names!r}")
    return FileColumns(format, tuple(names), tag)


def _make_tagger(
    root: Section, path: str | os.PathLike[str], attributes: Mapping[str, Attribute] | None
) -> SequenceTagger:
    """Return a tagger with the parameters of the file, which has not learned yet."""
    from novikoff.structured.tagger import SequenceTagger

    facts = root.part("parameters").facts
    lines, name, needed = (facts.get(key) for key in ("templates", "name", "attributes"))
    is_valid = all(type(each) is list and all(type(text) is str for text in each) for each in (lines, needed))
    root.require(is_valid and type(name) is str, "its parameters are not valid")
    assert isinstance(lines, list)
    assert isinstance(needed, list)
    assert isinstance(name, str)
    own = dict(attributes or {})
    missing = [each for each in needed if each not in own]
    if missing:
        raise DataError(
            f"{os.fspath(path)} was trained with attributes of your own, and a model file holds no code: pass "
            f"them again, attributes={{{', '.join(f'{each!r}: ...' for each in missing)}}}."
        )
    try:
        chosen: dict[str, Any] = {key: facts.get(key) for key in _PARAMETERS}
        return SequenceTagger(
            TemplateSource(name, tuple(lines)), **chosen, attributes={each: own[each] for each in needed}
        )
    except DataError as error:
        root.fail(f"its parameters are not valid: {error}", error)


def _read_words(section: Section, snapshot: TaggerSnapshot) -> TaggerSnapshot:
    texts = model_files.read_values(section)
    section.require(
        all(type(text) is str for text in texts) and len(set(texts)) == len(texts), "its words are not valid"
    )
    words = snapshot.extractor.words
    ids = words.encode([texts] if texts else [], len(texts))
    section.require(np.array_equal(ids, np.arange(len(texts))), "its words are not valid")
    words.n_kept = len(texts)
    is_known = section.tensor("known", np.uint8, (len(texts),)).astype(bool)
    return replace(snapshot, n_kept=len(texts), is_known=is_known)


def _read_state(root: Section, snapshot: TaggerSnapshot, constraints: str | None, *, with_names: bool) -> None:
    state, n_tags = snapshot.state, len(snapshot.tags)
    counts = root.tensor("counts", np.int64, (LOGGED,))
    n = int(counts[ROWS])
    root.require((counts >= 0).all(), "counts are negative")
    features, weights, pairs = root.part("features"), root.part("weights"), root.part("pairs")
    state.keys = features.tensor("keys", np.uint64, (n,))
    features.require(_are_distinct(state.keys), "features have the same hash, or none")
    state.origins = np.zeros((n, state.origins.shape[1]), np.int32)
    if with_names:
        state.origins = _read_origins(features, snapshot, state.origins.shape)
    state.widen(n_tags)
    state.weights, state.moments = _read_rows(weights, n, n_tags, state.weights.shape[1])
    state.pairs[:, :n_tags] = pairs.tensor("now", np.int32, (n_tags, n_tags))
    state.pair_moments[:, :n_tags] = pairs.tensor("moments", np.int64, (n_tags, n_tags))
    if state.triples is not None and state.triple_moments is not None:
        triples, shape = root.part("triples"), (n_tags, n_tags, n_tags)
        state.triples[:, :, :n_tags] = triples.tensor("now", _SIGNED[:3], shape)
        state.triple_moments[:, :, :n_tags] = triples.tensor("moments", _SIGNED, shape)
    try:
        state.constraints = build_constraints(constraints, snapshot.tags)
    except DataError as error:
        root.fail(str(error), error)
    state.counts[:LOGGED] = counts
    state.table.extend_to(state.keys)
    trace = root.finite("trace", np.float64, (None, _N_TRACE))
    state.trace.points = [(*point, float("nan")) for point in trace.tolist()]
    state.trace.stride, state.passes = max(1, root.fact("stride", int)), root.fact("passes", int)


def _are_distinct(keys: np.ndarray) -> bool:
    """Return whether no key is 0 and none occurs twice; np.unique would take ten times as long."""
    ordered = np.sort(keys)
    return bool((ordered[1:] != ordered[:-1]).all() and (ordered[:1] != 0).all())


def _read_origins(section: Section, snapshot: TaggerSnapshot, shape: tuple[int, ...]) -> np.ndarray:
    origins = section.tensor("origins", _SIGNED, shape).astype(np.int32)
    which = origins[:, 0]
    templates = snapshot.extractor.templates
    is_valid = not origins.size or (which.min() >= 0 and which.max() < len(templates) and origins.max() < 2**31 - 1)
    section.require(is_valid and (origins[:, 1:-1] < max(1, snapshot.n_kept)).all(), "origins point outside the words")
    section.require((origins[:, -1] < len(snapshot.tags)).all(), "origins point outside the tags")
    return origins


def _read_rows(section: Section, n: int, n_tags: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    sizes = section.tensor("sizes", _UNSIGNED, (n,)).astype(np.int64)
    tags = section.indices("tags", (int(sizes.sum()),), n_tags, _UNSIGNED).astype(np.int64)
    rows = np.repeat(np.arange(n), sizes)
    now, moments = np.zeros((n, width), np.int32), np.zeros((n, width), np.int64)
    now[rows, tags] = section.tensor("now", _SIGNED[:3], tags.shape)
    moments[rows, tags] = section.tensor("moments", _SIGNED, tags.shape)
    return now, moments

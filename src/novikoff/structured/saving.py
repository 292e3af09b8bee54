"""Taggers in model files.

    parameters  what the constructor was given; the lines of the templates as they were
    tags        the tags met, in order; columns, their names
    files       of the files it has learned from the .format, the .names of all columns, and that of the tags (.tag);
                not there if it has not learned from files
    words       the words of the training sentences, and which of them were in the first column (.known)
    features    of each row its hash (.keys) and what it was made of (.origins); none of these with hash_bits but .keys
    weights     of each row how many tags have weights (.sizes), and for each the tag (.tags), w (.now) and u (.moments)
    pairs       .now and .moments; triples, the same, for chains of order two
    counts      sentences, mistakes, rows, |w|^2, R^2; trace; passes

Most rows have weights for two or three tags, so only those are in the file, in the narrowest whole numbers that hold
them. What was saved and loaded goes on learning as if nothing had happened, to the last bit.
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
from novikoff.structured.chain import Chain
from novikoff.structured.constraints import bars_for
from novikoff.structured.sentence_files import FORMATS, FileColumns
from novikoff.structured.snapshot import Knowledge
from novikoff.structured.templates import TemplateSource

if TYPE_CHECKING:
    from novikoff.model_files import Section
    from novikoff.structured.tagger import SequenceTagger

__all__ = ["KIND", "load_tagger", "save"]

KIND = "tagger"

_SIGNED = (np.int8, np.int16, np.int32, np.int64)
_UNSIGNED = (np.uint8, np.uint16, np.uint32)
_TRACE = 4  # columns: updates, sentences, mistakes, |w|
_SIMPLE = ("max_iter", "hypothesis", "order", "random_state", "markov_order", "beam", "constraints", "hash_bits")


def save(tagger: SequenceTagger, path: str | os.PathLike[str]) -> None:
    """Write a model file. A tagger that cannot be loaded again is refused, and the old file stays."""
    root = model_files.Section(f"{os.fspath(path)} cannot be written")
    parameters = root.open("parameters")
    parameters.facts |= {name: getattr(tagger, name) for name in _SIMPLE}
    parameters.facts |= {
        "templates": list(tagger.templates.lines),
        "name": tagger.templates.name,
        "attributes": sorted(tagger.attributes),
    }
    with tagger._weights:  # no other thread learns meanwhile
        tagger._repair()
        _put_knowledge(root, tagger._known(), tagger.files, with_names=tagger.hash_bits is None)
    model_files.write(path, KIND, root, lambda found: load_tagger(path, KIND, found, tagger.attributes))


def _put_knowledge(root: Section, known: Knowledge, files: FileColumns | None, *, with_names: bool) -> None:
    root.facts["columns"] = list(known.columns)
    if files is not None:
        root.open("files").facts |= {"format": files.format, "names": list(files.names), "tag": files.tag}
    model_files.put_values(root.open("tags"), known.tags)
    if with_names:
        words = root.open("words")
        model_files.put_values(words, known.program.words.texts[: known.n_kept])
        words.put("known", known.is_known.astype(np.uint8))
    _put_chain(root, known.chain, with_names=with_names)


def _put_chain(root: Section, chain: Chain, *, with_names: bool) -> None:
    n = chain.n_rows
    features, weights, pairs = root.open("features"), root.open("weights"), root.open("pairs")
    features.put("keys", chain.keys[:n])
    if with_names:
        features.put("origins", _narrow(chain.origins[:n], _SIGNED))
    n_tags = chain.n_tags
    now, moments = chain.weights[:n, :n_tags], chain.moments[:n, :n_tags]
    there = (now != 0) | (moments != 0)
    weights.put("sizes", _narrow(there.sum(axis=1), _UNSIGNED))
    weights.put("tags", _narrow(np.nonzero(there)[1], _UNSIGNED))
    weights.put("now", _narrow(now[there], _SIGNED))
    weights.put("moments", _narrow(moments[there], _SIGNED))
    pairs.put("now", chain.pairs[:, :n_tags].astype(np.int32))
    pairs.put("moments", chain.pair_moments[:, :n_tags])
    if chain.triples is not None and chain.triple_moments is not None:
        triples = root.open("triples")
        triples.put("now", _narrow(chain.triples[:, :, :n_tags], _SIGNED))
        triples.put("moments", _narrow(chain.triple_moments[:, :, :n_tags], _SIGNED))
    root.put("counts", chain.counts[:LOGGED])
    root.put("trace", np.array([point[:_TRACE] for point in chain.trace.points], float).reshape(-1, _TRACE))
    root.facts |= {"stride": chain.trace.stride, "passes": chain.passes}


def _narrow(array: np.ndarray, dtypes: tuple[Any, ...]) -> np.ndarray:
    """The same numbers in the narrowest of these types that holds them all."""
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    fitting = [dtype for dtype in dtypes if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max]
    return array.astype(fitting[0])


def load_tagger(
    path: str | os.PathLike[str], kind: str, root: Section, attributes: Mapping[str, Attribute] | None
) -> SequenceTagger:
    """The tagger in a model file that has been read."""
    tagger = _empty(root, path, attributes)
    columns = root.fact("columns", list)
    root.require(columns and all(type(name) is str for name in columns), f"columns is {columns!r}")
    try:
        known = tagger._nothing(tuple(columns))
    except DataError as error:
        root.fail(f"its templates are not sound: {error}", error)
    if "files" in root.facts:
        tagger.files = _files(root.part("files"))
    tags = model_files.take_values(root.part("tags"))
    codes = {tag: code for code, tag in enumerate(tags)}
    root.require(len(codes) == len(tags), "it has a tag twice")
    known = replace(known, tags=tags, codes=codes)
    if tagger.hash_bits is None:
        known = _take_words(root.part("words"), known)
    _take_chain(root, known, tagger.constraints, with_names=tagger.hash_bits is None)
    tagger._knowledge = known
    return tagger


def _files(section: Section) -> FileColumns:
    format, names, tag = section.fact("format", str), section.fact("names", list), section.fact("tag", str)
    section.require(format in FORMATS, f"the format is {format!r}")
    section.require(all(type(name) is str for name in names) and tag in names, f"names is {names!r}")
    return FileColumns(format, tuple(names), tag)


def _empty(root: Section, path: str | os.PathLike[str], attributes: Mapping[str, Attribute] | None) -> SequenceTagger:
    from novikoff.structured.tagger import SequenceTagger

    facts = root.part("parameters").facts
    lines, name, needed = (facts.get(key) for key in ("templates", "name", "attributes"))
    sound = all(type(each) is list and all(type(text) is str for text in each) for each in (lines, needed))
    root.require(sound and type(name) is str, "its parameters are not sound")
    assert isinstance(lines, list)
    assert isinstance(needed, list)
    assert isinstance(name, str)
    own = dict(attributes or {})
    missing = [each for each in needed if each not in own]
    if missing:
        raise DataError(
            f"{os.fspath(path)} was trained with attributes of your own, and a file holds no code: give "
            f"them again, attributes={{{', '.join(f'{each!r}: ...' for each in missing)}}}."
        )
    try:
        chosen: dict[str, Any] = {key: facts.get(key) for key in _SIMPLE}
        return SequenceTagger(
            TemplateSource(name, tuple(lines)), **chosen, attributes={each: own[each] for each in needed}
        )
    except DataError as error:
        root.fail(f"its parameters are not sound: {error}", error)


def _take_words(section: Section, known: Knowledge) -> Knowledge:
    texts = model_files.take_values(section)
    section.require(
        all(type(text) is str for text in texts) and len(set(texts)) == len(texts), "its words are not sound"
    )
    words = known.program.words
    numbers = words.numbers([texts] if texts else [], len(texts))
    section.require(np.array_equal(numbers, np.arange(len(texts))), "its words are not sound")
    words.kept = len(texts)
    is_known = section.tensor("known", np.uint8, (len(texts),)).astype(bool)
    return replace(known, n_kept=len(texts), is_known=is_known)


def _take_chain(root: Section, known: Knowledge, constraints: str | None, *, with_names: bool) -> None:
    chain, n_tags = known.chain, len(known.tags)
    counts = root.tensor("counts", np.int64, (LOGGED,))
    n = int(counts[ROWS])
    root.require((counts >= 0).all(), "counts are negative")
    features, weights, pairs = root.part("features"), root.part("weights"), root.part("pairs")
    chain.keys = features.tensor("keys", np.uint64, (n,))
    features.require(_are_distinct(chain.keys), "features have the same hash, or none")
    chain.origins = np.zeros((n, chain.origins.shape[1]), np.int32)
    if with_names:
        chain.origins = _take_origins(features, known, chain.origins.shape)
    chain.widen(n_tags)
    chain.weights, chain.moments = _take_rows(weights, n, n_tags, chain.weights.shape[1])
    chain.pairs[:, :n_tags] = pairs.tensor("now", np.int32, (n_tags, n_tags))
    chain.pair_moments[:, :n_tags] = pairs.tensor("moments", np.int64, (n_tags, n_tags))
    if chain.triples is not None and chain.triple_moments is not None:
        triples, shape = root.part("triples"), (n_tags, n_tags, n_tags)
        chain.triples[:, :, :n_tags] = triples.tensor("now", _SIGNED[:3], shape)
        chain.triple_moments[:, :, :n_tags] = triples.tensor("moments", _SIGNED, shape)
    try:
        chain.bars = bars_for(constraints, known.tags)
    except DataError as error:
        root.fail(str(error), error)
    chain.counts[:LOGGED] = counts
    chain.table.enter(chain.keys)
    trace = root.finite("trace", np.float64, (None, _TRACE))
    chain.trace.points = [(*point, float("nan")) for point in trace.tolist()]
    chain.trace.stride, chain.passes = max(1, root.fact("stride", int)), root.fact("passes", int)


def _are_distinct(keys: np.ndarray) -> bool:
    """Whether no key is 0, and none there twice; np.unique would take ten times as long."""
    ordered = np.sort(keys)
    return bool((ordered[1:] != ordered[:-1]).all() and (ordered[:1] != 0).all())


def _take_origins(section: Section, known: Knowledge, shape: tuple[int, ...]) -> np.ndarray:
    found = section.tensor("origins", _SIGNED, shape).astype(np.int32)
    which = found[:, 0]
    templates = known.program.templates
    sound = not found.size or (which.min() >= 0 and which.max() < len(templates) and found.max() < 2**31 - 1)
    section.require(sound and (found[:, 1:-1] < max(1, known.n_kept)).all(), "origins point outside the words")
    section.require((found[:, -1] < len(known.tags)).all(), "origins point outside the tags")
    return found


def _take_rows(section: Section, n: int, n_tags: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    sizes = section.tensor("sizes", _UNSIGNED, (n,)).astype(np.int64)
    tags = section.indices("tags", (int(sizes.sum()),), n_tags, _UNSIGNED).astype(np.int64)
    rows = np.repeat(np.arange(n), sizes)
    now, moments = np.zeros((n, width), np.int32), np.zeros((n, width), np.int64)
    now[rows, tags] = section.tensor("now", _SIGNED[:3], tags.shape)
    moments[rows, tags] = section.tensor("moments", _SIGNED, tags.shape)
    return now, moments

"""Which encoding a stream has: a new one for its first block, or that of a model file."""

from __future__ import annotations

from typing import Any

from novikoff.data.encoding import Encoding, Features, IndexEncoding, NameEncoding, TableEncoding
from novikoff.data.formats.block import Block, NamedBlock, SparseBlock
from novikoff.errors import ModelFileError
from novikoff.model_files import Section

__all__ = ["encoding_for", "read_encoding"]


def encoding_for(block: Block, features: Features) -> Encoding[Any]:
    """Return a new encoding for a stream that begins with this block."""
    how = {"scale": features.scale, "hats": features.hats, "log_counts": features.log_counts}
    if isinstance(block, SparseBlock):
        return IndexEncoding.empty(**how)
    if isinstance(block, NamedBlock):
        return NameEncoding.empty(features.hash_bits, **how)
    return TableEncoding(features)


def read_encoding(section: Section) -> Encoding[Any]:
    """Read the encoding of the kind that the section names."""
    kind = section.fact("kind", str)
    for encoding in (IndexEncoding, NameEncoding, TableEncoding):
        if encoding.kind == kind:
            return encoding.read_from(section)
    raise ModelFileError(f"The model has an encoding of kind {kind!r}, which this version of novikoff does not know.")

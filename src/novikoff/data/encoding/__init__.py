"""Encodings: raw blocks become rows of numbers; one encoding per kind of block.

contract.py says what an encoding is. How features are named is said in `novikoff.data.feature_names`; reading files is
left to `formats`, learning to `novikoff.streaming`.
"""

from novikoff.data.encoding.contract import Encoding, Features
from novikoff.data.encoding.indices import IndexEncoding
from novikoff.data.encoding.named import NameEncoding
from novikoff.data.encoding.names import NameBatch
from novikoff.data.encoding.tables import TableEncoding
from novikoff.data.encoding.vocabulary import Vocabulary

__all__ = ["Encoding", "Features", "IndexEncoding", "NameBatch", "NameEncoding", "TableEncoding", "Vocabulary"]

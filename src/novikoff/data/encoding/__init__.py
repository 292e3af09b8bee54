"""From raw blocks to rows of numbers: one encoding per kind of block, one contract (contract.py)."""

from novikoff.data.encoding.contract import Encoding, Features
from novikoff.data.encoding.indices import IndexEncoding
from novikoff.data.encoding.named import MARK, NameEncoding
from novikoff.data.encoding.tables import TableEncoding
from novikoff.data.encoding.vocabulary import Names, Vocabulary

__all__ = ["MARK", "Encoding", "Features", "IndexEncoding", "NameEncoding", "Names", "TableEncoding", "Vocabulary"]

"""From raw blocks to rows of numbers: one encoding per kind of block, one contract (contract.py)."""

from novikoff.encoding.contract import Encoding, Features
from novikoff.encoding.indices import IndexEncoding
from novikoff.encoding.named import MARK, NameEncoding
from novikoff.encoding.tables import TableEncoding
from novikoff.encoding.vocabulary import Names, Vocabulary

__all__ = ["MARK", "Encoding", "Features", "IndexEncoding", "NameEncoding", "Names", "TableEncoding", "Vocabulary"]

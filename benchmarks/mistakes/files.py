"""The streams: which files, which column is the label, and in which order their rows come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

import novikoff as nk
from benchmarks import data
from novikoff.data.formats.block import Block, SparseBlock
from novikoff.data.formats.joining import join_blocks
from novikoff.streaming.row_order import RunOrder

__all__ = ["STREAMS", "BenchmarkStream", "RealStream"]

_SMALL = 700  # rows below which the order decides more than the learner
_ORDERS = 8


@dataclass(frozen=True)
class BenchmarkStream(ABC):
    """Rows in an order, or in several.

    Attributes
    ----------
    is_shuffled : bool
        Whether the rows come in a random order, because those of the source are sorted by label.
    has_many_classes : bool
    is_generated : bool
        Whether it is made, and no file of $NOVIKOFF_DATA.
    """

    name: str
    file: str = ""
    is_shuffled: bool = field(default=False, kw_only=True)
    has_many_classes: bool = field(default=False, kw_only=True)
    is_generated: ClassVar[bool] = False

    @abstractmethod
    def read(self) -> Block | None:
        """All rows in the order of the source; None if it is not there."""

    def orders(self, block: Block) -> Iterator[Block]:
        """Yield the rows in the order, or orders, that are measured: small files in several."""
        is_small = len(block) < _SMALL
        if not is_small and not self.is_shuffled:
            yield block
            return
        for seed in range(_ORDERS if is_small else 1):
            # The order of `novikoff learn --shuffle always --seed SEED`.
            order = RunOrder(block.source, seed, len(block)).generator(0).permutation(len(block))
            yield block[order]


@dataclass(frozen=True)
class RealStream(BenchmarkStream):
    """A file of $NOVIKOFF_DATA as a stream.

    Attributes
    ----------
    options : dict
        Of `open_stream`.
    """

    options: dict[str, Any] = field(default_factory=dict)

    def read(self) -> Block | None:
        path = data.real_file(self.file)
        if path is None:
            return None
        if self.name == "mnist":
            return _digits()
        with nk.open_stream(path, **self.options) as reader:
            blocks = list(reader)
        return join_blocks(blocks, blocks[0].source)


def _digits() -> Block:
    split = data.digits(np.float64, quick=False)
    return SparseBlock("mnist", np.arange(len(split.y)), split.y.astype(np.float64), sp.csr_array(split.X))


STREAMS = (
    RealStream("phishing", "streams/phishing.csv.gz"),
    RealStream("elec", "streams/elec.csv.gz"),
    RealStream("sms_spam", "text/sms_spam.tsv.gz"),
    RealStream("adult", "uci/adult-train.csv.gz"),
    RealStream("spambase", "uci/spambase.data"),
    RealStream("a9a", "libsvm/a9a.gz"),
    RealStream("reuters", "libsvm/reuters.trn.bz2"),
    RealStream("mushrooms", "libsvm/mushrooms.gz"),
    RealStream("banknote", "uci/banknote_authentication.csv", is_shuffled=True),
    RealStream("ionosphere", "uci/ionosphere.csv"),
    RealStream("sonar", "uci/sonar.csv", is_shuffled=True),
    RealStream("breast-cancer-wisconsin", "uci/breast-cancer-wisconsin.csv"),
    RealStream("breast-cancer", "uci/breast-cancer.csv"),
    RealStream("house-votes", "uci/house-votes-84.csv", {"target": "ClassName"}),
    RealStream("heart", "libsvm/heart_scale.gz"),
    RealStream("news20", "libsvm/news20-multiclass.bz2", has_many_classes=True),
    RealStream("mnist", "mnist/train-images-idx3-ubyte.gz", is_shuffled=True, has_many_classes=True),
    RealStream("iris", "uci/iris.csv", is_shuffled=True, has_many_classes=True),
    RealStream(
        "20news",
        "text/20news_train.tsv.gz",
        {"target": "column 1", "drop": ["column 2"]},
        is_shuffled=True,
        has_many_classes=True,
    ),
)

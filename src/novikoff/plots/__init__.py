"""Pictures: half-spaces and their proofs in the plane, Novikoff's proof along a run, and ways down to a minimum.

The only importer of matplotlib, which comes with the extra `novikoff[plot]`. Displays follow scikit-learn's
convention: `from_...` computes and draws, `plot` draws again, artists are kept in attributes ending in `_`.
"""

from novikoff.plots.descent import DescentDisplay
from novikoff.plots.ledger import LedgerDisplay
from novikoff.plots.plane import PlaneDisplay

__all__ = ["DescentDisplay", "LedgerDisplay", "PlaneDisplay"]

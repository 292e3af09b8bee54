"""Plots: half-spaces and certificates in the plane, Novikoff's proof, and descents.

The only package that imports matplotlib, which comes with the extra "plot". Displays follow scikit-learn's
convention: `from_...` computes and draws, `plot` draws again, artists are kept in attributes ending in `_`. Nothing is
learned or proved here, and writing figures to files is done by `cli`.
"""

from novikoff.plots.descent import DescentDisplay
from novikoff.plots.ensemble import EnsembleDisplay
from novikoff.plots.ledger import LedgerDisplay
from novikoff.plots.plane import PlaneDisplay

__all__ = ["DescentDisplay", "EnsembleDisplay", "LedgerDisplay", "PlaneDisplay"]

"""Colours for colour-blind readers, markers, number formats, and new figures."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from novikoff.formatting.extras import explain_missing

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "GREY",
    "MARKERS",
    "ORANGE",
    "VERMILION",
    "escape_dollars",
    "format_label",
    "format_number",
    "halo",
    "log_axes",
    "new_axes",
]

# Okabe and Ito, "Color universal design", 2008
BLUE, ORANGE, GREEN, VERMILION, BLACK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#000000"
GREY = "#777777"

# sign: colour, marker, size that makes the markers look equally large
MARKERS = {1: (BLUE, "o", 34.0), -1: (ORANGE, "s", 28.0), 0: (GREY, "D", 24.0)}


def new_axes(columns: int, size: tuple[float, float]) -> Any:
    """Return axes side by side in a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(explain_missing("A display", "matplotlib", "plot")) from error
    return pyplot.subplots(1, columns, figsize=size, layout="constrained")[1]


def halo() -> list[Any]:
    """Return an outline that keeps text legible on top of points."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3.0, foreground="white")]


def log_axes(ax: Any, which: str) -> None:
    """Make axes logarithmic, with plain numbers at the ticks."""
    for name in which:
        getattr(ax, f"set_{name}scale")("log")
        axis = getattr(ax, f"{name}axis")
        axis.set_major_formatter(partial(_tick, axis))
        axis.set_minor_formatter(partial(_tick, axis))


def _tick(axis: Any, value: float, _: Any = None) -> str:
    """Return the label of a tick: powers of ten, and 2 and 5 times these where there are few."""
    low, high = axis.get_view_interval()
    exponent = math.floor(math.log10(value) + 1e-9)
    digit = round(value / 10.0**exponent)
    if digit not in ((1,) if high > 50.0 * low else (1, 2, 5)):
        return ""
    return f"{value:,g}" if -4 < exponent < 5 else rf"${digit} \times 10^{{{exponent}}}$".replace(r"1 \times ", "")


def format_number(value: float) -> str:
    """Format a number with three digits, or with all digits before the decimal point.

    >>> from novikoff.plots.style import format_number
    >>> format_number(1216.4), format_number(0.35149), format_number(4.14e-5)
    ('1,216', '0.351', '$4.14 \\\\times 10^{-5}$')
    """
    if value and not 1e-3 <= abs(value) < 1e7:
        mantissa, exponent = f"{value:.2e}".split("e")
        return rf"${mantissa} \times 10^{{{int(exponent)}}}$"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def escape_dollars(value: Any) -> str:
    """Escape dollar signs: matplotlib would take what is between them for a formula."""
    return str(value).replace("$", r"\$")


def format_label(value: Any) -> str:
    """Return the name of a class, with a true minus sign."""
    text = escape_dollars(value)
    return f"\u2212{text[1:]}" if text.startswith("-") else text

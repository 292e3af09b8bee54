"""Scene and Variant: points and settings that teach one fact, with the words to say about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from novikoff.studio.descents import descend
from novikoff.studio.records import RECORD_VERSION, make_record

__all__ = ["Points", "Scene", "Variant", "make_bundle"]

Points = list[list[float]]


@dataclass(frozen=True)
class Variant:
    """Points with settings, one of those that a scene compares.

    Attributes
    ----------
    label : str
        What the page calls it.
    points : callable
        Returns a list of [x1, x2, label].
    settings : dict
        Those that differ from the defaults of `Settings`.
    half_space : tuple of (w1, w2, b), optional
        A half-space to draw, whatever is learned.
    parameter : float, optional
        Where the variant is on the axis of the scene.
    loss : str, optional
        Draw how solvers descend on this loss of two weights.
    """

    label: str
    points: Callable[[], Points]
    settings: dict[str, Any] = field(default_factory=dict)
    half_space: tuple[float, float, float] | None = None
    parameter: float | None = None
    loss: str | None = None

    def record(self) -> dict[str, Any]:
        """Return the record of this variant."""
        made = make_record(self.points(), self.settings)
        if self.half_space is not None:
            made["half_space"] = {"w": list(self.half_space[:2]), "b": self.half_space[2]}
        if self.loss is not None:
            made["descent"] = descend(self.points(), self.loss)
        return made


@dataclass(frozen=True)
class Scene:
    """What one page teaches.

    Attributes
    ----------
    name, title, text : str
        Its name in addresses and commands, its heading, and what to look at.
    variants : tuple of Variant
        The first is shown first.
    panels : tuple of str
        The panels to open below the plane.
    axis : str
        What the parameters of the variants are; empty if they have none.
    question : str
        What to guess before the run is played; the answer is whether it converges.
    """

    name: str
    title: str
    text: str
    variants: tuple[Variant, ...]
    panels: tuple[str, ...] = ("squeeze", "ledger", "verdict")
    axis: str = ""
    question: str = "Will the perceptron stop making mistakes?"


def make_bundle(scene: Scene) -> dict[str, Any]:
    """Return all records of a scene, with its words: what a page needs to show it."""
    return {
        "v": RECORD_VERSION,
        "scene": {
            "name": scene.name,
            "title": scene.title,
            "text": scene.text,
            "panels": list(scene.panels),
            "axis": scene.axis,
            "question": scene.question,
        },
        "variants": [
            {"label": variant.label, "parameter": variant.parameter, "record": variant.record()}
            for variant in scene.variants
        ],
    }

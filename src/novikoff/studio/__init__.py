"""The studio: a page that draws a run of the perceptron, the verdict about its points, and the proof with its numbers.

    points + settings  ->  record (JSON, made here)  ->  player (static/, drawn in a browser)

All that is learned or proved is computed here, by the learners and certificates of the package; the page draws records,
and checks the certificate in them by exact arithmetic of its own. A page for one record needs no server, and no package
but novikoff; `novikoff studio` serves the page for points that change and for files, with the extra "studio".
"""

from __future__ import annotations

from novikoff.studio.records import make_record
from novikoff.studio.scene import Scene
from novikoff.studio.scenes import SCENES
from novikoff.studio.settings import Settings

__all__ = ["SCENES", "Scene", "Settings", "make_record"]

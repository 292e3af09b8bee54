"""Lessons: a teacher's list of scenes, with a text and a question for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from novikoff.errors import DataError
from novikoff.studio.scenes import find_scene

__all__ = ["Lesson", "LessonStep", "read_lesson"]


@dataclass(frozen=True)
class LessonStep:
    """A scene, which of its variants to show first, and the teacher's words."""

    scene: str
    variant: int = 0
    text: str = ""
    question: str = ""


@dataclass(frozen=True)
class Lesson:
    """A title, and steps to go through."""

    title: str
    steps: tuple[LessonStep, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the lesson as a JSON object."""
        return {"title": self.title, "steps": [asdict(step) for step in self.steps]}


def read_lesson(path: Path) -> Lesson:
    """Read a lesson from a JSON file, or raise a DataError that says what is wrong with it.

    The file holds `{"title": "...", "steps": [{"scene": "xor", "variant": 0, "text": "...", "question": "..."}]}`.
    All but `steps` and the scenes may be left out.
    """
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: this is not UTF-8 text, at byte {error.start}.") from error
    if not isinstance(given, Mapping) or not isinstance(given.get("steps"), list) or not given["steps"]:
        raise DataError(
            f'{path}: a lesson is an object with a list of "steps", such as {{"steps": [{{"scene": "xor"}}]}}.'
        )
    unknown = sorted(set(given) - {"title", "steps"})
    if unknown:
        raise DataError(f"{path}: a lesson has no {unknown[0]!r}, only title and steps.")
    steps = tuple(_read_step(path, number, step) for number, step in enumerate(given["steps"], start=1))
    return Lesson(str(given.get("title", path.stem)), steps)


def _read_step(path: Path, number: int, given: Any) -> LessonStep:
    where = f"{path}, step {number}"
    if not isinstance(given, Mapping) or not isinstance(given.get("scene"), str):
        raise DataError(f'{where}: a step is an object with a "scene".')
    unknown = sorted(set(given) - {"scene", "variant", "text", "question"})
    if unknown:
        raise DataError(f"{where}: a step has no {unknown[0]!r}, only scene, variant, text and question.")
    try:
        scene = find_scene(given["scene"])
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    variant = given.get("variant", 0)
    if isinstance(variant, bool) or not isinstance(variant, int) or not 0 <= variant < len(scene.variants):
        raise DataError(f"{where}: variant should be from 0 to {len(scene.variants) - 1}, found {variant!r}.")
    return LessonStep(scene.name, variant, str(given.get("text", "")), str(given.get("question", "")))

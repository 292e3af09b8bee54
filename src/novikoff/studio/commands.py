"""The Python, and the command line, that repeat what is on the page."""

from __future__ import annotations

from typing import Any

from novikoff.studio.settings import PlanePoints, Settings

__all__ = ["reproduce"]

_DEFAULTS = Settings()


def reproduce(points: PlanePoints, settings: Settings) -> dict[str, str]:
    """Return `python`, a script that certifies and learns as the record says, and `command`, for a CSV of the points.

    >>> from novikoff.studio.settings import PlanePoints, Settings
    >>> points = PlanePoints.from_json([[0, 1, 1], [1, 0, -1]])
    >>> print(reproduce(points, Settings())["command"])
    novikoff certify points.csv --target y
    """
    return {"python": _python(points, settings), "command": _command(settings)}


def _python(points: PlanePoints, settings: Settings) -> str:
    listed = points.to_json()
    rows = ", ".join(f"[{x1!r}, {x2!r}]" for x1, x2, _ in listed)
    labels = ", ".join(str(label) for _, _, label in listed)
    kernel = _kernel_arguments(settings)
    lines = ["import novikoff as nk", "", f"X = [{rows}]", f"y = [{labels}]", ""]
    lines.append(f"print(nk.certify(X, y{_join(_certify_arguments(settings) | kernel)}))")
    name = "KernelPerceptron" if settings.is_curved else "Perceptron"
    options = _learner_arguments(settings) | kernel
    lines.append(f"clf = nk.{name}({_join(options)[2:]}).fit(X, y)")
    lines.append("print(clf.ledger_)")
    return "\n".join(lines) + "\n"


def _certify_arguments(settings: Settings) -> dict[str, Any]:
    return {} if settings.fit_intercept or settings.is_curved else {"fit_intercept": False}


def _kernel_arguments(settings: Settings) -> dict[str, Any]:
    if not settings.is_curved:
        return {}
    shape = {"degree": settings.degree, "gamma": settings.gamma, "coef0": settings.coef0}
    return {"kernel": settings.kernel} | (shape if settings.kernel == "poly" else {"gamma": settings.gamma})


def _learner_arguments(settings: Settings) -> dict[str, Any]:
    names = ("hypothesis", "ties", "order")
    found: dict[str, Any] = {
        name: getattr(settings, name) for name in names if getattr(settings, name) != getattr(_DEFAULTS, name)
    }
    if not settings.is_curved and not settings.fit_intercept:
        found["fit_intercept"] = False
    if settings.rule == "margin":
        found["rule"] = _Source(f"nk.rules.Margin(beta={settings.beta!r})")
    elif settings.rule != "perceptron":
        found["rule"] = settings.rule
    if settings.order in ("shuffled", "random"):
        found["random_state"] = settings.seed
    return found | {"max_iter": settings.passes}


class _Source(str):
    """Python source, which is printed as it is."""

    def __repr__(self) -> str:
        return str(self)


def _join(arguments: dict[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in arguments.items())


def _command(settings: Settings) -> str:
    words = ["novikoff certify points.csv --target y"]
    if settings.is_curved:
        words.append(f"--kernel {settings.kernel}")
        if settings.kernel == "poly":
            words.append(f"--degree {settings.degree} --coef0 {settings.coef0:g}")
        words.append(f"--gamma {settings.gamma:g}")
    elif not settings.fit_intercept:
        words.append("--no-intercept")
    return " ".join(words)

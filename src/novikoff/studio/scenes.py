"""The scenes of the studio."""

from __future__ import annotations

from collections.abc import Callable

from novikoff.errors import DataError
from novikoff.studio import clouds
from novikoff.studio.scene import Points, Scene, Variant

__all__ = ["SCENES", "find_scene"]


def _fixed(*points: list[float]) -> Callable[[], Points]:
    return lambda: [list(point) for point in points]


def _scaled(factor: float, points: Points) -> Callable[[], Points]:
    return lambda: [[factor * x1, factor * x2, label] for x1, x2, label in points]


def _moved(by: float, points: Points) -> Callable[[], Points]:
    return lambda: [[x1 + by, x2 + by, label] for x1, x2, label in points]


_NO_BIAS = {"fit_intercept": False}
_XOR = _fixed([0, 0, -1], [0, 1, 1], [1, 0, 1], [1, 1, -1])
_SCALING: Points = [[2, 1, 1], [1, 2, 1], [0, 0, -1], [1, 0, -1]]
_DIAMOND: Points = [[-1, 0, -1], [0, -1, -1], [1, 0, 1], [0, 1, 1]]
_THROUGH_ORIGIN: Points = [point for point in _SCALING if point[:2] != [0, 0]]


def _nearly(gap: float) -> Variant:
    points = _fixed([0, 0, 1], [2, 2, 1], [1, 1 - gap, -1], [3, 3 - gap, -1])
    return Variant(f"{gap:g}", points, {"passes": 5000}, parameter=gap)


_ALL = (
    Scene(
        "cmu",
        "Six examples, three mistakes",
        "The examples come one at a time: press Home, and → for each. On a mistake the perceptron adds y·x to its "
        "weights w, and the boundary, which is perpendicular to w, turns. There is no bias, so it always passes "
        "through the origin. The third mistake is a tie: the score is exactly 0.",
        (
            Variant(
                "worked example",
                _fixed([-1, 2, -1], [1, 0, 1], [1, 1, 1], [-1, 0, -1], [-1, -2, -1], [1, -1, 1]),
                _NO_BIAS,
            ),
        ),
        ("squeeze", "proof", "ledger", "verdict", "weights", "teachers", "votes"),
    ),
    Scene(
        "halfspace",
        "The half-space 2x₁ + 3x₂ + 6 > 0",
        "The dashed line is the boundary 2x₁ + 3x₂ + 6 = 0, which is not part of the region. Its normal vector w = "
        "(2, 3) points into the region, and the line is 6/√13 ≈ 1.66 from the origin, on the side away from w. The "
        "points are labelled by the region, and the perceptron learns a line of its own from them.",
        (
            Variant(
                "labelled by the region",
                _fixed([-4, 1, 1], [-3, -1, -1], [1, -3, -1], [0, -1, 1], [-5, 0, -1], [2, -3, 1], [-2, 2, 1]),
                half_space=(2.0, 3.0, 6.0),
            ),
        ),
    ),
    Scene(
        "xor",
        "XOR: no line does it",
        "No line has both + on one side and both − on the other. The proof needs no picture: each of the four points, "
        "times its label and the multiplier 1, adds up to exactly 0, the constant coordinate included. Any w would "
        "need a positive product with each of them, and hence with their sum. The hulls of the two classes meet at "
        "(½, ½). With a curved boundary, the kernel (⟨x, z⟩ + 1)², the same points are separable.",
        (
            Variant("a line", _XOR, {"passes": 25}),
            Variant("a curve", _XOR, {"passes": 100, "kernel": "poly", "degree": 2}),
        ),
        ("verdict", "ledger", "squeeze", "proof"),
    ),
    Scene(
        "nobias",
        "Why a bias?",
        "Both points lie on one ray from the origin. A line through the origin has all of a ray on one side, so "
        "without a bias no line separates them: 2·(1,1) − (2,2) = 0. With a bias the line may leave the origin.",
        (
            Variant("without a bias", _fixed([1, 1, 1], [2, 2, -1]), _NO_BIAS | {"passes": 25}),
            Variant("with a bias", _fixed([1, 1, 1], [2, 2, -1])),
        ),
        ("verdict", "ledger", "squeeze", "weights"),
    ),
    Scene(
        "scaling",
        "What if all points are scaled?",
        "Without a bias, multiplying all points by a constant changes nothing: every score is multiplied by a "
        "positive number, and no sign changes. With a bias the constant coordinate stays 1, so the data become "
        "another problem: 4803 mistakes, 6, or 4.",
        (
            Variant("× 0.01, bias", _scaled(0.01, _SCALING), {"passes": 5000}),
            Variant("× 1, bias", _scaled(1, _SCALING)),
            Variant("× 100, bias", _scaled(100, _SCALING)),
            Variant("× 0.01, no bias", _scaled(0.01, _THROUGH_ORIGIN), _NO_BIAS),
            Variant("× 100, no bias", _scaled(100, _THROUGH_ORIGIN), _NO_BIAS),
        ),
        ("ledger", "squeeze", "verdict", "proof"),
    ),
    Scene(
        "radius",
        "The radius is measured from the origin",
        "The bound (R/γ)² takes R as the length of the longest vector, from the origin, with the constant coordinate "
        "1. It is not the size of the cloud. Moving the same diamond of points away from the origin leaves its shape, "
        "and makes the perceptron err hundreds of times as often.",
        (
            Variant("at the origin", _moved(0, _DIAMOND), parameter=None),
            Variant("moved by (2, 2)", _moved(2, _DIAMOND), {"passes": 5000}),
            Variant("moved by (4, 4)", _moved(4, _DIAMOND), {"passes": 5000}),
        ),
        ("verdict", "squeeze", "ledger", "proof"),
    ),
    Scene(
        "nearly",
        "Nearly inseparable",
        "The gap between two rows of points closes. The margin γ falls with it, and the bound (R/γ)² rises like "
        "1/gap²: ten times closer, up to a hundred times as many mistakes.",
        tuple(_nearly(gap) for gap in (1.0, 0.5, 0.2, 0.1, 0.05)),
        ("across", "ledger", "squeeze", "verdict"),
        "gap",
    ),
    Scene(
        "outlier",
        "One outlier",
        "A single point on the wrong side makes the data inseparable, and the bound (R/γ)² is gone. A theorem of "
        "Freund and Schapire still bounds the mistakes of one pass: by ((R + D)/γ)² for every direction and every γ, "
        "where D measures by how much the points fall short of the margin γ.",
        (
            Variant("with the outlier", lambda: clouds.two_groups(outlier=True), {"passes": 10}),
            Variant("without", lambda: clouds.two_groups(outlier=False)),
        ),
        ("verdict", "ledger", "squeeze"),
    ),
    Scene(
        "noise",
        "Voted, averaged, last: three answers of one run",
        "Where labels are noisy, the last weights depend on the last mistake. A vote of all weight vectors, each "
        "counted as often as the number of examples it survived, is steadier, and so is their average.",
        (Variant("noise", clouds.noisy_line, {"passes": 3, "hypothesis": "voted"}),),
        ("votes", "ledger", "teachers", "verdict"),
    ),
    Scene(
        "moons",
        "Two moons: a kernel bends the boundary",
        "No line separates the two crescents. With the kernel exp(−γ|x − z|²) the perceptron runs in another space, "
        "where a half-space is a curve of the plane. The theorem is the same there, and so is its proof.",
        (
            Variant("kernel rbf", clouds.moons, {"kernel": "rbf", "gamma": 2.0}),
            Variant("a line", clouds.moons, {"passes": 10}),
        ),
        ("squeeze", "ledger", "verdict", "teachers"),
    ),
    Scene(
        "circles",
        "Two circles: a conic does it",
        "The inner points are one class, the outer points the other. The kernel (⟨x, z⟩ + 1)² has a coordinate for "
        "each of x₁², x₁x₂ and x₂², so that a half-space of its feature space is the inside of a conic.",
        (
            Variant("kernel poly, degree 2", clouds.circles, {"kernel": "poly", "degree": 2}),
            Variant("a line", clouds.circles, {"passes": 10}),
        ),
        ("squeeze", "ledger", "verdict", "teachers"),
    ),
    Scene(
        "cases",
        "Four cases of separability",
        "A line through the origin is enough; a line is, but not one through the origin; the hulls of the two classes "
        "overlap, and no line does it; the hulls touch in one point, and that is too much already.",
        (
            Variant("1. through the origin", _fixed([2, 1, 1], [1, 2, 1], [-1, -2, -1], [-2, -1, -1]), _NO_BIAS),
            Variant("2. with a bias", _fixed([1, 2, 1], [2, 3, 1], [1, 0.5, -1], [2, 1, -1])),
            Variant(
                "3. hulls overlap", _fixed([0, 0, 1], [3, 0, 1], [1, 3, 1], [1, 1, -1], [3, 3, -1]), {"passes": 25}
            ),
            Variant("4. hulls touch", _fixed([0, 0, 1], [2, 0, 1], [1, 0, -1], [1, 2, -1]), {"passes": 25}),
        ),
        ("verdict", "ledger", "squeeze", "proof"),
    ),
    Scene(
        "descent",
        "Four ways down a loss",
        "The contours are the mean squared error of ⟨w, x⟩ against the labels ±1, for the two weights of w. Gradient "
        "descent follows the slope, Newton's method jumps to the minimum of the parabola, and the stochastic methods "
        "take a step for each example, on noisy slopes.",
        (Variant("squared loss", clouds.long_valley, _NO_BIAS | {"passes": 10}, loss="squared"),),
        ("descent", "verdict", "ledger"),
    ),
)

SCENES: dict[str, Scene] = {scene.name: scene for scene in _ALL}


def find_scene(name: str) -> Scene:
    """Return the scene of this name, or raise a DataError that lists the names."""
    if name not in SCENES:
        raise DataError(f"There is no scene {name!r}. The scenes are {', '.join(SCENES)}.")
    return SCENES[name]

"""Every figure of these tests is rendered and closed."""

import matplotlib
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _render_and_close_figures():
    """Render every figure of pyplot: some mistakes only show then."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")

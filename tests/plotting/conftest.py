"""Pictures are drawn without a screen, and figures are closed."""

import pytest

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def _without_a_screen():
    from matplotlib import pyplot

    before = matplotlib.get_backend()
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")
    if before.lower() != "agg":
        pyplot.switch_backend(before)


@pytest.fixture
def without(monkeypatch):
    """Make a package look as if it were not installed."""
    import sys

    def hide(*names):
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return hide

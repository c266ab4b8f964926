"""An empty figure that belongs to no window."""

from __future__ import annotations

from typing import Any

from propkernels.utils.optional import import_optional


def new_figure(width: float, height: float) -> Any:
    """Return a matplotlib figure, or say what to install."""
    matplotlib = import_optional("matplotlib.figure", extra="plot", purpose="figures need")
    agg = import_optional("matplotlib.backends.backend_agg", extra="plot", purpose="figures need")
    figure = matplotlib.Figure(figsize=(width, height), layout="constrained")
    agg.FigureCanvasAgg(figure)
    return figure

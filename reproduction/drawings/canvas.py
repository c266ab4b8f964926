"""An empty figure that belongs to no window."""

from __future__ import annotations

from typing import Any


def new_figure(width: float, height: float) -> Any:
    """Return a matplotlib figure, or say what to install."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'propkernels[plot]'") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure

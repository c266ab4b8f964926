"""Explorer: one HTML file with a map of a data set and its model, which works offline."""

from propkernels.explorer.exploration import Exploration
from propkernels.explorer.explore import explore

__all__ = ["Exploration", "explore"]

"""The explorer: a data set, its map and its model in one HTML file that works offline."""

from propkernels.explorer.exploration import Exploration
from propkernels.explorer.explore import explore

__all__ = ["Exploration", "explore"]

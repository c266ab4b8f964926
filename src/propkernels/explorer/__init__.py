"""The explorer: a data set, its map and its model in one HTML file that works offline."""

from propkernels.explorer.explore import explore
from propkernels.explorer.page import Exploration

__all__ = ["Exploration", "explore"]

"""DIGITS: scikit-learn's handwritten digits as small pixel grids."""

from __future__ import annotations

from propkernels.datasets.dataset import Dataset
from propkernels.datasets.grid import grid_graphs, quantize

BRIGHTEST = 16


def load_digits_grids(n_levels: int = 4) -> Dataset:
    """Load 1,797 handwritten digits of 8 x 8 pixels, each a grid graph.

    Parameters
    ----------
    n_levels : int, default 4
        Number of grey levels, the node labels.

    Returns
    -------
    Dataset
        Ten classes, the digits; ``extras["images"]`` are the pictures, with intensities from 0 to 16.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    graphs = grid_graphs(quantize(digits.images, n_levels, BRIGHTEST))
    description = (
        "Handwritten digits of scikit-learn (UCI optical recognition, test part): 8 x 8 pixels, "
        f"each joined to its four neighbours and labelled by one of {n_levels} grey levels."
    )
    names = tuple(map(str, digits.target_names))
    return Dataset(
        "DIGITS", graphs, digits.target.astype("int64"), names, {"images": list(digits.images)}, description
    )

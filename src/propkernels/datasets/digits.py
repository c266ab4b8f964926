"""DIGITS: scikit-learn's handwritten digits as grid graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.datasets.dataset import Dataset
from propkernels.datasets.tu_reader import undirected
from propkernels.graphs import GraphDatabase


def quantize(images: NDArray[Any], n_levels: int, brightest: float) -> NDArray[np.int64]:
    """Return gray levels 0, ..., n_levels - 1 of equal width for intensities from 0 to ``brightest``.

    Examples
    --------
    >>> quantize(np.array([0, 5, 11, 16]), n_levels=4, brightest=16)
    array([0, 1, 2, 3])
    """
    levels = np.floor(np.asarray(images) * (n_levels / brightest)).astype(np.int64)
    return np.clip(levels, 0, n_levels - 1)


def grid_graphs(levels: NDArray[np.int64]) -> GraphDatabase:
    """Return one grid graph per image.

    Parameters
    ----------
    levels : ndarray of int, shape (images, height, width)
        Label of each pixel.

    Returns
    -------
    GraphDatabase
        Nodes in row-major order of the pixels.
    """
    n_images, height, width = levels.shape
    adjacency = repeat_diagonal(grid_adjacency(height, width), n_images)
    graph_ptr = np.arange(n_images + 1) * (height * width)
    return GraphDatabase(adjacency, graph_ptr, node_labels=levels.ravel())


def grid_adjacency(height: int, width: int) -> csr_array:
    """Return the adjacency of a grid: each pixel has edges to its left, right, upper and lower neighbor."""
    pixels = np.arange(height * width).reshape(height, width)
    across = np.stack([pixels[:, :-1].ravel(), pixels[:, 1:].ravel()], axis=1)
    down = np.stack([pixels[:-1].ravel(), pixels[1:].ravel()], axis=1)
    return undirected(np.concatenate([across, down]), height * width)


def repeat_diagonal(block: csr_array, times: int) -> csr_array:
    """Return the block-diagonal matrix of ``times`` equal blocks."""
    n, entries = block.shape[0], block.nnz
    starts = np.arange(times, dtype=np.int64)[:, None]
    indices = (block.indices + starts * n).ravel()
    indptr = np.append((block.indptr[:-1] + starts * entries).ravel(), times * entries)
    return csr_array((np.tile(block.data, times), indices, indptr), shape=(times * n, times * n))


BRIGHTEST = 16


def load_digits_grids(n_levels: int = 4) -> Dataset:
    """Load 1,797 handwritten digits of 8 x 8 pixels, each a grid graph.

    Parameters
    ----------
    n_levels : int, default 4
        Number of gray levels, which are the node labels.

    Returns
    -------
    Dataset
        One class per digit; ``extras["images"]`` are the images, with intensities from 0 to 16.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    graphs = grid_graphs(quantize(digits.images, n_levels, BRIGHTEST))
    description = (
        "Handwritten digits of scikit-learn (UCI optical recognition, test part): 8 x 8 pixels, "
        f"each joined to its four neighbors and labeled by one of {n_levels} gray levels."
    )
    names = tuple(map(str, digits.target_names))
    return Dataset(
        "DIGITS", graphs, digits.target.astype("int64"), names, {"images": list(digits.images)}, description
    )

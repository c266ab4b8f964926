"""Random graphs of many sizes, and their copies on a device."""

import numpy as np

import propkernels as pk
from propkernels.gpu.runtime import DeviceGraphs


def many_graphs(sizes, seed=0, weighted=False, directed=False):
    """Random sparse graphs of given sizes, some without edges."""
    rng = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        density = min(1.0, 3.0 / max(size, 1)) * (rng.random() > 0.1)
        matrix = rng.random((size, size)) * (rng.random((size, size)) < density)
        matrix = np.triu(matrix, 1)
        matrix = matrix if directed else matrix + matrix.T
        blocks.append((matrix if weighted else (matrix > 0) * 1.0, rng.integers(0, 4, size).tolist()))
    return pk.check_graphs(blocks)


SIZES = {
    "molecules": [int(size) for size in np.random.default_rng(1).integers(1, 41, 60)],
    "mixed": [5, 170, 3, 0, 0, 319, 320, 321, 900, 1, 2, 160, 161],
    "large": [700, 400],
    "tiny": [1] * 900,
    "empty": [0, 0],
}


def on_device(runtime, graphs, adjacency=None):
    adjacency = graphs.adjacency if adjacency is None else adjacency
    weights = None if (adjacency.data == 1).all() else runtime.to_device(adjacency.data)
    arrays = (adjacency.indptr.astype(np.int32), adjacency.indices.astype(np.int32))
    there = (runtime.to_device(array) for array in arrays)
    return DeviceGraphs(runtime, graphs.graph_ptr.astype(np.int64), *there, weights)

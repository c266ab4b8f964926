"""Random graphs of many sizes."""

import numpy as np

import propkernels as pk


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

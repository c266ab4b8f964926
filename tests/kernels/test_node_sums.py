"""Node kernels and their sums over paths, against numpy."""

import numpy as np

from propkernels._core import (
    dot_products,
    equal_length_sums,
    squared_distances,
    sum_blocks,
)

GENERATOR = np.random.default_rng(0)
PTR, PTR2 = np.array([0, 2, 2, 5]), np.array([0, 3, 4])


def test_node_kernels():
    x, y = GENERATOR.integers(-3, 4, (5, 2)).astype(float), GENERATOR.integers(-3, 4, (4, 2)).astype(float)
    out = np.empty((5, 4))
    squared_distances(x, np.ascontiguousarray(y.T), out)
    np.testing.assert_array_equal(out, ((x[:, None] - y[None]) ** 2).sum(axis=2))
    dot_products(x, np.ascontiguousarray(y.T), out)
    np.testing.assert_array_equal(out, x @ y.T)


def test_sums_of_blocks():
    values, out = GENERATOR.integers(0, 9, (5, 4)).astype(float), np.empty((3, 2))
    sum_blocks(values, PTR, PTR2, out)
    expected = [[values[a:b, c:d].sum() for c, d in ((0, 3), (3, 4))] for a, b in ((0, 2), (2, 2), (2, 5))]
    np.testing.assert_array_equal(out, expected)


def test_sums_over_paths_of_equal_length():
    nodes = GENERATOR.integers(0, 3, (5, 4)).astype(float)
    pair_ptr, pair_ptr2 = np.array([0, 4, 4, 13]), np.array([0, 9, 10])
    lengths, lengths2 = GENERATOR.integers(0, 4, 13), GENERATOR.integers(0, 4, 10)
    out = np.empty((3, 2))
    equal_length_sums(nodes, PTR, pair_ptr, lengths, PTR2, pair_ptr2, lengths2, 3, out)
    for i in range(3):
        n, a = PTR[i + 1] - PTR[i], PTR[i]
        for j in range(2):
            m, b = PTR2[j + 1] - PTR2[j], PTR2[j]
            total = 0.0
            for u, v in np.ndindex(n, n):
                for x, y in np.ndindex(m, m):
                    one, other = lengths[pair_ptr[i] + u * n + v], lengths2[pair_ptr2[j] + x * m + y]
                    if one == other < 3:
                        total += nodes[a + u, b + x] * nodes[a + v, b + y]
            assert out[i, j] == total

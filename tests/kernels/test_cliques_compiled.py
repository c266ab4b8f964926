"""Cliques of product graphs against lists of all common subgraphs."""

import numpy as np
import pytest

from propkernels.kernels.cliques_compiled import Side, _count_bits, _lowest_bit, match_subgraphs
from tests.kernels.common_subgraphs import all_matches

pytestmark = pytest.mark.compiled
GENERATOR = np.random.default_rng(0)


def symmetric(n, kinds):
    upper = np.triu(GENERATOR.integers(0, kinds + 1, (n, n)), 1)
    return (upper + upper.T).astype(np.uint64)


@pytest.mark.slow
@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("all_one", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_cliques_are_common_subgraphs(connected, all_one, k):
    sizes, sizes2 = (3, 9), (8, 2)
    edges, edges2 = [symmetric(n, 2) for n in sizes], [symmetric(n, 2) for n in sizes2]
    nodes = GENERATOR.integers(0, 2 if all_one else 3, (12, 10)).astype(float)
    sides = []
    for matrices in (edges, edges2):
        ptr = np.cumsum([0, *map(len, matrices)])
        pair_ptr = np.cumsum([0, *(matrix.size for matrix in matrices)])
        sides.append(Side(ptr, pair_ptr, np.concatenate([matrix.ravel() for matrix in matrices])))
    out = np.empty((k, 2, 2))
    match_subgraphs(nodes, *sides, k, connected, all_one, out)
    for i, j in np.ndindex(2, 2):
        a, b = sides[0].ptr[i], sides[1].ptr[j]
        block = nodes[a : a + sizes[i], b : b + sizes2[j]]
        np.testing.assert_array_equal(out[:, i, j], all_matches(block, edges[i], edges2[j], k, connected))


def test_bits():
    for x in (1, 2, 40, 2**63, 2**64 - 1, 0xF0F0 << 40):
        assert _count_bits(np.uint64(x)) == x.bit_count()
        assert _lowest_bit(np.uint64(x)) == (x & -x).bit_length() - 1

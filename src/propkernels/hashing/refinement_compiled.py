"""Compiled loops of multiset hashing: plain arrays in and out, no objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels.utils.jit import compiled
from propkernels.utils.mixing import mix_other, mix_word


@compiled(cache=False)
def _sum_neighbors(indptr: Any, indices: Any, i: int, first: int, mixed: Any) -> Any:
    total = np.uint64(0)
    for entry in range(indptr[i], indptr[i + 1]):
        total += mixed[indices[entry] - first]
    return total


@compiled(cache=False)
def _sum_labeled(indptr: Any, indices: Any, edge_keys: Any, i: int, first: int, mixed: Any) -> Any:
    total = np.uint64(0)
    for entry in range(indptr[i], indptr[i + 1]):
        total += mix_word(mixed[indices[entry] - first] ^ edge_keys[entry])
    return total


@compiled
def refine(indptr: Any, indices: Any, edge_keys: Any, blocks: Any, codes: Any) -> None:
    """Weisfeiler-Lehman steps on 64-bit codes, block by block; row 0 of ``codes`` is given.

    A node's next code is mix(own code, sum over neighbors of mix'(their code, edge key)) with wraparound.
    The sum does not depend on the order of neighbors. Empty ``edge_keys``: edges are alike.
    """
    largest = 0
    for block in range(len(blocks) - 1):
        largest = max(largest, blocks[block + 1] - blocks[block])
    mixed = np.empty(largest, dtype=np.uint64)
    for block in range(len(blocks) - 1):
        first, last = blocks[block], blocks[block + 1]
        # Row t of ``codes`` is final for the whole block before row t + 1 is begun; ``mixed`` holds
        # mix_other of row t - 1, so that each node is mixed once and not once per neighbor.
        for t in range(1, codes.shape[0]):
            for i in range(first, last):
                mixed[i - first] = mix_other(codes[t - 1, i])
            if len(edge_keys) == 0:
                for i in range(first, last):
                    total = _sum_neighbors(indptr, indices, i, first, mixed)
                    codes[t, i] = mix_word(mix_word(codes[t - 1, i]) + total)
            else:
                for i in range(first, last):
                    total = _sum_labeled(indptr, indices, edge_keys, i, first, mixed)
                    codes[t, i] = mix_word(mix_word(codes[t - 1, i]) + total)

"""Compiled loops of multiset hashing: plain arrays in and out, no objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_OTHER = np.uint64(0xD6E8FEB86659FD93)


@njit(nogil=True)
def mix_word(word: Any) -> Any:
    """Spread a 64-bit word over all words, splitmix64 fashion; a bijection."""
    z = word + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@njit(nogil=True)
def mix_other(word: Any) -> Any:
    """Spread a word in another way, so that a node and its neighbours never play the same part."""
    z = (word ^ (word >> np.uint64(32))) * _OTHER
    z = (z ^ (z >> np.uint64(32))) * _OTHER
    return z ^ (z >> np.uint64(32))


@njit(nogil=True)
def _sum_neighbours(indptr: Any, indices: Any, i: int, first: int, mixed: Any) -> Any:
    total = np.uint64(0)
    for entry in range(indptr[i], indptr[i + 1]):
        total += mixed[indices[entry] - first]
    return total


@njit(nogil=True)
def _sum_labelled(indptr: Any, indices: Any, edge_keys: Any, i: int, first: int, mixed: Any) -> Any:
    total = np.uint64(0)
    for entry in range(indptr[i], indptr[i + 1]):
        total += mix_word(mixed[indices[entry] - first] ^ edge_keys[entry])
    return total


@njit(cache=True, nogil=True)
def refine(indptr: Any, indices: Any, edge_keys: Any, blocks: Any, codes: Any) -> None:
    """Weisfeiler-Lehman steps on 64-bit codes, block by block; row 0 of ``codes`` is given.

    A node's next code is mix(own code, sum over neighbours of mix'(their code, edge key)) with wraparound.
    The sum does not depend on the order of neighbours. Empty ``edge_keys``: edges are alike.
    """
    largest = 0
    for block in range(len(blocks) - 1):
        largest = max(largest, blocks[block + 1] - blocks[block])
    mixed = np.empty(largest, dtype=np.uint64)
    for block in range(len(blocks) - 1):
        first, last = blocks[block], blocks[block + 1]
        for t in range(1, codes.shape[0]):
            for i in range(first, last):
                mixed[i - first] = mix_other(codes[t - 1, i])
            if len(edge_keys) == 0:
                for i in range(first, last):
                    total = _sum_neighbours(indptr, indices, i, first, mixed)
                    codes[t, i] = mix_word(mix_word(codes[t - 1, i]) + total)
            else:
                for i in range(first, last):
                    total = _sum_labelled(indptr, indices, edge_keys, i, first, mixed)
                    codes[t, i] = mix_word(mix_word(codes[t - 1, i]) + total)

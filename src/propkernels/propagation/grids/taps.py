"""Taps of a filter, arranged so that sums come out alike when an image is turned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Offset = tuple[int, ...]


class Taps(NamedTuple):
    """The taps of one or several filters that are applied one after the other, as compiled loops take them.

    Attributes
    ----------
    offsets : ndarray of int64, (taps, d)
        Where each tap listens, relative to the pixel.
    group_ptr : ndarray of int64, (groups + 1,)
        Groups of 1, 2, 4 or 8 taps with the same weight. They are added up as a balanced tree, opposite
        taps first: floating-point addition commutes, so a quarter turn of the image, which only exchanges
        branches of the tree, does not change a single bit of the sum.
    weights : ndarray, (groups,)
    stage_ptr : ndarray of int64, (stages + 1,)
        Groups of each filter; a separable filter has one stage an axis.
    radius : ndarray of int64, (d,)
        How far taps reach along each axis.
    """

    offsets: NDArray[np.int64]
    group_ptr: NDArray[np.int64]
    weights: NDArray[np.float64]
    stage_ptr: NDArray[np.int64]
    radius: NDArray[np.int64]


def arrange_taps(stages: list[NDArray[np.float64]]) -> Taps:
    """Arrange the taps of filters that are applied one after the other."""
    groups = [_groups(weights) for weights in stages]
    listed = [group for stage in groups for group, _ in stage]
    offsets = np.array([offset for group in listed for offset in group], dtype=np.int64)
    return Taps(
        offsets.reshape(-1, stages[0].ndim),
        np.cumsum([0, *map(len, listed)]).astype(np.int64),
        np.array([weight for stage in groups for _, weight in stage]),
        np.cumsum([0, *map(len, groups)]).astype(np.int64),
        np.max([np.array(weights.shape) // 2 for weights in stages], axis=0).astype(np.int64),
    )


def _groups(weights: NDArray[np.float64]) -> list[tuple[list[Offset], float]]:
    """Take the taps from the center outwards, each with those that a symmetry of the square sends it to."""
    center = np.array(weights.shape) // 2
    left = {tuple(int(i) for i in tap - center): float(weights[tuple(tap)]) for tap in np.argwhere(weights)}
    groups = []
    while left:
        tap = min(left, key=lambda offset: (sum(i * i for i in offset), sorted(map(abs, offset)), offset))
        weight = left[tap]
        group = next(
            family
            for family in families(tap)
            if len(set(family)) == len(family) and all(left.get(other) == weight for other in family)
        )
        for other in group:
            del left[other]
        groups.append((group, weight))
    return groups


def families(offset: Offset) -> list[list[Offset]]:
    """Candidates for the group of a tap, the largest first; opposite taps stand side by side."""
    opposite = tuple(-i for i in offset)
    smaller = [[offset, opposite], [offset]]
    if len(offset) != 2:
        return smaller
    turned = _turns(offset)
    mirrored = _turns((offset[1], offset[0]))
    return [turned + mirrored, turned, *smaller]


def _turns(offset: Offset) -> list[Offset]:
    """The offset, its opposite, and both after a quarter turn."""
    y, x = offset
    return [(y, x), (-y, -x), (x, -y), (-x, y)]


def separate(weights: NDArray[np.float64]) -> list[NDArray[np.float64]] | None:
    """Write a filter as the product of one filter an axis, or return None where it is no such product."""
    total = weights.sum()
    stages = []
    product = np.ones(())
    for axis in range(weights.ndim):
        others = tuple(a for a in range(weights.ndim) if a != axis)
        line = weights.sum(axis=others) / (total if axis else 1.0)
        stages.append(line.reshape([-1 if a == axis else 1 for a in range(weights.ndim)]))
        product = np.multiply.outer(product, line)
    same = np.allclose(product, weights, rtol=1e-13, atol=0.0)
    return stages if same and weights.ndim > 1 else None

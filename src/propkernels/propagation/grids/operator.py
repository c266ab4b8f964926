"""Convolution of grids, by sums or by Fourier transforms; taps of a filter, arranged so that turns agree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.grids.database import GridDatabase
from propkernels.graphs.grids.neighborhoods import BOUNDARIES

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
        Groups of each filter; a separable filter has one stage per axis.
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
    """Write a filter as the product of one filter per axis, or return None where it is not one."""
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


PADDING = {"renormalize": "constant", "zero": "constant", "wrap": "wrap", "reflect": "symmetric"}
Array = NDArray[np.float64]


def fourier_step(grids: GridDatabase, weights: Array, boundary: str, current: Array) -> Array:
    """Convolve every column of every image; images have no masks."""
    following = np.empty_like(current, dtype=np.float64)
    mass: dict[tuple[int, ...], Array] = {}
    for i, shape in enumerate(map(tuple, grids.shapes.tolist())):
        nodes = slice(grids.graph_ptr[i], grids.graph_ptr[i + 1])
        image = np.asarray(current[nodes], dtype=np.float64).reshape(*shape, -1)
        result = correlated(image, weights, boundary)
        if boundary == "renormalize":
            if shape not in mass:
                mass[shape] = mass_inside(shape, weights)[..., None]
            heard = mass[shape]
            result = np.where(heard > 0, result / np.where(heard > 0, heard, 1.0), image)
        following[nodes] = result.reshape(len(following[nodes]), -1)
    return following


def correlated(image: Array, weights: Array, boundary: str) -> Array:
    """Sum over taps o of B[o] * image[x + o], for all columns of (..., columns)."""
    from scipy.signal import oaconvolve

    border = [(length // 2, length // 2) for length in weights.shape]
    mode: Any = PADDING[boundary]
    padded = np.pad(image, [*border, (0, 0)], mode=mode)
    mirrored = weights[(slice(None, None, -1),) * weights.ndim][..., None]
    return np.asarray(oaconvolve(padded, mirrored, mode="valid", axes=range(weights.ndim)))


def mass_inside(shape: tuple[int, ...], weights: Array) -> Array:
    """The filter's mass that falls inside an image, for each pixel; no cancellation, so zeros are exact.

    Examples
    --------
    >>> mass_inside((3,), np.array([1.0, 0.0, 1.0]))
    array([1., 2., 1.])
    """
    mass = weights
    for length in shape:  # each turn sums the first axis away and appends the pixels' axis
        reach = mass.shape[0] // 2
        position = np.arange(length)[:, None] + np.arange(-reach, reach + 1)
        inside = ((position >= 0) & (position < length)).astype(np.float64)
        mass = np.tensordot(mass, inside, axes=([0], [1]))
    return np.asarray(mass)


NOTHING = np.empty(0, dtype=np.bool_)
FOURIER_FROM = 256  # taps from which on Fourier transforms are cheaper than sums; measured


@dataclass(frozen=True)
class GridOperator:
    """Affine step on the counted pixels of grids: P' = spread * (B P) + keep * P.

    With "renormalize", spread is 1 over the filter's mass that falls inside image and mask; elsewhere it
    is 1. It does not depend on the labels, so the step commutes with the projection of a hash.

    Attributes
    ----------
    grids : GridDatabase
    weights : ndarray
        The filter B.
    boundary : {"renormalize", "zero", "wrap", "reflect"}
    held, pushed_back : ndarray of bool, (N,)
        Pixels that never change; pixels that are reset to P_0 before each step. Empty: none.
    path : {"direct", "separable", "fourier"}
        How sums are computed: all equal up to rounding, "direct" to the last bit under quarter turns.
    """

    grids: GridDatabase
    weights: NDArray[np.float64]
    boundary: str
    held: NDArray[np.bool_] = field(default_factory=NOTHING.copy)
    pushed_back: NDArray[np.bool_] = field(default_factory=NOTHING.copy)
    path: str = "direct"

    @cached_property
    def taps(self) -> Taps:
        """The filter as the compiled loops take it."""
        stages = separate(self.weights) if self.path == "separable" else None
        return arrange_taps(stages or [self.weights])

    @property
    def images(self) -> Any:
        """The grids, and what their steps depend on, as the compiled loops take them."""
        from propkernels.propagation.grids.compiled import Images

        grids, boundary = self.grids, BOUNDARIES.index(self.boundary)
        inside = NOTHING if grids.inside is None else grids.inside
        return Images(
            grids.shapes, grids.pixel_ptr, grids.graph_ptr, inside, self.held, self.pushed_back, boundary
        )

    def block(self, first: int, last: int) -> GridOperator:
        """The operator of the images first..last-1."""
        nodes = slice(self.grids.graph_ptr[first], self.grids.graph_ptr[last])
        part = self.grids[first:last]
        return replace(self, grids=part, held=self.held[nodes], pushed_back=self.pushed_back[nodes])

    def step(self, current: NDArray[np.float64], initial: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply one step to any columns: label probabilities or projections of them."""
        if len(self.pushed_back):
            current = np.where(self.pushed_back[:, None], initial, current)
        if self.path == "fourier":
            following = fourier_step(self.grids, self.weights, self.boundary, current)
        else:
            following = self._summed(current)
        if self.path == "fourier" and len(self.held):
            following[self.held] = current[self.held]
        return following

    def _summed(self, current: NDArray[np.float64]) -> NDArray[np.float64]:
        from propkernels.propagation.grids.compiled import step_grids

        following = np.empty_like(current)
        step_grids(self.images, self.taps, np.ascontiguousarray(current, dtype=np.float64), following)
        return following


def cheapest_path(weights: NDArray[np.float64], masked: bool) -> str:
    """Choose how to convolve: sums over taps, one axis after the other, or Fourier transforms.

    Examples
    --------
    >>> box = np.ones((9, 9))
    >>> cheapest_path(box, masked=False), cheapest_path(box[:3, :3], masked=False)
    ('separable', 'direct')
    """
    n_taps = int(np.count_nonzero(weights))
    along_axes = sum(weights.shape) + 3 * weights.ndim  # each further stage is another pass over the image
    if n_taps > along_axes and separate(weights) is not None:
        return "separable"
    return "fourier" if n_taps > FOURIER_FROM and not masked else "direct"

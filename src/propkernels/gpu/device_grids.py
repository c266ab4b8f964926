"""Codes of pixels on the device: the loop over t of Algorithm 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propkernels.gpu.runtime import BLOCKS, Runtime
from propkernels.graphs.neighborhoods import BOUNDARIES
from propkernels.propagation.convolution import GridOperator

MOST_DIMENSIONS = 8  # of an image: kernels.cu keeps a position in 8 registers


@dataclass(frozen=True)
class DeviceFilter:
    """Pixels of all images, and the filter, on the device."""

    runtime: Runtime
    operator: GridOperator
    image_of: Any
    pixel_ptr: Any
    shapes: Any
    offsets: Any
    group_ptr: Any
    weights: Any

    @classmethod
    def of(cls, operator: GridOperator, runtime: Runtime) -> DeviceFilter:
        """Return the filter and pixels of an operator, copied to the device."""
        grids, taps, xp = operator.grids, operator.taps, runtime.xp
        pixel_ptr = runtime.to_device(np.asarray(grids.pixel_ptr, dtype=np.int64))
        pixels = xp.arange(int(grids.pixel_ptr[-1]))
        image_of = (xp.searchsorted(pixel_ptr, pixels, side="right") - 1).astype(xp.int32)
        narrow = (array.astype(np.int32) for array in (grids.shapes, taps.offsets, taps.group_ptr))
        device: Any = [runtime.to_device(np.ascontiguousarray(array)) for array in (*narrow, taps.weights)]
        return cls(runtime, operator, image_of, pixel_ptr, *device)

    @property
    def n_pixels(self) -> int:
        """Number of pixels, counted or not."""
        return len(self.image_of)

    def apply(self, now: Any, first_stream: int, n_streams: int) -> Any:
        """Return B x for the streams from ``first_stream`` on, stage by stage."""
        taps, grids = self.operator.taps, self.operator.grids
        where = (self.image_of, self.pixel_ptr, self.shapes, np.int32(grids.dimension))
        for first, last in zip(taps.stage_ptr, taps.stage_ptr[1:], strict=False):
            target = self.runtime.xp.empty_like(now)
            groups = (self.offsets, self.group_ptr, self.weights, np.int32(first), np.int32(last))
            streams = (np.int32(first_stream), np.int32(n_streams), np.int64(self.n_pixels))
            boundary = np.int32(BOUNDARIES.index(self.operator.boundary))
            self.runtime.launch("grid_filter", BLOCKS, (*where, *groups, boundary, *streams, now, target))
            now = target
        return now

    def step_weights(self, pixels: Any) -> tuple[Any, Any]:
        """Return ``spread`` and ``keep`` of each pixel; ``keep`` is None if no pixel keeps its value."""
        xp, operator = self.runtime.xp, self.operator
        counted = xp.zeros(self.n_pixels)
        counted[pixels] = 1.0
        keeps = xp.zeros(self.n_pixels, dtype=bool)
        if len(operator.held):
            keeps[pixels] = self.runtime.to_device(operator.held)
        spread = counted.copy()
        if operator.boundary == "renormalize":
            mass = self.apply(counted[None], 0, 1)[0]
            keeps |= (mass == 0.0) & (counted > 0)
            spread = xp.where(counted > 0, 1.0 / xp.where(mass == 0.0, 1.0, mass), 0.0)
        spread = xp.where(keeps, 0.0, spread)
        return spread, keeps.astype(xp.float64) if bool(keeps.any()) else None


def grid_codes(
    operator: GridOperator, rows: Any, projected: Any, offsets: Any, n_hashes: int, runtime: Runtime
) -> Any:
    """Return the codes of all counted pixels, (streams, N), bit-equal to ``codes.grid_codes``.

    Filters applied by Fourier transforms are not supported: their sums round differently.
    """
    xp, grids, n_streams = runtime.xp, operator.grids, np.int32(len(offsets))
    xp = runtime.xp
    if grids.inside is None:  # the pixel of each node
        pixels = xp.arange(int(grids.pixel_ptr[-1]), dtype=xp.int64)
    else:
        pixels = xp.flatnonzero(runtime.to_device(grids.inside)).astype(xp.int64)
    bank = DeviceFilter.of(operator, runtime)
    spread, keep = bank.step_weights(pixels)
    pushed = runtime.to_device(operator.pushed_back) if len(operator.pushed_back) else None
    n_nodes, n_pixels = np.int64(len(pixels)), np.int64(bank.n_pixels)
    now = xp.zeros((int(n_streams), bank.n_pixels))
    codes = xp.empty((int(n_streams), int(n_nodes)), dtype=xp.int64)
    start = (pixels, n_nodes, rows, projected, n_streams, n_pixels)
    runtime.launch("grid_start", BLOCKS, (*start, now))
    for t in range(len(offsets) // n_hashes):
        first, last = np.int32(t * n_hashes), np.int32((t + 1) * n_hashes)
        if t > 0:
            then = bank.apply(now, int(first), int(n_streams))
            runtime.launch("grid_weigh", BLOCKS, (spread, keep, first, n_streams, n_pixels, now, then))
            now = then
        given = (pixels, n_nodes, pushed, rows, projected, offsets, n_streams, first, last, n_pixels)
        runtime.launch("grid_hash", BLOCKS, (*given, now, codes))
    return codes

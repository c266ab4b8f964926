"""Places for the names of points, such that names cover neither each other, nor points, nor lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
N_RINGS = 5  # distances that are tried around a point
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
OUTSIDE, COVERED = (
    1000,
    100,
)  # costs: outside the area, over a point or a name; a line: 1


def label_places(
    points: Points,
    radii: Sequence[float],
    widths: Sequence[float],
    height: float,
    *,
    area: tuple[float, float, float, float],
    lines: Sequence[tuple[int, int]] = (),
) -> Points:
    """Return the center of each name, close to its point; all arguments have one unit, such as pixels.

    Names are placed one after the other, each at the place around its point that covers least: the first one
    of growing rings that covers nothing, if there is one.

    Parameters
    ----------
    points : ndarray, (points, 2)
    radii : sequence of float
        Radius of the dot at each point.
    widths : sequence of float
        Width of each name.
    height : float
        Height of a name.
    area : (float, float, float, float)
        Least x and y, largest x and y of the drawing.
    lines : sequence of (int, int), default=()
        Pairs of points that are joined by lines.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [0.0, 1.0]])
    >>> label_places(points, [2, 2], [10, 10], 4, area=(-50, -50, 50, 50)).tolist()
    [[9.0, 0.0], [-9.0, 1.0]]
    """
    taken = np.array([[x - r, y - r, x + r, y + r] for (x, y), r in zip(points, radii, strict=True)])
    crossed = _along(points, lines, height / 2)
    found = np.zeros((len(points), 2))
    for i, (radius, width) in enumerate(zip(radii, widths, strict=True)):
        places = np.array(list(_around(points[i], radius, width, height)))
        half = np.array([width, height]) / 2
        boxes = np.concatenate([places - half, places + half], axis=1)
        cost = OUTSIDE * _outside(boxes, np.array(area)) + COVERED * _overlaps(boxes, np.delete(taken, i, 0))
        best = int((cost + _overlaps(boxes, crossed)).argmin())
        found[i], taken = places[best], np.append(taken, boxes[best][None], axis=0)
    return found


def _around(point: Points, radius: float, width: float, height: float) -> Iterator[Points]:
    """Yield centers of a name around a point, the closest first."""
    for ring in range(N_RINGS):
        away = radius + height / 2 + ring * height
        for x, y in DIRECTIONS:
            yield point + np.array([x * (away + width / 2), y * (away + height / 2)])


def _along(points: Points, lines: Sequence[tuple[int, int]], step: float) -> Points:
    """Return boxes without extent along lines, a step apart."""
    parts = [np.empty((0, 2))]
    for i, j in lines:
        n_steps = int(np.linalg.norm(points[j] - points[i]) / step) + 2
        parts.append(points[i] + np.linspace(0, 1, n_steps)[:, None] * (points[j] - points[i]))
    spots = np.concatenate(parts)
    return np.concatenate([spots, spots], axis=1)


def _outside(boxes: Points, area: Points) -> NDArray[np.int64]:
    """Return 1 for boxes that are not inside an area, else 0."""
    inside = np.concatenate([boxes[:, :2] >= area[:2], boxes[:, 2:] <= area[2:]], axis=1)
    return np.where(inside.all(axis=1), 0, 1)


def _overlaps(boxes: Points, others: Points) -> NDArray[np.int64]:
    """Return the number of other boxes that each box overlaps."""
    low = (boxes[:, None, :2] < others[None, :, 2:]).all(axis=2)
    high = (others[None, :, :2] < boxes[:, None, 2:]).all(axis=2)
    found: NDArray[np.int64] = np.count_nonzero(low & high, axis=1).astype(np.int64)
    return found

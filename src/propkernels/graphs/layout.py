"""Deterministic positions of nodes in the plane, for drawings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, dijkstra, shortest_path
from scipy.spatial.distance import cdist

from propkernels._utils.optional import import_optional
from propkernels.graphs.container import Graph

Positions = NDArray[np.float64]
MOST_EXACT = 400  # maximum nodes of a component for using the distances of all pairs
PIVOTS, ROUNDS = 60, 300
STILL = 1e-3  # edge lengths; iteration stops when no node moves further
STARTS, MOST_UNTANGLED = 30, 150  # starts of a component with crossings, and its maximum nodes
MOST_CYCLES = 0.6  # edges beyond a tree, per node; more of them cross in any drawing
CLOSEST = 0.62  # edge lengths between two nodes; closer nodes overlap


def node_positions(graph: Graph, layout: Any = None) -> Positions:
    """Return the position of each node in the plane.

    Parameters
    ----------
    graph : Graph
    layout : None, str or array of shape (nodes, 2 or more), default=None
        None: distances approximate shortest-path lengths (stress majorization; pivots for large graphs), with
        components side by side. A string is the name of a networkx layout, such as "spring" or "circular".
        Coordinates are used unchanged; those of more than two dimensions are projected to the plane of
        largest variance.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = pk.check_graphs([np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])])[0]
    >>> np.abs(node_positions(path)[:, 0]).round(2)
    array([1., 0., 1.])
    """
    if isinstance(layout, str):
        return _by_networkx(graph, layout)
    if layout is not None:
        return _given(graph, layout)
    number, component = connected_components(graph.adjacency, directed=False)
    parts = [np.flatnonzero(component == i) for i in range(number)]
    return _side_by_side(graph.n_nodes, parts, [_connected(graph, part) for part in parts])


def _given(graph: Graph, layout: Any) -> Positions:
    points = np.asarray(layout, dtype=np.float64)
    if points.ndim != 2 or len(points) != graph.n_nodes or points.shape[1] < 2:
        raise ValueError(
            f"layout must hold a point for each of {graph.n_nodes} nodes, got shape {points.shape}"
        )
    if not np.isfinite(points).all():
        raise ValueError("layout must hold finite numbers")
    return points if points.shape[1] == 2 else _turned(points)


def _by_networkx(graph: Graph, name: str) -> Positions:
    networkx = import_optional("networkx", extra="networkx", purpose=f"the layout {name!r} needs")
    draw = getattr(networkx, f"{name}_layout", None)
    if draw is None:
        raise ValueError(f"networkx has no layout {name!r}; try 'spring', 'kamada_kawai' or 'circular'")
    seed = {"seed": 0} if name in ("spring", "random", "arf", "forceatlas2") else {}
    points = draw(graph.to_networkx(), **seed)
    return np.array([points[node] for node in range(graph.n_nodes)], dtype=np.float64).reshape(-1, 2)


def _connected(graph: Graph, nodes: NDArray[np.int64]) -> Positions:
    """Return positions of the nodes of a component, with the largest extent horizontal."""
    if len(nodes) == 1:
        return np.zeros((1, 2))
    adjacency = graph.adjacency[nodes][:, nodes]
    if len(nodes) > MOST_EXACT:
        return _turned(_from_pivots(adjacency))
    distances = shortest_path(adjacency, directed=False, unweighted=True)
    return _turned(_untangled(distances, edge_ends(adjacency)))


def edge_ends(adjacency: Any) -> NDArray[np.int64]:
    """Return the two nodes of each edge once, without loops: (edges, 2)."""
    ends = np.stack(adjacency.tocoo().coords, axis=1)
    return np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0).astype(np.int64)


def _untangled(distances: Positions, ends: NDArray[np.int64]) -> Positions:
    """Return the layout with the fewest crossings and overlaps, from several starts if the first has any."""
    n, rng = len(distances), np.random.default_rng(0)
    start = _turned(_scaled_multidimensionally(distances))
    many = n <= MOST_UNTANGLED and len(ends) - n + 1 <= MOST_CYCLES * n
    best, fewest = start, np.inf
    for number in range(STARTS if many else 1):
        if number:
            start = rng.normal(scale=np.sqrt(n), size=start.shape)
        points = _majorised(distances, start)
        points = points / np.median(np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1))
        faults = n_faults(points, ends) if many else 0
        if faults < fewest:
            best, fewest = points, faults
        if not fewest:
            break
    return best if not fewest else _spread(best)


def n_faults(points: Positions, ends: NDArray[np.int64]) -> int:
    """Return the number of crossing edges plus the number of overlapping nodes of a drawing.

    Parameters
    ----------
    points : ndarray of shape (nodes, 2)
        Positions; edges are about 1 long.
    ends : ndarray of shape (edges, 2)

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> n_faults(square, np.array([[0, 1], [2, 3]])), n_faults(square, np.array([[0, 2], [1, 3]]))
    (1, 0)
    """
    one, two = np.triu_indices(len(ends), 1)
    apart = (ends[one][:, :, None] != ends[two][:, None, :]).all(axis=(1, 2))
    (a, b), (c, d) = (np.moveaxis(points[ends[which[apart]]], 1, 0) for which in (one, two))
    sides = [_side(a, b, c) * _side(a, b, d), _side(c, d, a) * _side(c, d, b)]
    crossings = (sides[0] < 0) & (sides[1] < 0)
    near = cdist(points, points)[np.triu_indices(len(points), 1)] < CLOSEST
    return int(crossings.sum() + near.sum())


def _side(a: Positions, b: Positions, c: Positions) -> NDArray[np.float64]:
    """Return the side of the line through a and b on which c lies, by its sign."""
    ab, ac = b - a, c - a
    return np.asarray(ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0])


def _spread(points: Positions) -> Positions:
    """Return points of which those that overlap were pushed apart."""
    for _ in range(40):
        differences = points[:, None] - points[None]
        lengths = np.linalg.norm(differences, axis=2) + np.eye(len(points))
        push = np.where(lengths < 1.05 * CLOSEST, (1.05 * CLOSEST - lengths) / np.maximum(lengths, 1e-6), 0.0)
        np.fill_diagonal(push, 0.0)
        if not push.any():
            break
        points = points + 0.5 * (push[:, :, None] * differences).sum(axis=1)
    return points


def _scaled_multidimensionally(distances: Positions) -> Positions:
    """Return the two leading coordinates of classical scaling, from distances to all or some nodes."""
    squares = distances**2
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    left, values, _ = np.linalg.svd(-centered / 2, full_matrices=False)
    return np.pad(left[:, :2] * np.sqrt(values[:2]), ((0, 0), (0, max(0, 2 - len(values)))))


def _from_pivots(adjacency: Any) -> Positions:
    """Return classical scaling of the distances to pivots, nodes that are far apart."""
    pivots, rows = [0], []
    nearest = np.full(adjacency.shape[0], np.inf)
    for _ in range(PIVOTS):
        rows.append(dijkstra(adjacency, directed=False, unweighted=True, indices=pivots[-1]))
        nearest = np.minimum(nearest, rows[-1])
        pivots.append(int(nearest.argmax()))
    return _scaled_multidimensionally(np.array(rows).T)


def _majorised(distances: Positions, start: Positions) -> Positions:
    """Return positions that approximate ``distances``, with larger weights for short ones (SMACOF)."""
    n = len(distances)
    off = ~np.eye(n, dtype=bool)
    weights = np.divide(1.0, distances**2, out=np.zeros((n, n)), where=off)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    points = start + np.random.default_rng(0).normal(scale=0.05, size=start.shape)
    for _ in range(ROUNDS):
        drawn = cdist(points, points)
        ratio = weights * np.divide(distances, drawn, out=np.zeros((n, n)), where=drawn > 0)
        moved = inverse @ (ratio.sum(axis=1)[:, None] * points - ratio @ points)
        still = np.abs(moved - points).max() < STILL
        points = moved
        if still:
            break
    return points


def _turned(points: Positions) -> Positions:
    """Rotate points to their principal axes, the first of them horizontal."""
    centered = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    axes = axes[:2] * np.sign(axes[:2][np.arange(len(axes[:2])), np.abs(axes[:2]).argmax(axis=1)])[:, None]
    turned = centered @ axes.T
    return np.pad(turned, ((0, 0), (0, 2 - turned.shape[1])))


def _side_by_side(n_nodes: int, parts: list[NDArray[np.int64]], drawn: list[Positions]) -> Positions:
    """Arrange components in rows that fill about a square, largest first."""
    positions = np.zeros((n_nodes, 2))
    sizes = [np.ptp(points, axis=0) + 1.0 for points in drawn]
    width = max(
        [1.3 * np.sqrt(sum(size.prod() for size in sizes)), *(size[0] for size in sizes)], default=0.0
    )
    corner, height = np.zeros(2), 0.0
    for i in sorted(range(len(parts)), key=lambda part: (-len(parts[part]), part)):
        if corner[0] > 0 and corner[0] + sizes[i][0] > width:
            corner, height = np.array([0.0, corner[1] - height]), 0.0
        top_left = np.array([drawn[i][:, 0].min(), drawn[i][:, 1].max()])
        positions[parts[i]] = drawn[i] - top_left + corner
        corner = corner + [sizes[i][0], 0.0]
        height = max(height, sizes[i][1])
    return positions - positions.mean(axis=0) if n_nodes else positions

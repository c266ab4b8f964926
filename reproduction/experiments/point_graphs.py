"""Point clouds: the k-NN graphs and the curvature attribute, recomputed from coordinates and normals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from propkernels.convert import curvature, knn_graph
from reproduction.engine.cells import Cell, Value
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.sections import Section, State

NAME = "point_graphs"
DATASET = "FIRSTMM_DB"
NEIGHBORS = 4
TOLERANCE = 1e-5
TITLE = "Point clouds: graphs and curvature recomputed"


def jobs(scope: Scope) -> list[Job]:
    """One cell: the comparison of both with the files."""
    return [Job((cell(),), DATASET, work)]


def cell() -> Cell:
    """Return the only cell."""
    return Cell.of(NAME, "check", DATASET, neighbors=NEIGHBORS, tolerance=TOLERANCE)


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Compare graphs and attributes with the files."""
    for one in cells:
        yield one, {**compare_graphs(data), **compare_curvature(data)}


def compare_graphs(data: Any) -> Value:
    """Count the edges of the files, of the k-NN graphs, and of both; self loops are left out."""
    totals, equal, gap = np.zeros(3, dtype=np.int64), 0, 0.0
    for graph, (start, stop) in zip(data.graphs, pairwise(data.graphs.graph_ptr), strict=True):
        points = data.extras["coordinates"][start:stop]
        filed = graph.adjacency.tocsr().astype(bool).astype(np.int64)
        filed.setdiag(0)
        filed.eliminate_zeros()
        found = knn_graph(points, NEIGHBORS).astype(np.int64)
        totals += [filed.sum(), found.sum(), filed.multiply(found).sum()]
        equal += int((filed != found).nnz == 0)
        gap = max(gap, largest_gap(points, (filed != found).tocoo()))
    filed_edges, found_edges, common_edges = (int(total) // 2 for total in totals)
    return {
        "graphs": len(data.graphs),
        "equal graphs": equal,
        "edges in the files": filed_edges,
        "edges here": found_edges,
        "edges in both": common_edges,
        "largest gap": float(f"{gap:.1e}"),
    }


def largest_gap(points: Any, edges: Any) -> float:
    """How much longer or shorter edges are than the distance to the last neighbor, from the farther end."""
    from scipy.spatial import cKDTree

    reach = cKDTree(points).query(points, NEIGHBORS + 1)[0][:, -1]
    lengths = np.linalg.norm(points[edges.row] - points[edges.col], axis=1)
    return float(np.abs(lengths - np.maximum(reach[edges.row], reach[edges.col])).max(initial=0.0))


def compare_curvature(data: Any) -> Value:
    """Compare the attribute of the files with 1 minus the mean of 1 - |n_u . n_v| over the neighbors."""
    filed = data.graphs.node_attributes[:, 0]
    mean = curvature(data.graphs.adjacency, data.extras["normals"], mean=True)
    known = ~np.isnan(mean)
    same = np.abs(1 - mean[known] - filed[known]) < TOLERANCE
    return {
        "points": len(filed),
        "points without a normal": int(np.count_nonzero(~known)),
        "attribute there": sorted(set(filed[~known].tolist())),
        "points with the same attribute": int(np.count_nonzero(same)),
    }


def sections(state: State) -> list[Section]:
    """Say how far both agree with the files."""
    one = cell()
    if one not in state.store:
        return [Section(TITLE, notes=[state.reason(one)])]
    value = state.store[one]
    rows = [(name, str(found)) for name, found in value.items() if name != "seconds"]
    return [Section(TITLE, ("what", "number"), rows, notes(value), only_file=True)]


def notes(value: Value) -> list[str]:
    """Say what the numbers mean."""
    edges = 100 * value["edges in both"] / value["edges in the files"]
    known = value["points"] - value["points without a normal"]
    share = 100 * value["points with the same attribute"] / known
    return [
        f"`knn_graph(coordinates, 4)` gives {edges:.2f} % of the edges of the files (without self loops), "
        f"and {value['equal graphs']} of {value['graphs']} graphs are equal. All other edges are ties: their "
        f"lengths differ from the distance to the fourth neighbor by at most {value['largest gap']:g}, and "
        "coordinates are rounded to six digits in the files.",
        "The attribute in the files is not the paper's sum of 1 - |n_u . n_v| but 1 minus its mean over the "
        f"neighbors, `1 - curvature(adjacency, normals, mean=True)`: equal up to {TOLERANCE:g} for "
        f"{share:.2f} % of the points with a normal; where there is none the files have -1.",
    ]

"""Compact files of graphs: the graphs that were written are read."""

import numpy as np
import pytest

from reproduction.extra.compact import read_compact, triangle_positions


def write(path, graphs, classes):
    """Write graphs, each a pair of size and boolean upper triangle."""
    gaps, long_gaps, n_edges = [], [], []
    for _, edges in graphs:
        steps = np.diff(np.concatenate([[-1], np.flatnonzero(edges)]))
        n_edges.append(len(steps))
        gaps += [min(step, 255) for step in steps]
        long_gaps += [step for step in steps if step >= 255]
    np.savez(
        path,
        labels=np.array(classes),
        n_nodes=np.array([size for size, _ in graphs]),
        n_edges=np.array(n_edges),
        gaps=np.array(gaps, dtype=np.uint8),
        long_gaps=np.array(long_gaps, dtype=np.int64),
    )


@pytest.mark.parametrize("n", [2, 3, 17, 492])
def test_positions_are_those_of_the_upper_triangle(n):
    rows, columns = np.triu_indices(n, 1)
    found = triangle_positions(np.arange(len(rows)), np.full(len(rows), n))
    np.testing.assert_array_equal(found, (rows, columns))


def test_graphs_are_read_as_written(tmp_path):
    rng = np.random.default_rng(0)
    sizes = [4, 60, 1, 9]
    graphs = [(n, rng.random(n * (n - 1) // 2) < 0.005 * (n > 10) + 0.5 * (n < 10)) for n in sizes]
    write(tmp_path / "some.npz", graphs, [2, 1, 1, 3])
    found, classes = read_compact(tmp_path / "some.npz")
    assert classes.tolist() == [2, 1, 1, 3]
    for i, (n, edges) in enumerate(graphs):
        expected = np.zeros((n, n))
        expected[np.triu_indices(n, 1)] = edges
        np.testing.assert_array_equal(found[i].adjacency.toarray(), expected + expected.T)


def test_edges_outside_their_graph_are_refused(tmp_path):
    write(tmp_path / "bad.npz", [(3, np.array([0, 0, 0, 0, 1], dtype=bool))], [1])
    with pytest.raises(ValueError, match="outside its graph"):
        read_compact(tmp_path / "bad.npz")

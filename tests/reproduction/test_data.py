"""Data of the experiments: pictures, co-occurrences, hidden labels and compact files."""

import numpy as np
import pytest

import propkernels as pk
from reproduction.data.cooccurrence import label_cooccurrence
from reproduction.data.corrupt import hide_labels
from reproduction.extra.fair import read_compact
from tests.zoo import labelled_zoo

pytest.importorskip("skimage")
STEPS = [(0, 1), (-1, 1), (-1, 0), (-1, -1)]


def pairs_of_labels(image, mask, n_levels, distance):
    """Unordered pairs of levels at a distance in four directions, as frequencies."""
    counts = np.zeros((n_levels, n_levels))
    for (y, x), (dy, dx) in ((p, s) for p in np.ndindex(image.shape) for s in STEPS):
        far = distance if 0 in (dy, dx) else round(distance * np.sqrt(0.5))
        other = y + far * dy, x + far * dx
        inside = 0 <= other[0] < image.shape[0] and 0 <= other[1] < image.shape[1]
        if inside and mask[y, x] and mask[other]:
            low, high = sorted((image[y, x], image[other]))
            counts[low, high] += 1
    return counts[np.triu_indices(n_levels)] / counts.sum()


@pytest.mark.parametrize("distance", [1, 2])
def test_cooccurrences_are_pairs_of_labels(distance):
    generator = np.random.default_rng(0)
    images = [generator.integers(0, 3, shape) for shape in [(6, 7), (5, 5)]]
    masks = [generator.random(image.shape) < 0.8 for image in images]
    computed = label_cooccurrence(pk.GridDatabase(images, masks), distance=distance)
    reference = [pairs_of_labels(i, m, 3, distance) for i, m in zip(images, masks, strict=True)]
    np.testing.assert_allclose(computed, reference)


def test_a_share_of_the_labels_is_hidden():
    """And a larger share hides the same nodes and more."""
    graphs, before = labelled_zoo(), labelled_zoo().label_column.observed
    for share in (0, 0.2, 0.5, 1):
        hidden = hide_labels(graphs, share, random_state=0)
        left = hidden.label_column.observed
        assert left.sum() == len(left) - round(share * len(left))
        assert (left <= before).all()
        assert hidden.with_labels(graphs.label_column) == graphs
        before = left
    with pytest.raises(TypeError, match="only certain labels"):
        hide_labels(graphs.with_labels(None), 0.5, random_state=0)


def test_compact_graphs_are_read_as_written(tmp_path):
    """Edges are gaps between positions in the upper triangle; gaps of 255 and more are kept apart."""
    rng, sizes = np.random.default_rng(0), [4, 60, 1, 9]
    triangles = [rng.random(n * (n - 1) // 2) < (0.005 if n > 10 else 0.5) for n in sizes]
    steps = [np.diff(np.concatenate([[-1], np.flatnonzero(edges)])) for edges in triangles]
    gaps = np.concatenate(steps)
    parts = {"labels": [2, 1, 1, 3], "n_nodes": sizes, "n_edges": [len(one) for one in steps]}
    parts |= {"gaps": np.minimum(gaps, 255).astype(np.uint8), "long_gaps": gaps[gaps >= 255]}
    np.savez(tmp_path / "some.npz", **parts)
    found, classes = read_compact(tmp_path / "some.npz")
    assert classes.tolist() == [2, 1, 1, 3]
    for i, (n, edges) in enumerate(zip(sizes, triangles, strict=True)):
        expected = np.zeros((n, n))
        expected[np.triu_indices(n, 1)] = edges
        np.testing.assert_array_equal(found[i].adjacency.toarray(), expected + expected.T)
    np.savez(tmp_path / "bad.npz", **{**parts, "n_nodes": [2, 2, 1, 2]})
    with pytest.raises(ValueError, match="outside its graph"):
        read_compact(tmp_path / "bad.npz")

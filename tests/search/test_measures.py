"""Measures of similarity against their definitions on dense counts, in memory and on disk."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.search.bounds import MEASURES, measure_of

GRAPHS = pk.datasets.make_molecules(60, random_state=3).graphs
KERNEL = pk.WeisfeilerLehman(t_max=2)


def naive(name, x, y):
    """Similarity of two count vectors, from the definition."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    below = {
        "cosine": np.sqrt((x @ x) * (y @ y)),
        "tanimoto": x @ x + y @ y - x @ y,
        "intersection": np.sqrt(x.sum() * y.sum()),
        "jaccard": np.maximum(x, y).sum(),
    }[name]
    above = x @ y if name in ("cosine", "tanimoto") else np.minimum(x, y).sum()
    return above / below if below > 0 else 0.0


def matrix(name, graphs):
    counts = pk.WeisfeilerLehmanFeatures(t_max=2).fit_transform(graphs).toarray()
    return np.array([[naive(name, x, y) for y in counts] for x in counts])


@pytest.mark.parametrize("name", MEASURES)
def test_nearest_graphs_are_those_of_the_definition(name):
    expected = matrix(name, GRAPHS)
    found = pk.GraphIndex(kernel=KERNEL, similarity=name).fit(GRAPHS).query(GRAPHS, k=7)
    order = np.argsort(-expected.round(12), axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(found.ids, order)
    np.testing.assert_allclose(found.similarities, np.take_along_axis(expected, order, 1), rtol=1e-12)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("at_least", [0.0, 0.5, 0.7, 1.0])
def test_thresholds_return_exactly_what_reaches_them(name, at_least):
    expected = matrix(name, GRAPHS)
    found = pk.GraphIndex(kernel=KERNEL, similarity=name).fit(GRAPHS).query(GRAPHS, at_least=at_least)
    for row, values, ids in zip(expected, *found, strict=True):
        assert set(ids) == set(np.flatnonzero(row >= at_least - 1e-12))
        np.testing.assert_allclose(values, row[ids], rtol=1e-12)
        assert (np.diff(values) <= 0).all()


def test_k_limits_what_reaches_a_threshold():
    index = pk.GraphIndex(kernel=KERNEL, similarity="jaccard").fit(GRAPHS)
    every, few = index.query(GRAPHS[0], at_least=0.2), index.query(GRAPHS[0], k=3, at_least=0.2)
    assert len(every.ids) > 3
    assert index.query(GRAPHS, k=3, at_least=0.0).ids.shape == (60,)
    np.testing.assert_array_equal(few.ids, every.ids[:3])


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_an_index_in_a_file_gives_the_same_bits(name, mmap_mode, tmp_path):
    memory = pk.GraphIndex(kernel=KERNEL, similarity=name).fit(GRAPHS[:40]).add(GRAPHS[40:]).remove([2])
    pk.save_model(memory, tmp_path / "index.pk")
    disk = pk.load_model(tmp_path / "index.pk", mmap_mode=mmap_mode)
    assert disk.similarity == name
    for request in ({"k": 5}, {"at_least": 0.5}):
        for left, right in zip(
            disk.query(GRAPHS[:9], **request), memory.query(GRAPHS[:9], **request), strict=True
        ):
            for one, other in zip(left, right, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", MEASURES)
def test_shared_bins_add_up_to_the_similarity(name):
    index = pk.GraphIndex(kernel=KERNEL, similarity=name).fit(GRAPHS)
    values, ids = index.query(GRAPHS[0], k=4)
    for value, other in zip(values, ids, strict=True):
        assert pk.similar_because(GRAPHS[0], GRAPHS[int(other)], kernel=index).value == pytest.approx(value)


@pytest.mark.parametrize("name", MEASURES)
def test_bounds_leave_out_only_what_does_not_exceed_them(name):
    rng, measure = np.random.default_rng(0), measure_of(name)
    own, others = 40.0, rng.integers(0, 90, 500).astype(float)
    shared = np.floor(rng.random(500) * np.minimum(own, others))
    values = measure.values(shared, own, others)
    for least in (0.0, 0.3, 0.9):
        assert (values <= least)[~measure.may_exceed(shared, own, others, least)].all()

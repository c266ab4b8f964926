"""NodeRegressor: numbers that follow the graph are found; several columns and gaps."""

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk

GRAPH = nx.grid_2d_graph(12, 12)
ADJACENCY = nx.to_scipy_sparse_array(GRAPH, format="csr")
TRUTH = np.array([x + 0.5 * y for x, y in GRAPH])
KNOWN = np.random.default_rng(0).random(144) < 0.5
MODEL = pk.NodeRegressor(C=10.0, random_state=0).fit(ADJACENCY, np.where(KNOWN, TRUTH, np.nan))


def test_smooth_numbers_are_found():
    assert MODEL.score(None, np.where(KNOWN, np.nan, TRUTH)) > 0.7
    assert MODEL.score_ > 0.5
    assert (MODEL.transduction_ == MODEL.predict()).all()


def test_minus_one_is_a_number():
    model = pk.NodeRegressor(C=1.0, random_state=0).fit(ADJACENCY, np.arange(144) % 3 - 1)
    assert len(model.nodes_) == 144


def test_several_columns_with_gaps():
    values = np.where(KNOWN[:, None], np.column_stack([TRUTH, -TRUTH]), np.nan)
    model = pk.NodeRegressor(C=10.0, random_state=0).fit(ADJACENCY, values)
    found = model.predict()
    assert found.shape == (144, 2)
    np.testing.assert_allclose(found[:, 0] - TRUTH.mean(), -(found[:, 1] + TRUTH.mean()), atol=1.0)


def test_units_do_not_matter():
    scaled = clone(MODEL).fit(ADJACENCY, np.where(KNOWN, 1000 * TRUTH + 7, np.nan))
    np.testing.assert_allclose(scaled.predict(), 1000 * MODEL.predict() + 7, rtol=1e-3)


def test_files_keep_it(tmp_path):
    pk.save_model(MODEL, tmp_path / "model.pk")
    loaded = pk.load_model(tmp_path / "model.pk")
    assert (loaded.predict(ADJACENCY) == MODEL.predict(ADJACENCY)).all()


def test_words_are_refused():
    with pytest.raises(ValueError, match="one number per"):
        pk.NodeRegressor().fit(nx.path_graph(3), ["a", "b", "c"])

"""Attributes of pixels: Algorithm 5 with labels and numbers, equal to the graph with all edges."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.propagation import Convolution, GaussianMixtures, PropagatedAttributes

TREATMENTS = [
    "sum",
    "product",
    "joint",
    PropagatedAttributes(),
    PropagatedAttributes(laziness=0.0, combine="joint"),
    GaussianMixtures(n_sample_points=20),
    GaussianMixtures(n_sample_points=20, scale="initial", ridge=1),
    GaussianMixtures(n_sample_points=20, scale="initial", refit_every=2, laziness=0.2),
]


def pictures(masked=False, missing=False):
    rng = np.random.default_rng(5)
    shapes = [(7, 9), (6, 6), (7, 9), (3, 4)]
    images = [rng.integers(0, 3, shape) for shape in shapes]
    colors = [rng.random((*shape, 3)) for shape in shapes]
    if missing:
        colors[1][2, 3, 0] = np.nan
    masks = [rng.random(shape) < 0.8 for shape in shapes] if masked else None
    return images, masks, colors


@pytest.mark.parametrize("treatment", TREATMENTS, ids=repr)
@pytest.mark.parametrize("options", [{}, {"masked": True}, {"missing": True}], ids=str)
def test_equal_to_the_graph_detour(treatment, options):
    images, masks, colors = pictures(**options)
    grids = pk.GridDatabase(images, masks, attributes=colors)
    rows = np.concatenate(
        [c.reshape(-1, 3) if masks is None else c[m] for c, m in zip(colors, masks or colors, strict=True)]
    )
    graphs = pk.GridDatabase(images, masks).to_graphs((1, 4)).with_attributes(rows)
    assert np.array_equal(grids.node_attributes, rows, equal_nan=True)
    assert grids.to_graphs((1, 4)) == graphs
    kernel = pk.PropagationKernel(attributes=treatment, t_max=4, random_state=0)
    assert np.array_equal(kernel.fit_transform_cumulative(grids), kernel.fit_transform_cumulative(graphs))
    fitted = clone(kernel).fit(grids[:2])
    assert np.array_equal(fitted.transform(grids), kernel.fit(graphs[:2]).transform(graphs))
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).transform(grids), fitted.transform(grids))


def test_p2k_uses_the_filter_of_the_scheme(tmp_path):
    images, masks, colors = pictures()
    grids = pk.GridDatabase(images, masks, colors)
    kernel = pk.P2K(propagation=Convolution((1, 8), clamp="after"), t_max=3, random_state=0)
    found = kernel.fit_transform(grids)
    graphs = grids.to_graphs((1, 8))
    assert np.array_equal(
        found, pk.P2K(propagation="label_propagation", t_max=3, random_state=0).fit_transform(graphs)
    )
    assert not np.array_equal(found, pk.P2K(t_max=3, random_state=0).fit_transform(grids))
    pk.save_model(kernel, tmp_path / "kernel.pk")
    assert np.array_equal(pk.load_model(tmp_path / "kernel.pk").transform(grids), found)
    model = pk.PropagationClassifier(random_state=0).fit(
        pk.GridDatabase.concat([grids] * 3), [0, 1, 0, 1] * 3
    )
    assert model.predict(grids).tolist() == [0, 1, 0, 1]

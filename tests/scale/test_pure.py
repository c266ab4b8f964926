"""Features that are a pure function of each graph."""

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.propagation import Diffusion, LabelPropagation
from propkernels.propagation.initial import Prior
from propkernels.scale.pure import described, digest_of, pure_features


def test_fitted_features_of_attributes(tmp_path):
    graphs = pk.datasets.make_molecules(12, random_state=0, mean_nodes=100).graphs.with_labels(None)
    graphs = graphs.with_attributes(np.random.default_rng(0).normal(size=graphs.n_nodes))
    graphs.to_parquet(tmp_path / "graphs.parquet", row_group_size=3)
    plan = pk.scale.partition(tmp_path / "graphs.parquet", nodes_per_part=300)
    features = pk.PropagationFeatures(n_features=512, t_max=1, attributes="joint", random_state=0)
    with pytest.raises(ValueError, match="learn their scale: fit them on a sample"):
        pk.featurize(plan, features, tmp_path / "out")
    features.fit(graphs[:6])
    opened = pk.featurize(plan, features, tmp_path / "out")
    assert (opened.to_scipy() != features.transform(graphs)).nnz == 0
    with pytest.raises(ValueError, match="holds other features"):
        pk.featurize(plan, features.fit(graphs[:7]), tmp_path / "out")


def test_missing_labels_need_fitted_features(tmp_path):
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    graphs = pk.check_graphs([(path, ["C", "O", "C"])] * 3 + [(path, ["C", None, "C"])])
    graphs.to_parquet(tmp_path / "graphs.parquet", row_group_size=1)
    features = pk.PropagationFeatures(n_features=64, random_state=0)
    opened = pk.featurize(tmp_path / "graphs.parquet", features, tmp_path / "filled")
    assert (opened.to_scipy() != features.fit_transform(graphs)).nnz == 0
    plain = pk.PropagationFeatures(propagation="diffusion", n_features=64, random_state=0)
    with pytest.raises(pk.scale.PartsFailedError, match="a node without a label"):
        pk.featurize(tmp_path / "graphs.parquet", plain, tmp_path / "out")
    fitted = plain.fit(graphs)
    opened = pk.featurize(tmp_path / "graphs.parquet", fitted, tmp_path / "fitted")
    assert (opened.to_scipy() != fitted.transform(graphs)).nnz == 0
    blank = pk.GraphDatabase.concat([graphs, pk.check_graphs([(path, [None] * 3)])])
    blank.to_parquet(tmp_path / "blank.parquet", row_group_size=1)
    with pytest.raises(pk.scale.PartsFailedError, match="no label at all"):
        pk.featurize(tmp_path / "blank.parquet", clone(features), tmp_path / "blank")
    with pytest.raises(ValueError, match="these graphs have no node labels, but the graphs of the first"):
        pure_features(pk.PropagationFeatures(n_features=64, random_state=0), graphs).transform(
            pk.check_graphs([path])
        )
    refinement = pk.WeisfeilerLehmanFeatures(n_features=64)
    opened = pk.featurize(tmp_path / "graphs.parquet", refinement, tmp_path / "wl")
    assert (opened.to_scipy() != refinement.fit_transform(graphs)).nnz == 0


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        (pk.PropagationFeatures(random_state=0), ValueError, r"hash them, PropagationFeatures\(n_features"),
        (pk.PropagationFeatures(n_features=64), ValueError, "random_state must be an integer"),
        (pk.PropagationKernel(), TypeError, "features must be"),
        (pk.PropagationFeatures(n_features=0, random_state=0), ValueError, "n_features must be"),
        ("features", TypeError, "features must be"),
    ],
)
def test_features_that_are_not_pure_are_refused(plan, features, error, message, tmp_path):
    with pytest.raises(error, match=message):
        pk.featurize(plan, features, tmp_path / "out")
    assert not (tmp_path / "out").exists()


VALUE = {"scheme": Diffusion(laziness=0.5), "prior": Prior(("C", "N"), np.array([0.25, 0.75]))}


def test_digests_are_the_same_on_every_machine():
    """Pinned: folders of features that were written before must be recognized."""
    value = VALUE | {"list": [1, 2.5, None, True]}
    assert digest_of(value, "x") == "27842ab0ab1e8a76874f4cca54e1205f2df37273d4610bb38c0df38b4186bdc6"
    graphs = pk.datasets.make_molecules(6, random_state=0).graphs
    features = pk.PropagationFeatures(n_features=1024, t_max=2, random_state=0).fit(graphs)
    known = "b04b4b134569156a95520440358eb6aa13deb8354049b0f1e3a281ba025443ba"
    assert digest_of(features._coder, "_coder") == known


def test_other_values_have_other_descriptions():
    values = [1, 1.5, "1", None, [1], [[1]], {"a": 1}, np.ones(1), np.ones((1, 1)), np.ones(1, dtype=int)]
    values += [Diffusion(), Diffusion(laziness=0.5), LabelPropagation()]
    assert len({repr(described(value, "x")) for value in values}) == len(values)
    for value in (len, object(), float("nan"), {1}, np.array([None])):
        with pytest.raises(TypeError, match=r"x=.* cannot be written down, so results could not be dist"):
            described(value, "x")

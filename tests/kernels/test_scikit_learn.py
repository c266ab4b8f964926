"""The estimators among scikit-learn's own tools."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import propkernels as pk
from tests.zoo import labelled_zoo

# names and containers


def test_kernels_come_as_data_frames():
    pd = pytest.importorskip("pandas")
    graphs = labelled_zoo()
    kernel = pk.PropagationKernel(t_max=2, random_state=0).set_output(transform="pandas")
    frame = kernel.fit_transform(graphs)
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape == (len(graphs), len(graphs))
    assert list(frame.columns) == list(kernel.get_feature_names_out())
    assert frame.columns[0] == "propagationkernel0"
    new = kernel.transform(graphs[:3])
    assert isinstance(new, pd.DataFrame)
    assert new.shape == (3, len(graphs))
    plain = pk.PropagationKernel(t_max=2, random_state=0).fit_transform(graphs)
    assert np.array_equal(frame.to_numpy(), plain)
    assert isinstance(kernel.fit_transform_cumulative(graphs), np.ndarray)


@pytest.mark.parametrize(
    "parameters", [{}, {"n_features": 32}, {"normalize": True}, {"n_hashes": 2}], ids=str
)
def test_features_come_as_data_frames(parameters):
    pytest.importorskip("pandas")
    graphs = labelled_zoo()
    features = pk.PropagationFeatures(t_max=2, random_state=0, sparse_output=False, **parameters)
    plain = features.fit_transform(graphs)
    frame = features.set_output(transform="pandas").fit_transform(graphs)
    assert list(frame.columns) == list(features.get_feature_names_out())
    assert np.array_equal(frame.to_numpy(), plain)
    with pytest.raises(ValueError, match="sparse"):
        features.set_params(sparse_output=True).fit_transform(graphs)


def test_hashed_features_need_no_fit():
    graphs = labelled_zoo()
    features = pk.PropagationFeatures(t_max=2, n_features=64, random_state=0)
    unfitted = features.transform(graphs)
    assert not hasattr(features, "_stream_codes")
    assert abs(unfitted - features.fit(graphs[:3]).transform(graphs)).nnz == 0
    with pytest.raises(NotFittedError, match="integer random_state and without attributes need no fit"):
        pk.PropagationFeatures(t_max=2, n_features=64).transform(graphs)


def test_names_of_features_tell_iteration_hash_and_bin():
    graphs = labelled_zoo()
    features = pk.PropagationFeatures(t_max=2, random_state=0)
    phi = features.fit_transform(graphs)
    names = features.get_feature_names_out()
    assert len(names) == phi.shape[1]
    iterations = [int(name[1 : name.index("_")]) for name in names]
    assert iterations == sorted(iterations)
    assert set(iterations) == {0, 1, 2}
    nodes = [phi[:, np.array(iterations) == t].sum() for t in range(3)]
    assert nodes == [graphs.n_nodes] * 3
    several = pk.PropagationFeatures(t_max=1, n_hashes=2).fit(graphs).get_feature_names_out()
    assert several[0] == "t0_hash0_bin0"
    assert {name[:8] for name in several} == {"t0_hash0", "t0_hash1", "t1_hash0", "t1_hash1"}

"""Estimators give the same bits on the device as on the CPU."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.gpu import pipeline
from propkernels.gpu.runtime import import_cupy
from propkernels.propagation import Diffusion, PropagatedAttributes
from tests.gpu.some_graphs import SIZES, many_graphs


@pytest.fixture
def device(runtime, monkeypatch):
    """Let device="cuda" be the runtime under test."""
    monkeypatch.setattr(pipeline, "cuda", lambda: runtime)
    monkeypatch.setattr(pipeline, "is_available", lambda: True)
    return runtime


def attributed(sizes=(5, 12, 30, 400, 1, 7), seed=0):
    graphs = many_graphs(list(sizes), seed)
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(graphs.n_nodes, 3))
    values[rng.random(values.shape) < 0.05] = np.nan
    values[:, 2] = 1.0
    arrays = {"node_labels": graphs.node_labels, "node_attributes": values}
    return pk.GraphDatabase(graphs.adjacency, graphs.graph_ptr, **arrays)


def same(first, second):
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def one_line(estimator):
    """Names of cases without line breaks, which mutmut cannot pass on."""
    return " ".join(repr(estimator).split())


ESTIMATORS = [
    pk.PropagationKernel(t_max=3, random_state=0),
    pk.PropagationKernel(t_max=3, random_state=0, n_hashes=2, normalize=True),
    pk.PropagationKernel(t_max=2, random_state=0, base_kernel="intersection"),
    pk.PropagationKernel(t_max=2, random_state=0, metric="hellinger"),
    pk.PropagationKernel(t_max=2, random_state=0, attributes="sum"),
    pk.PropagationKernel(t_max=2, random_state=0, attributes="product", attribute_bin_width=(0.5, 2.0)),
    pk.PropagationKernel(t_max=2, random_state=0, attributes="joint", attribute_metric="l2"),
    pk.PropagationKernel(t_max=2, random_state=0, attributes=PropagatedAttributes()),
    pk.PropagationKernel(t_max=2, random_state=0, labels="degree"),
    pk.PropagationKernel(t_max=3, random_state=0, n_hashes=2, propagation=Diffusion(isolated="vanish")),
    pk.WeisfeilerLehman(t_max=3),
    pk.WeisfeilerLehman(t_max=2, base_kernel="intersection", normalize=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(5, 12, 30, 400, 1, 7), SIZES["mixed"]], ids=["some", "mixed"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=one_line)
def test_kernels(device, estimator, sizes):
    graphs = attributed(sizes)
    new = estimator.set_params(device="cpu").fit(graphs[:4]).transform(graphs[4:])
    cumulative = estimator.fit_transform_cumulative(graphs)
    computed = estimator.set_params(device="cuda").fit(graphs[:4])
    np.testing.assert_array_equal(computed.transform(graphs[4:]), new)
    np.testing.assert_array_equal(estimator.fit_transform_cumulative(graphs), cumulative)
    np.testing.assert_array_equal(estimator.fit_transform(graphs), cumulative[-1])
    estimator.set_params(device="cpu")


FEATURES = [
    pk.PropagationFeatures(t_max=3, random_state=0),
    *(pk.PropagationFeatures(t_max=3, random_state=0, n_features=n) for n in (1, 2**4, 1000, 2**20)),
    pk.PropagationFeatures(t_max=3, random_state=0, propagation=Diffusion(isolated="vanish")),
    pk.PropagationFeatures(t_max=3, random_state=0, n_features=2**12, normalize=True),
    pk.PropagationFeatures(t_max=2, random_state=0, n_features=500, attributes="sum"),
    pk.PropagationFeatures(t_max=2, random_state=0, n_features=500, base_kernel="intersection"),
    pk.PropagationFeatures(t_max=20, random_state=0, n_features=500, n_hashes=4),
    pk.WeisfeilerLehmanFeatures(t_max=3, n_features=2**10),
    pk.WeisfeilerLehmanFeatures(t_max=3),
]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(5, 12, 30, 400, 1, 7), *SIZES.values()], ids=["some", *SIZES])
@pytest.mark.parametrize("estimator", FEATURES, ids=one_line)
def test_features(device, estimator, sizes):
    graphs = attributed(sizes)
    expected = estimator.set_params(device="cpu").fit_transform(graphs)
    new = estimator.transform(graphs[1:])
    same(estimator.set_params(device="cuda").fit_transform(graphs), expected)
    same(estimator.transform(graphs[1:]), new)
    estimator.set_params(device="cpu")


def test_features_can_stay_on_the_device(device):
    graphs = attributed()
    features = pk.PropagationFeatures(t_max=3, random_state=0, n_features=2**12)
    expected = features.fit_transform(graphs)
    there = features.set_params(device="cuda", output="device").fit_transform(graphs)
    assert there.shape == expected.shape
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(device.to_host(getattr(there, name)), getattr(expected, name))


@pytest.mark.parametrize(
    "parameters",
    [{"n_features": None}, {"normalize": True}, {"base_kernel": "intersection"}, {"sparse_output": False}],
    ids=repr,
)
def test_features_that_the_host_finishes_are_copied_to_the_device(device, parameters):
    features = pk.PropagationFeatures(**{"n_features": 64, "t_max": 2, "random_state": 0, **parameters})
    expected = [features.fit_transform(attributed()), features.transform(attributed((3, 9), 1))]
    features.set_params(device="cuda", output="device")
    for found, matrix in zip(
        [features.fit_transform(attributed()), features.transform(attributed((3, 9), 1))],
        expected,
        strict=True,
    ):
        assert not isinstance(found, (np.ndarray, csr_array)) or device.xp is np
        if features.sparse_output:
            for name in ("indptr", "indices", "data"):
                np.testing.assert_array_equal(device.to_host(getattr(found, name)), getattr(matrix, name))
        else:
            np.testing.assert_array_equal(device.to_host(found), matrix)


ON_THE_DEVICE = [
    pk.PropagationKernel(t_max=3, random_state=0),
    pk.PropagationKernel(t_max=2, random_state=0, n_hashes=3, normalize=True),
    pk.PropagationKernel(t_max=2, random_state=0, base_kernel="intersection", normalize=True),
    pk.PropagationKernel(t_max=2, random_state=0, base_kernel="jaccard"),
    pk.WeisfeilerLehman(t_max=2, base_kernel="intersection"),
]


@pytest.mark.parametrize("kernel", ON_THE_DEVICE, ids=one_line)
def test_kernel_matrices_can_stay_on_the_device(device, kernel):
    graphs, new = attributed(), attributed((3, 9), 1)
    calls = ("fit_transform", graphs), ("transform", new), ("fit_transform_cumulative", graphs)
    expected = [getattr(kernel.set_params(device="cpu", output="host"), name)(x) for name, x in calls]
    kernel.set_params(device="cuda", output="device")
    for (name, x), matrix in zip(calls, expected, strict=True):
        there = getattr(kernel, name)(x)
        assert isinstance(there, device.xp.ndarray)
        np.testing.assert_array_equal(device.to_host(there), matrix)


@pytest.mark.parametrize("free", [2**34, 100])
def test_counts_reach_the_host_when_they_are_read(device, monkeypatch, free):
    graphs, new = attributed(), attributed((3, 9), 1)
    kernel = pk.PropagationKernel(t_max=2, random_state=0, n_hashes=2, normalize=True)
    kernel.set_params(device="cuda")
    expected = kernel.fit(graphs).transform(new)
    diagonal = kernel.diagonal_
    matrix = kernel.fit_transform(graphs)
    np.testing.assert_array_equal(kernel.diagonal_, diagonal)
    monkeypatch.setattr(device, "free_bytes", lambda: free, raising=False)
    np.testing.assert_array_equal(kernel.transform(new), expected)
    for copy in (pickle.loads(pickle.dumps(kernel)), kernel):
        np.testing.assert_array_equal(copy.transform(new), expected)
    np.testing.assert_array_equal(kernel.set_params(device="cpu").fit_transform(graphs), matrix)


def test_a_kernel_matrix_that_does_not_fit_the_device_is_refused(device, monkeypatch):
    kernel = pk.PropagationKernel(t_max=2, random_state=0, device="cuda", output="device")
    monkeypatch.setattr(pipeline.Device, "count", lambda *_: None)
    monkeypatch.setattr(device, "free_bytes", lambda: 100, raising=False)
    with pytest.raises(ValueError, match='does not fit the memory of the GPU: use output="host"'):
        kernel.fit_transform(attributed())


def test_batches_that_do_not_fit_the_memory(device, monkeypatch):
    graphs = many_graphs(SIZES["molecules"])
    features = pk.PropagationFeatures(t_max=3, random_state=0, n_features=2**12)
    expected = features.fit_transform(graphs)
    memory = pipeline.BYTES_OF_A_CODE * 4 * 100 / pipeline.SHARE_OF_MEMORY
    monkeypatch.setattr(device, "free_bytes", lambda: memory, raising=False)
    same(features.set_params(device="cuda").fit_transform(graphs), expected)
    kernel = pk.PropagationKernel(t_max=3, random_state=0)
    gram = kernel.fit_transform(graphs)
    np.testing.assert_array_equal(kernel.set_params(device="cuda").fit_transform(graphs), gram)


def test_models_and_indexes_pass_through_their_kernel(device):
    data = pk.datasets.make_molecules(60, random_state=0)
    answers = []
    for where in ("cpu", "cuda"):
        kernel = pk.PropagationKernel(t_max=2, random_state=0, device=where)
        model = pk.PropagationClassifier(kernel=kernel, C=1.0, random_state=0, cv=3)
        index = pk.GraphIndex(kernel=kernel).fit(data.graphs[:50])
        decisions = model.fit(data.graphs[:50], data.target[:50]).decision_function(data.graphs)
        answers.append((decisions, *index.query(data.graphs[50:], k=3)))
    for computed, expected in zip(*answers, strict=True):
        np.testing.assert_array_equal(computed, expected)


def test_auto_leaves_small_work_to_the_cpu(device, monkeypatch):
    monkeypatch.setattr(pipeline, "cuda", lambda: 1 / 0)
    graphs = many_graphs(SIZES["molecules"])
    pk.PropagationKernel(t_max=1, random_state=0, device="auto").fit_transform(graphs)
    monkeypatch.setattr(pipeline, "WORTH_MOVING", 1)
    with pytest.raises(ZeroDivisionError):
        pk.PropagationKernel(t_max=1, random_state=0, device="auto").fit_transform(graphs)


@pytest.mark.parametrize("parameter", ["device", "output"])
def test_unknown_names_are_refused(parameter):
    graphs = many_graphs(SIZES["molecules"])
    with pytest.raises(ValueError, match=parameter):
        pk.PropagationFeatures(n_features=8, **{parameter: "tpu"}).fit(graphs)


def test_without_cupy_or_gpu_one_sentence_says_so():
    graphs = many_graphs(SIZES["molecules"])
    try:
        import_cupy()
    except (ImportError, RuntimeError) as error:
        with pytest.raises(type(error), match='device="cuda" needs'):
            pk.PropagationKernel(device="cuda").fit(graphs)

"""Pairwise kernels: tiles, threads, time limits, resuming and checkpoints."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import tiles
from propkernels.kernels.pairwise_kernel import IncompleteKernelWarning
from tests.zoo import labelled_zoo


def attributed(copies=1):
    graphs = pk.GraphDatabase.concat([labelled_zoo()] * copies)
    return graphs.with_attributes(np.column_stack([np.log1p(graphs.degrees), graphs.node_labels % 3]))


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "NODES_IN_TILE", 16)


KERNELS = [
    pk.AttributeKernel(),
    pk.ShortestPath(attributes="gaussian"),
    pk.GraphHopper(attributes="gaussian"),
    pk.SubgraphMatching(k=3, attributes="gaussian"),
    pk.SubgraphMatching(k=3, connected=False),
]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_tiles_and_threads_do_not_matter(kernel, monkeypatch):
    graphs = attributed()
    reference = kernel.fit_transform(graphs)
    monkeypatch.setattr(tiles, "NODES_IN_TILE", 16)
    for n_jobs in (1, 2):
        other = pickle.loads(pickle.dumps(kernel)).set_params(n_jobs=n_jobs)
        assert np.array_equal(other.fit_transform(graphs), reference)
        np.testing.assert_allclose(other.transform(graphs[5:9]), reference[5:9], rtol=1e-12)
    values = np.linalg.eigvalsh(reference)
    assert values.min() >= -1e-9 * values.max()


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_time_limit_stops_and_resume_goes_on(kernel, small_tiles):
    graphs = attributed()
    reference = pickle.loads(pickle.dumps(kernel)).fit_transform(graphs)
    limited = pickle.loads(pickle.dumps(kernel)).set_params(time_limit=1e-9)
    with pytest.warns(IncompleteKernelWarning, match="0 % of the kernel is computed"):
        partial = limited.fit_transform(graphs)
    assert np.isnan(partial).all()
    assert limited.completed_ == 0.0
    with pytest.warns(IncompleteKernelWarning):
        assert np.isnan(limited.transform(graphs[:2])).all()
    limited = pickle.loads(pickle.dumps(limited))  # resuming works in another process
    assert np.array_equal(limited.resume(), reference)
    assert limited.completed_ == 1.0
    with pytest.raises(ValueError, match="nothing to resume"):
        limited.resume()


def test_what_is_done_in_time_is_right(small_tiles, monkeypatch):
    """A clock that ticks with each look at it: some tiles are computed, their mirror images too."""
    graphs = attributed()
    reference = pk.AttributeKernel(normalize=True).fit_transform(graphs)
    clock = iter(range(10**6))
    monkeypatch.setattr(tiles, "monotonic", lambda: next(clock))
    kernel = pk.AttributeKernel(time_limit=40, normalize=True)
    with pytest.warns(IncompleteKernelWarning):
        partial = kernel.fit_transform(graphs)
    known = ~np.isnan(partial)
    assert 0 < known.mean() < 1
    assert known.diagonal().all()
    assert np.array_equal(known, known.T)
    assert np.array_equal(partial[known], reference[known])
    with pytest.warns(IncompleteKernelWarning):
        kernel.resume(time_limit=20)
    assert known.mean() < kernel.completed_ + 0.5
    assert np.array_equal(kernel.resume(), reference)


def test_checkpoint(tmp_path, small_tiles, monkeypatch):
    graphs, path = attributed(), tmp_path / "kernel.npz"
    reference = pk.SubgraphMatching(k=3, connected=False).fit_transform(graphs)
    with pytest.warns(IncompleteKernelWarning):
        pk.SubgraphMatching(k=3, connected=False, time_limit=1e-9, checkpoint=path).fit_transform(graphs)
    assert [file.name for file in tmp_path.iterdir()] == ["kernel.npz"]
    assert np.array_equal(
        pk.SubgraphMatching(k=3, connected=False, checkpoint=path).fit_transform(graphs), reference
    )

    def refuse(*arguments):
        raise AssertionError("computed again")

    comparison = "propkernels.kernels.cliques.SubgraphComparison.tile"
    monkeypatch.setattr(comparison, refuse)
    again = pk.SubgraphMatching(k=3, connected=False, checkpoint=str(path), n_jobs=2)
    assert np.array_equal(again.fit_transform(graphs), reference)
    cumulative = pk.SubgraphMatching(k=3, connected=False, checkpoint=path).fit_transform_cumulative(graphs)
    assert np.array_equal(cumulative[-1], reference)


def test_checkpoint_of_something_else_is_refused(tmp_path):
    graphs, path = attributed(), tmp_path / "kernel.npz"
    pk.AttributeKernel(checkpoint=path).fit_transform(graphs)
    before = path.read_bytes()
    for kernel, data in (
        (pk.AttributeKernel(gamma=2.0, checkpoint=path), graphs),
        (pk.AttributeKernel(checkpoint=path), graphs[:-1]),
        (pk.AttributeKernel(checkpoint=path), graphs.with_attributes(2 * graphs.node_attributes)),
    ):
        with pytest.raises(ValueError, match="other graphs or parameters"):
            kernel.fit_transform(data)
    assert path.read_bytes() == before
    path.write_text("not a checkpoint")
    with pytest.raises(ValueError, match="not readable"):
        pk.AttributeKernel(checkpoint=path).fit_transform(graphs)


def test_work_that_fails_is_saved(tmp_path, small_tiles, monkeypatch):
    graphs, path = attributed(), tmp_path / "kernel.npz"
    from propkernels.kernels.attribute_kernel import MeanOverPairs

    original, calls = MeanOverPairs.tile, []

    def interrupted(self, *arguments):
        calls.append(arguments)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(MeanOverPairs, "tile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pk.AttributeKernel(checkpoint=path).fit_transform(graphs)
    with np.load(path, allow_pickle=False) as file:
        assert file["done"].sum() == 8

"""Files of the version before the counting protocol still load, and mean the same.

They were written on ``make_molecules(24, random_state=0)``; ``expected.npz`` holds what the models said then.
"""

from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.members import FoldedMember

EARLIER = Path(__file__).parent / "earlier"
GRAPHS = pk.datasets.make_molecules(24, random_state=0).graphs


def expected(name):
    with np.load(EARLIER / "expected.npz") as values:
        return values[name]


def test_a_folded_classifier():
    model = pk.load_model(EARLIER / "classifier.pk")
    assert isinstance(model.rule_.members[0], FoldedMember)
    assert np.array_equal(model.decision_function(GRAPHS), expected("classifier"))
    assert np.allclose(model.explain(GRAPHS).decisions, expected("classifier"), atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", ["levels", "ratio", "hopper", "sum", "sum_normalized", "mean"])
def test_rules_of_every_kind(name):
    """Levels of intersections, kernels with training graphs, and sums of both; last digits may differ."""
    model = pk.load_model(EARLIER / f"{name}.pk")
    assert np.allclose(model.decision_function(GRAPHS), expected(name), atol=1e-14, rtol=0)
    assert np.allclose(model.explain(GRAPHS).decisions, expected(name), atol=1e-9, rtol=0)


def test_an_index():
    index = pk.load_model(EARLIER / "index.pk")
    assert np.array_equal(np.column_stack(index.query(GRAPHS, k=3)), expected("index"))
    assert len(index.add(GRAPHS[:2], ids=["a", "b"])) == 26


@pytest.mark.parametrize("name", ["paths", "subgraphs", "intersection"])
def test_kernels_count_as_they_did(name):
    kernel = pk.load_model(EARLIER / f"{name}.pk")
    assert np.array_equal(kernel.transform(GRAPHS), expected(name))
    counter, train = kernel._counter, kernel._training_counts
    streams = counter.count(GRAPHS, [stream.codes for stream in train], None)
    product = sum(
        a.weight * (a.counts[:, : b.counts.shape[1]] @ b.counts.T)
        for a, b in zip(streams, train, strict=True)
    ).toarray()
    assert np.allclose(product, kernel.set_params(normalize=False).transform(GRAPHS), atol=1e-12, rtol=0)

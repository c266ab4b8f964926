"""DescriptorKernel against its naive twin; models, explanations and files with descriptors."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import DescriptorKernel

DATA = pk.datasets.make_molecules(40, random_state=0)
RNG = np.random.default_rng(0)
VALUES = np.column_stack([RNG.normal(size=40), RNG.integers(0, 4, 40), np.ones(40)])
GRAPHS = DATA.graphs.with_descriptors(VALUES, ["a", "b", "constant"])
TARGET = VALUES[:, 0] + 0.1 * GRAPHS.graph_sizes


def rank(value, column):
    """Return the share of smaller known values of a column; equal ones count half."""
    known = column[~np.isnan(column)]
    return 0.5 if np.isnan(value) else ((known < value).sum() + 0.5 * (known == value).sum()) / len(known)


def naive(values, training, gamma):
    """Return exp(-gamma * mean |rank differences|) over the descriptors that differ, pair by pair."""
    ranks = [{rank(value, column) for value in column} for column in training.T]
    chosen = [j for j, different in enumerate(ranks) if len(different) > 1]
    kernel = np.empty((len(values), len(training)))
    for i, x in enumerate(values):
        for k, y in enumerate(training):
            gaps = [abs(rank(x[j], training[:, j]) - rank(y[j], training[:, j])) for j in chosen]
            kernel[i, k] = np.exp(-gamma * np.mean(gaps))
    return kernel


def test_equals_the_naive_twin():
    values = VALUES.copy()
    values[3, 0] = values[5, 1] = np.nan
    graphs = DATA.graphs.with_descriptors(values)
    kernel = DescriptorKernel(gamma=2.0)
    np.testing.assert_allclose(kernel.fit_transform(graphs[:30]), naive(values[:30], values[:30], 2.0))
    np.testing.assert_allclose(kernel.transform(graphs[30:]), naive(values[30:], values[:30], 2.0))


def kernels():
    nodes = pk.WeisfeilerLehman(t_max=1, base_kernel="jaccard")
    return [
        DescriptorKernel(),
        pk.SumKernel([nodes, DescriptorKernel()], weights=[0.7, 0.3]),
        pk.SumKernel([nodes, DescriptorKernel()], normalize=True),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", kernels(), ids=["descriptors", "sum", "normalized"])
def test_models_explain_and_save_descriptors(kernel, tmp_path):
    model = pk.PropagationRegressor(kernel=kernel, C=[1.0, 10.0], cv=2, random_state=0).fit(GRAPHS, TARGET)
    explanation = model.explain(GRAPHS)
    np.testing.assert_allclose(explanation.decisions, model.predict(GRAPHS), rtol=1e-10)
    assert np.all(explanation.descriptor_terms != 0)
    assert explanation.descriptors_of(3) == explanation.descriptor_terms[3]
    assert np.isfinite(model.predict_interval(GRAPHS[:3], 0.5)).all()
    pk.save_model(model, tmp_path / "model.pk")
    np.testing.assert_array_equal(pk.load_model(tmp_path / "model.pk").predict(GRAPHS), model.predict(GRAPHS))
    with pytest.raises(TypeError, match="fit one without descriptors"):
        model.counterfactuals(GRAPHS[0], target=0.0)

"""top_bins: the bins with the largest weights, which add up to decisions."""

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils.checks import format_number
from propkernels.kernels import LabelHistogram
from propkernels.propagation import Diffusion

DATA = pk.datasets.make_molecules(50, random_state=0)
KERNEL = pk.PropagationKernel(propagation=Diffusion(0.5, "none"), t_max=1)


def fitted(target=DATA.target, cls=pk.PropagationClassifier, kernel=KERNEL, **options):
    return cls(kernel=kernel, C=10, t_max=1, normalize=False, cv=2, random_state=0, **options).fit(
        DATA.graphs, target
    )


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "linear"])
def test_all_bins_together_are_the_decision(solver):
    """Of node codes, the contribution of a node is the weight of its bin."""
    model = fitted(solver=solver)
    bins = model.top_bins(DATA.graphs, DATA.target, n=10**6)
    sizes = [abs(one.weight) for one in bins]
    assert sizes == sorted(sizes, reverse=True)
    contributions = model.explain(DATA.graphs)
    for one in bins:
        node = DATA.graphs.graph_ptr[one.graph] + one.node
        np.testing.assert_allclose(contributions.contributions[node, one.t], one.weight)
    assert bins.subject == contributions.subject


def test_shares_are_those_of_the_class_that_is_spoken_for():
    model = fitted()
    first, second = (model.top_bins(DATA.graphs, DATA.target, 3, classes=pair) for pair in ((1, 0), (0, 1)))
    for one, other in zip(first, second, strict=True):
        assert one.weight == -other.weight
        np.testing.assert_allclose(one.mean_with, 1 - other.mean_with)
        np.testing.assert_allclose(one.mean_without, 1 - other.mean_without)
    assert "(weights for apart against bonded)" in str(second)


def test_a_planted_bin_is_found():
    """One label decides the class: it is the strongest bin."""
    planted = np.array([int("O" in graph.node_labels) for graph in DATA.graphs])
    assert 0 < planted.mean() < 1
    model = fitted(planted, kernel=LabelHistogram(base_kernel="linear"))
    (top,) = shown = model.top_bins(DATA.graphs, planted, n=1)
    assert format_number(top.weight) in str(shown).split()
    assert top.neighborhood == "O"
    assert (top.mean_with, top.mean_without, top.n_graphs) == (1.0, 0.0, planted.sum())
    assert top.weight > 0


@pytest.mark.parametrize("column", [0, 1])
def test_bins_of_one_of_several_targets(column):
    """Means over the graphs whose entry is known; a number that is negated has negated weights."""
    kernel, sizes = LabelHistogram(base_kernel="linear"), DATA.graphs.graph_sizes.astype(float)
    labels = np.column_stack([DATA.target, sizes > np.median(sizes)]).astype(float)
    labels[::4, 1] = np.nan
    (top,) = fitted(labels, kernel=kernel).top_bins(DATA.graphs, labels, 1, classes=column)
    having = np.array([top.neighborhood in graph.node_labels for graph in DATA.graphs])
    expected = [np.nanmean(labels[m, column]) if m.any() else np.nan for m in (having, ~having)]
    np.testing.assert_allclose([top.mean_with, top.mean_without], expected)
    numbers = np.column_stack([sizes, -sizes])
    model = fitted(numbers, pk.PropagationRegressor, kernel=kernel)
    bins = model.top_bins(DATA.graphs, numbers, 2, column=column)
    (top, _), (other, _) = bins, model.top_bins(DATA.graphs, numbers, 2, column=1 - column)
    np.testing.assert_allclose([top.weight, top.mean_with], [-other.weight, -other.mean_with], rtol=1e-6)
    having = np.array([top.neighborhood in graph.node_labels for graph in DATA.graphs])
    assert top.mean_with == pytest.approx(numbers[having, column].mean())
    assert bins.subject == "for a larger prediction"
    for wrong in (2, -1):
        with pytest.raises(ValueError, match="column must be"):
            model.top_bins(DATA.graphs, column=wrong)
    assert len(model.top_bins(DATA.graphs)) == min(10, len(set(DATA.graphs.node_labels)))


def test_molecules_give_patterns():
    chem = pytest.importorskip("rdkit.Chem")
    texts = ["CCO", "CCCO", "OC1CC1", "Oc1ccccc1", "CCN", "CCCN", "NC1CC1", "Nc1ccccc1"]
    mols = [chem.MolFromSmiles(text) for text in texts]
    for hydrogens in (False, True):
        graphs = pk.from_rdkit(mols, explicit_hydrogens=hydrogens)
        kernel = pk.WeisfeilerLehman(t_max=2)
        model = pk.PropagationClassifier(kernel=kernel, C=10, cv=2, t_max=2, random_state=0)
        model.fit(graphs, [1] * 4 + [0] * 4)
        for one in model.top_bins(graphs, n=20, molecules=mols):
            whole = chem.AddHs(mols[one.graph]) if hydrogens else mols[one.graph]
            pattern = chem.MolFromSmarts(one.smarts)
            assert pattern.GetNumAtoms() == len(one.nodes)
            assert pattern.GetNumBonds() == one.subgraph.n_edges
            assert set(one.nodes) in [
                set(match) for match in whole.GetSubstructMatches(pattern, maxMatches=10**4)
            ]
    with pytest.raises(ValueError, match="8 molecules for 3 graphs"):
        model.top_bins(graphs[:3], molecules=mols)
    with pytest.raises(ValueError, match="molecules are not those of the graphs: molecule"):
        model.top_bins(graphs, molecules=mols[::-1])


def test_a_kernel_without_bins_is_refused():
    model = fitted(kernel=pk.PropagationKernel(base_kernel="rbf", t_max=1))
    with pytest.raises(TypeError, match="its bins have no weights"):
        model.top_bins(DATA.graphs)


@pytest.mark.parametrize(("y", "n"), [([1, 0], 3), (None, 0)])
def test_bad_input_is_named(y, n):
    with pytest.raises(ValueError, match=r"y must have|n must be"):
        fitted().top_bins(DATA.graphs, y, n)

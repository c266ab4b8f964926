"""Methods that predict warn of graphs whose labels no training graph has."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk


def model(kernel=None, target=None, kind=pk.PropagationClassifier):
    data = pk.datasets.make_molecules(40, random_state=0)
    kernel = pk.PropagationKernel(t_max=1) if kernel is None else kernel
    return kind(kernel=kernel, t_max=1, C=1, random_state=0).fit(
        data.graphs, data.target if target is None else target
    )


def labeled(*labels):
    path = nx.path_graph(len(labels))
    nx.set_node_attributes(path, dict(enumerate(labels)), "label")
    return path


def known_label():
    return pk.datasets.make_molecules(40, random_state=0).graphs.label_values[0]


METHODS = ["predict", "predict_proba", "decision_function", "predict_set", "explain", "counterfactuals"]
KERNELS = [
    pk.PropagationKernel(t_max=1, n_hashes=2),
    pk.PropagationKernel(t_max=1, base_kernel="intersection"),
    pk.PropagationKernel(t_max=1, base_kernel="tanimoto"),
    pk.WeisfeilerLehman(t_max=1, base_kernel="intersection"),
]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_unknown_labels_are_named(kernel):
    fitted = model(kernel)
    graphs = pk.from_networkx([labeled("Zz", known_label()), labeled(known_label(), known_label())])
    with pytest.warns(
        pk.models.ForeignGraphsWarning, match=r"^1 of 2 graphs .* such as 'Zz' \(25.0 % of all nodes\)"
    ) as said:
        fitted.predict(graphs)
    assert len(said) == 1
    assert said[0].filename == __file__


def test_known_labels_are_not_spoken_about():
    fitted, graphs = model(), pk.datasets.make_molecules(40, random_state=0).graphs
    fitted.predict(graphs)  # warnings are errors in tests
    fitted.predict(pk.from_networkx([labeled(known_label())] * 20 + [labeled("Zz")]))  # one in 21


def test_unusual_degrees():
    paths = pk.from_networkx([nx.path_graph(n) for n in range(4, 24)])
    fitted = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=1), C=1, random_state=0)
    fitted.fit(paths, np.arange(20) % 2)
    fitted.predict(pk.from_networkx([nx.path_graph(40)]))
    for method in METHODS:
        with pytest.warns(pk.models.ForeignGraphsWarning, match="nodes whose degree no training graph has"):
            getattr(fitted, method)(pk.from_networkx([nx.complete_graph(6)]))
    star = nx.path_graph(60)
    star.add_edges_from([(30, 10), (30, 50)])  # three unusual degrees of sixty nodes
    star.remove_edges_from([(10, 11), (50, 51)])
    fitted.predict(pk.from_networkx([star]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", [pk.ShortestPath(), pk.kernels.GraphHopper()])
def test_every_kernel_and_every_method_warns(kernel, method):
    fitted = model(kernel)
    with pytest.warns(pk.models.ForeignGraphsWarning, match="'Zz'") as said:
        getattr(fitted, method)(pk.from_networkx([labeled("Zz", "Zz")]))
    assert [each.filename for each in said] == [__file__]


@pytest.mark.parametrize("labels", ["symbol", ("symbol", "invariants", "pharmacophore")])
def test_labels_of_another_reader_are_foreign(labels):
    pytest.importorskip("rdkit")
    smiles = ["C" * n + end for n in range(1, 11) for end in ("O", "N")]
    graphs = pk.from_smiles(smiles, node_labels=labels)
    others = pk.from_smiles(smiles, node_labels=("symbol", "invariants"))
    fitted = pk.PropagationRegressor(kernel=pk.ShortestPath(), random_state=0).fit(graphs, graphs.graph_sizes)
    fitted.predict_interval(pk.from_smiles(["CCCCCCCCCCCCNO"] * 3, node_labels=labels))  # other neighborhoods
    with pytest.warns(pk.models.ForeignGraphsWarning, match="100.0 % of all nodes"):
        fitted.predict_interval(others)
    advice = 'node_labels="symbol"' if labels == "symbol" else "see applicability"
    for method in (fitted.predict, fitted.explain):
        with pytest.warns(pk.models.ForeignGraphsWarning, match=f"100.0 % of all nodes.*{advice}"):
            method(others)


@pytest.mark.parametrize("method", METHODS)
def test_graphs_without_labels_are_foreign_to_a_model_of_labels(method):
    with pytest.warns(pk.models.ForeignGraphsWarning, match="^the graphs have no node labels") as said:
        getattr(model(), method)(pk.from_networkx([nx.path_graph(3)]))
    assert [each.filename for each in said] == [__file__]


def test_evaluation_is_quiet():
    graphs = pk.from_networkx([labeled(str(i), "C") for i in range(20)])
    kernel = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=1), C=1, random_state=0)
    pk.evaluate(graphs, np.arange(20) % 2, kernel, cv=2, random_state=0)


def test_kernels_of_degrees_ask_for_no_labels():
    fitted = model(pk.WeisfeilerLehman(t_max=1, labels="degree"))
    fitted.predict(pk.from_networkx([labeled("Zz", "Zz")]))  # warnings are errors in tests


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_models_of_nodes_warn_of_labels_of_another_graph(method):
    path = labeled(*"CNOCNOCNOC")
    fitted = pk.NodeClassifier(C=1, cv=2, random_state=0).fit(path, [0, 1] * 5)
    getattr(fitted, method)()
    getattr(fitted, method)(path)  # warnings are errors in tests
    for strange, message in (
        (labeled(*"CNXYZ"), "such as 'X', 'Y', 'Z'"),
        (nx.path_graph(5), "no node labels"),
    ):
        with pytest.warns(pk.models.ForeignGraphsWarning, match=message) as said:
            getattr(fitted, method)(strange)
        assert [each.filename for each in said] == [__file__]

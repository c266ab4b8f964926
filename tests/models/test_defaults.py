"""Which kernels are tried when the user names none."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.models.defaults import check_kernels, default_kernels, default_steps
from tests.zoo import hide_labels

GRAPHS = pk.datasets.make_molecules(6, random_state=0).graphs


def named(graphs, **arguments):
    """Class, base kernel and treatment of attributes of each default kernel."""
    kernels = default_kernels(graphs, **arguments)
    return [(type(k).__name__, k.base_kernel, getattr(k, "attributes", None)) for k in kernels]


PK, WL = "PropagationKernel", "WeisfeilerLehman"


def test_labelled_graphs():
    compared = {(kind, base) for kind, base, _ in named(GRAPHS)}
    assert compared == {(kind, base) for kind in (PK, WL) for base in ("linear", "intersection", "jaccard")}
    schemes = [kernel.propagation for kernel in default_kernels(GRAPHS) if type(kernel).__name__ == PK]
    assert schemes.count("auto") == 1
    assert all(scheme == "auto" or scheme.normalization == "none" for scheme in schemes)


def test_many_labelled_graphs_are_not_compared_by_dot_products():
    many = GRAPHS[np.zeros(2001, dtype=int)]
    assert "linear" not in {base for _, base, _ in named(many)}
    assert "linear" in {base for _, base, _ in named(many[:2000])}
    assert "linear" in {base for _, base, _ in named(many, is_regression=True)}


def test_numbers_are_also_tried_with_ratios_of_counts():
    bases = {base for _, base, _ in named(GRAPHS, is_regression=True)}
    assert bases == {"linear", "intersection", "tanimoto", "jaccard"}


def test_bonds_are_told_apart_where_there_are_some():
    assert not any(getattr(kernel, "edge_labels", False) for kernel in default_kernels(GRAPHS))
    graphs = pk.GraphDatabase(
        np.array([[0, 1], [1, 0]]), [0, 2], node_labels=["C", "O"], edge_labels=["double", "double"]
    )
    for is_regression in (False, True):
        kernels = default_kernels(graphs, is_regression=is_regression)
        tried = {(type(kernel).__name__, kernel.edge_labels) for kernel in kernels}
        both = {(kind, flag) for kind in (PK, WL) for flag in (False, True)}
        assert tried == both | {("ShortestPath", True)}


def test_views_of_atoms_are_refined_side_by_side():
    path = np.array([[0, 1], [1, 0]])
    labels = [("C", (1, 4), "none"), ("O", (1, 2), "donor")]
    graphs = pk.GraphDatabase(path, [0, 2], node_labels=labels)
    (ratio,), products = default_kernels(graphs), default_kernels(graphs, is_linear=True)
    assert (ratio.labels, ratio.base_kernel) == ("entries", "jaccard")
    assert [(kernel.labels, kernel.base_kernel) for kernel in products] == [
        ("entries", "intersection"),
        (0, "intersection"),
    ]
    assert not any(kernel.edge_labels for kernel in default_kernels(graphs))
    bonds = pk.GraphDatabase(path, [0, 2], node_labels=labels, edge_labels=["double", "double"])
    *single, total = default_kernels(bonds, is_regression=True)
    assert all(kernel.edge_labels for kernel in single)
    assert {kernel.base_kernel for kernel in single} == {"intersection", "jaccard"}
    assert [kernel.labels for kernel in total.kernels] == ["entries", "entries", 1, 2]
    assert sum(total.weights) == pytest.approx(1)
    numbers = pk.GraphDatabase(path, [0, 2], node_labels=[(1, 2), (3, 4)])
    assert {kernel.labels for kernel in default_kernels(numbers)} == {"auto"}


def test_classes_of_molecules_have_one_radius():
    smiles = ["C" * n + end for n in range(1, 9) for end in "ON"]
    graphs, target = pk.MoleculesToGraphs().transform(smiles), [0, 1] * 8
    assert pk.PropagationClassifier(random_state=0).fit(graphs, target).t_max_ == 3
    assert pk.PropagationClassifier(t_max=1, random_state=0).fit(graphs, target).t_max_ == 1
    assert default_steps(default_kernels(graphs, is_regression=True)) is None
    assert default_steps(default_kernels(graphs, is_linear=True)) is None
    assert default_steps(default_kernels(GRAPHS)) is None


def test_descriptors_are_added_to_a_ratio_of_counts():
    graphs = pk.datasets.make_molecules(5, random_state=0).graphs
    described = graphs.with_descriptors(np.zeros((5, 1)))
    for is_regression in (False, True):
        n_plain = len(default_kernels(graphs, is_regression=is_regression))
        sums = default_kernels(described, is_regression=is_regression)[n_plain:]
        kinds = [[type(part).__name__ for part in kernel.kernels] for kernel in sums]
        assert kinds == [[PK, "DescriptorKernel"]] * 2
        assert {kernel.kernels[0].base_kernel for kernel in sums} == {"jaccard"}


def test_shortest_paths_are_left_out_where_graphs_are_large():
    path = nx.path_graph(200)
    nx.set_node_attributes(path, "C", "label")
    nx.set_edge_attributes(path, "single", "label")
    graphs = pk.from_networkx([path])
    assert {type(kernel).__name__ for kernel in default_kernels(graphs)} == {PK, WL}


@pytest.mark.parametrize(("dimensions", "expected"), [(1, {"sum"}), (3, {"sum"}), (4, {"sum", "product"})])
def test_attributes_are_taken_together_where_there_are_many(dimensions, expected):
    attributes = np.random.default_rng(0).normal(size=(GRAPHS.n_nodes, dimensions))
    graphs = GRAPHS.with_attributes(attributes)
    found = {treatment for _, _, treatment in named(graphs)} - {None}
    assert found == expected
    assert default_kernels(graphs)[0].n_hashes == {1: 20, 3: 6, 4: 5}[dimensions]


def test_missing_labels_are_propagated_or_diffused_in_wide_bins():
    kernels = default_kernels(hide_labels(GRAPHS, 0.3, random_state=0))
    assert kernels[0].propagation == "label_propagation"
    assert any(getattr(kernel, "bin_width", 0) == 1.0 and kernel.prior == "frequency" for kernel in kernels)


def test_grids_leave_the_scheme_to_the_kernel():
    kernels = default_kernels(pk.GridDatabase([np.eye(4, dtype=int)]))
    assert [kernel.propagation for kernel in kernels] == ["auto", "auto"]


def test_unlabelled_graphs_are_tried_with_degrees_and_their_magnitude():
    kernels = default_kernels(GRAPHS.with_labels(None))
    sources = {kernel.labels for kernel in kernels}
    assert sources == {"auto", "log_degree"}


def test_the_users_kernels_come_first_and_alone():
    kernel = pk.WeisfeilerLehman()
    assert check_kernels(kernel, GRAPHS) == [kernel]
    assert check_kernels((kernel, kernel), GRAPHS) == [kernel, kernel]

"""Types of graphs: what the aliases name is what functions take."""

import typing

import numpy as np

import propkernels as pk
from propkernels.graphs import accepted


def test_databases_of_graphs_and_grids_are_accepted():
    grids = pk.GridDatabase([np.zeros((2, 2), dtype=int)])
    graphs = pk.datasets.make_molecules(2, random_state=0).graphs
    for database in (grids, graphs):
        assert isinstance(database, typing.get_args(accepted.Database))
        assert isinstance(pk.check_graphs(database), typing.get_args(accepted.Database))
    assert set(typing.get_args(accepted.Database)) < set(typing.get_args(accepted.Graphs))


def test_items_of_databases_are_one_graph():
    grids = pk.GridDatabase([np.zeros((2, 2), dtype=int)])
    graphs = pk.datasets.make_molecules(3, random_state=0).graphs
    named = tuple(kind for kind in typing.get_args(accepted.OneGraph) if kind is not typing.Any)
    for graph in (graphs[0], graphs[[0]], grids[0]):
        assert isinstance(graph, named)


def test_data_sets_have_graphs_and_targets():
    data = pk.datasets.make_molecules(4, random_state=0)
    wanted = [name for name in vars(accepted.GraphsWithTargets) if not name.startswith("_")]
    assert wanted == ["graphs", "target"]
    assert len(getattr(data, wanted[0])) == len(getattr(data, wanted[1]))

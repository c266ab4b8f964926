"""Views of nodes: what a model tries, and weights of propagated columns."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.nodes.inputs import learn_inputs
from propkernels.nodes.views import Block, Sheet, default_views


@pytest.fixture(scope="module")
def sheet():
    club = nx.karate_club_graph()
    attributes = np.random.default_rng(0).normal(size=(34, 3))
    graphs = pk.GraphDatabase(nx.to_scipy_sparse_array(club), [0, 34], None, attributes)
    return Sheet(graphs, learn_inputs(graphs, "both", True, 0)[0])


@pytest.mark.parametrize(
    "block",
    [
        Block("attributes", last=2),
        Block("attributes", "renormalized", 3),
        Block("attributes", last=2, summed=True),
        Block("structure", last=1),
        Block("codes"),
    ],
    ids=str,
)
def test_weights_of_columns_need_no_columns(sheet, block):
    nodes = np.arange(34)
    columns = sheet.at(nodes, [block]).block(block, nodes, None)
    weights = np.random.default_rng(1).normal(size=(columns.shape[1], 2))
    np.testing.assert_allclose(sheet.project([block], [weights], None), columns @ weights, atol=1e-9)


def test_projections_of_several_blocks_add_up(sheet):
    blocks = [Block("attributes", last=2), Block("structure", last=3), Block("attributes", "renormalized", 1)]
    blocks += [Block("attributes", last=1, summed=True), Block("structure")]
    nodes, rng = np.arange(34), np.random.default_rng(1)
    parts = [sheet.at(nodes, [block]).block(block, nodes, None) for block in blocks]
    weights = [rng.normal(size=(part.shape[1], 2)) for part in parts]
    expected = sum(part @ w for part, w in zip(parts, weights, strict=True))
    np.testing.assert_allclose(sheet.project(blocks, weights, None), expected, atol=1e-9)


def test_rows_at_some_places(sheet):
    block, nodes = Block("attributes", last=1), np.arange(34)
    rows = sheet.at(nodes, [block, Block("codes")])
    some = rows.at(np.array([5, 2]))
    every = np.arange(2)
    np.testing.assert_array_equal(some.block(block, every, None), rows.block(block, nodes[[5, 2]], None))
    assert some.codes.shape[0] == 2


def test_views_without_targets_see_none(sheet):
    assert not any(view.uses_targets for view in default_views(sheet.inputs, 34, 2, 0))
    assert any(view.uses_targets for view in default_views(sheet.inputs, 34, 2, 3))


def test_unknown_blocks_are_refused():
    with pytest.raises(ValueError, match="a block is unknown"):
        Block("names")._check_parts()

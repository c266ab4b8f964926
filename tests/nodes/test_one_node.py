"""WalksFrom: features of one node equal those of all nodes."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.nodes.inputs import learn_inputs
from propkernels.nodes.one_node import KnownTargets, WalksFrom
from propkernels.nodes.spreading import Known, return_chances_of, target_hops
from propkernels.nodes.views import Block, Sheet


def graph(n=30, directed=False):
    random = np.random.default_rng(0)
    weights = random.random((n, n)) * (random.random((n, n)) < 0.12)
    weights[5] = weights[:, 5] = 0.0  # an isolated node
    adjacency = csr_array(weights if directed else weights + weights.T)
    return pk.GraphDatabase(adjacency, [0, n], node_attributes=random.normal(size=(n, 3)))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "block",
    [
        Block("attributes", "row", 2),
        Block("attributes", "renormalized", 4, True),
        Block("structure", "row", 3),
        Block("targets", "row", 4),
        Block("crossed"),
        Block("codes"),
    ],
    ids=str,
)
def test_features_of_one_node_are_those_of_all(block, directed):
    given = graph(directed=directed)
    sheet = Sheet(given, learn_inputs(given, "both", True, 0)[0])
    known = KnownTargets(np.array([0, 3, 5, 8]), np.eye(2)[[0, 1, 1, 0]])
    returns = return_chances_of(sheet.walks, known.nodes, 4)
    hops = target_hops(sheet.walks, Known(known.spread, known.nodes, returns), sheet.between([block]))
    nodes = np.arange(given.n_nodes)
    reference = sheet.at(nodes, [block]).block(block, nodes, hops)
    reference = reference.toarray() if hasattr(reference, "toarray") else reference
    walks = WalksFrom(sheet, known)
    computed = np.vstack([walks.block(block, int(v)) for v in nodes])
    np.testing.assert_allclose(computed, reference, rtol=0, atol=1e-12)

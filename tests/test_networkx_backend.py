"""The backend of networkx: bounds that begin small, fall, and end at networkx's own distance."""

import os
import subprocess
import sys
from importlib.metadata import entry_points

import networkx as nx
import pytest

from propkernels import _networkx_backend as backend
from tests.sets.test_isomorphism import carrying


def same(one, other):
    return one["label"] == other["label"]


FUNCTIONS = {
    "structure": {},
    "labels": {"node_match": same, "edge_match": same},
    "costs": {
        "node_subst_cost": lambda a, b: 0.5 * abs(a["label"] - b["label"]),
        "node_del_cost": lambda a: 2.0,
        "node_ins_cost": lambda a: 1.5 + a["label"],
        "edge_subst_cost": lambda a, b: 0.1 * (a != b),
        "edge_del_cost": lambda a: 0.75,
    },
}


def bounds(g, h, **options):
    return list(backend.optimize_graph_edit_distance(backend.Wrapped(g), backend.Wrapped(h), **options))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("functions", FUNCTIONS)
def test_bounds_fall_to_the_distance(functions, directed):
    firsts = []
    for seed in range(6):
        sizes = (4, 5) if seed % 2 else (5, 3)
        graphs = (nx.gnp_random_graph(n, 0.5, seed=seed + i, directed=directed) for i, n in enumerate(sizes))
        g, h = (nx.relabel_nodes(carrying(graph, seed, 3), "v{}".format) for graph in graphs)
        found = bounds(g, h, **FUNCTIONS[functions])
        theirs = list(nx.optimize_graph_edit_distance(g, h, **FUNCTIONS[functions]))
        assert found == sorted(set(found), reverse=True)
        assert found[-1] == pytest.approx(theirs[-1])
        firsts.append((found[0], theirs[0]))
        assert bounds(g, h, upper_bound=theirs[-1] - 0.01, **FUNCTIONS[functions]) == []
    assert sum(ours for ours, _ in firsts) < sum(first for _, first in firsts)


def test_bounds_count_both_directions_of_edges():
    g, h = (nx.DiGraph(graph) for graph in (nx.path_graph(4), nx.cycle_graph(4)))
    assert bounds(g, h) == [nx.graph_edit_distance(g, h)] == [2]


def test_what_is_not_taken_is_said():
    graph, several, directed = nx.Graph(), nx.MultiGraph(), nx.DiGraph()
    assert backend.can_run(backend.FUNCTION, (graph, graph), {}) is True
    assert "parallel edges" in backend.can_run(backend.FUNCTION, (graph,), {"G2": several})
    assert "directed" in backend.can_run(backend.FUNCTION, (graph, directed), {})
    assert "alone" in backend.can_run("pagerank", (graph,), {})


@pytest.mark.processes
def test_networkx_finds_the_backend_and_its_own_tests_pass(tmp_path):
    if "propkernels" not in entry_points(group="networkx.backends").names:
        pytest.skip("the package is not installed: networkx finds backends by their entry points")
    code = """
import sys, networkx as nx
assert "numpy" not in sys.modules
two, six = nx.circular_ladder_graph(2), nx.circular_ladder_graph(6)
assert list(nx.optimize_graph_edit_distance(two, six, backend="propkernels")) == [22.0]
import pytest
tests = ["networkx.algorithms.tests.test_similarity", "networkx.algorithms.tests.test_graph_hashing"]
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "--pyargs", *tests, "-k", "edit or hash"]))
"""
    variables = {"NETWORKX_TEST_BACKEND": "propkernels", "NETWORKX_FALLBACK_TO_NX": "True"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | variables, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

"""Which nodes an edit touches, against breadth-first search, and whether everything is restored."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.edits import NOTHING, RELABEL, REMOVE_LEAF
from propkernels.tracking import touched_compiled, wiring_compiled
from tests.tracking.edited import Edited
from tests.tracking.test_trackers import ALL

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("as_python")]


def tree_with_ring():
    plain = nx.cycle_graph(4)
    nx.add_path(plain, [0, 4, 5, 6, 7])
    nx.add_path(plain, [5, 8])
    nx.set_node_attributes(plain, {v: "CNO"[v % 3] for v in plain}, "label")
    return pk.from_networkx([plain])


def as_networkx(wiring):
    plain = nx.Graph()
    plain.add_nodes_from(np.flatnonzero(wiring.alive).tolist())
    rows = {i: wiring.neighbors[wiring.first[i] :][: wiring.degree[i]] for i in plain}
    plain.add_edges_from((int(i), int(j)) for i, row in rows.items() for j in row)
    return plain


def expected_depths(plain, edits, by_degree, scaled, n_steps):
    """The first step at which each node may differ: 0 at changed starts, 1 at changed rows, then by hops."""
    seeds = {}
    for kind, a, b, _, _ in edits:
        ends = [] if kind == NOTHING else [a] if kind == RELABEL else [a, b]
        starts = ends if by_degree or kind == RELABEL else [b] if kind == 3 else []
        rows = [] if kind in (NOTHING, RELABEL) else ends
        rows = rows + [j for end in rows if scaled and end in plain for j in plain[end]]
        seeds |= {i: min(seeds.get(i, 1), 1) for i in rows}
        seeds |= dict.fromkeys(starts, 0)
    depths = {}
    for seed, depth in seeds.items():
        if seed in plain:
            for node, hops in nx.single_source_shortest_path_length(plain, seed).items():
                depths[node] = min(depths.get(node, n_steps), depth + hops)
    return {node: depth for node, depth in depths.items() if depth < n_steps}


@pytest.mark.parametrize(("by_degree", "scaled"), [(False, False), (True, False), (False, True)])
def test_touched_nodes_are_those_within_reach(by_degree, scaled):
    edited = Edited(tree_with_ring(), 0, n_edits=8)
    kernel = ALL["symmetric" if scaled else "degrees" if by_degree else "walk"]
    tracker = edited.vocabulary(kernel).tracker(edited.graph, edited.alphabet)
    wiring, touched = tracker._parts[0], tracker._parts[4]
    n_steps, values = len(touched.ends), touched_compiled._values(tracker._parts[1], tracker._parts[2])
    for row, edits in enumerate(edited.edits):
        wiring_compiled.apply_edits(wiring, edited.edits, row, touched.before)
        touched_compiled._find_touched(wiring, touched, by_degree, scaled, values, edited.edits, row)
        wanted = expected_depths(as_networkx(wiring), edits.tolist(), by_degree, scaled, n_steps)
        order = touched.order[: touched.ends[-1]].tolist()
        assert len(set(order)) == len(order)
        assert {i: int(wiring.depth[i]) for i in order} == wanted
        assert [sum(d <= t for d in wanted.values()) for t in range(n_steps)] == touched.ends.tolist()
        assert touched.removed.tolist() == [e[1] if e[0] == REMOVE_LEAF else -1 for e in edits]
        touched_compiled._forget(wiring, touched)
        wiring_compiled.take_back_edits(wiring, edited.edits, row, touched.before)
    assert (wiring.depth == wiring_compiled.UNTOUCHED).all()


@pytest.mark.parametrize("name", ["walk", "symmetric", "refinement"])
def test_everything_is_restored(name):
    edited = Edited(tree_with_ring(), 1, n_edits=6)
    tracker = edited.vocabulary(ALL[name]).tracker(edited.graph, edited.alphabet)
    wiring, walk, refinement, coding, _, bins, _ = tracker._parts
    state = walk if refinement is None else refinement
    kept = [state.values.copy(), coding.codes.copy(), wiring.degree.copy(), bins.slots.copy()]
    first = tracker.changes(edited.edits)
    rows = first.rows[: first.ptr[-1]].copy()
    for before, after in zip(kept, [state.values, coding.codes, wiring.degree, bins.slots], strict=True):
        np.testing.assert_array_equal(before, after)
    again = tracker.changes(edited.edits)
    np.testing.assert_array_equal(again.rows[: again.ptr[-1]], rows)

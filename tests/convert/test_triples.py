"""Neighborhoods of entities in triples, against sets."""

import numpy as np
import pytest

import propkernels as pk

FACTS = [("a", "r", "b"), ("a", "s", "b"), ("b", "r", "c"), ("c", "r", "d"), ("d", "t", "a"), ("a", "r", "b")]


def naive_neighborhood(facts, root, radius):
    inside = {root}
    for _ in range(radius):
        inside |= {x for h, _, t in facts for x in (h, t) if h in inside or t in inside}
    return inside, {(h, r, t) for h, r, t in facts if h in inside and t in inside}


@pytest.mark.parametrize("radius", [0, 1, 2, 3])
def test_neighborhoods_against_sets(radius):
    rng = np.random.default_rng(radius)
    facts = [(int(u), "rst"[r], int(v)) for u, v, r in rng.integers(0, [12, 12, 3], size=(18, 3))]
    graphs = pk.from_triples(facts, radius=radius, node_labels="entity")
    assert len(graphs) == len({x for h, _, t in facts for x in (h, t)})
    for graph in graphs:
        inside, expected = naive_neighborhood(facts, graph.id, radius)
        names = graph.node_labels.tolist()
        assert names[0] == graph.id
        assert set(names) == inside
        rows, cols = graph.adjacency.tocoo().coords
        labels = graph.edge_labels.tolist() if graph.edge_labels is not None else []
        found = {(names[u], label, names[v]) for u, v, label in zip(rows, cols, labels, strict=True)}
        assert found == expected


def test_relations_of_one_pair_are_parallel_and_repeated_facts_count_once():
    graphs = pk.from_triples(FACTS, ["a"], radius=1)
    assert graphs.has_parallel_edges
    assert (graphs.adjacency.data == 1).all()
    assert pk.from_triples(np.array(FACTS), ["a"], radius=1) == graphs
    pandas = pytest.importorskip("pandas")
    assert pk.from_triples(pandas.DataFrame(FACTS), ["a"], radius=1) == graphs


@pytest.mark.parametrize("n_facts", [1, 255, 256, 257, 512])
def test_any_number_of_facts_joins_two_entities(n_facts):
    facts = [("a", f"r{i}", "b") for i in range(n_facts)] + [("b", "r", "c")]
    graphs = pk.from_triples(facts, ["a"], radius=2)
    assert graphs.graph_sizes.tolist() == [3]
    assert graphs.adjacency.nnz == n_facts + 1


def test_steps_end_where_nothing_new_is_reached():
    assert pk.from_triples(FACTS, radius=10**12) == pk.from_triples(FACTS, radius=len(FACTS))


def test_triples_that_are_wrong(monkeypatch):
    with pytest.raises(ValueError, match="entity 'x' is in no triple"):
        pk.from_triples(FACTS, ["a", "x"])
    with pytest.warns(UserWarning, match="skipped 1 of 2"):
        assert pk.from_triples(FACTS, ["x", "a"], errors="skip").ids.tolist() == ["a"]
    with pytest.raises(ValueError, match="triple 1 has 2 parts instead of head, relation and tail"):
        pk.from_triples([("a", "r", "b"), ("a", "b")])
    with pytest.raises(ValueError, match="triple 0 has a part that is missing"):
        pk.from_triples([("a", None, "b")])
    monkeypatch.setattr("propkernels.convert.triples.MOST_NODES", 5)
    with pytest.raises(ValueError, match="choose fewer entities or a smaller radius"):
        pk.from_triples(FACTS, radius=2)


def test_no_radius_gives_one_graph_of_all_entities():
    facts = [("a", "knows", "b"), ("b", "likes", "c"), ("a", "likes", "b"), ("a", "knows", "b")]
    graph = pk.from_triples(facts, radius=None, node_labels={"a": "person"})
    assert pk.convert.list_entities(facts) == ["a", "b", "c"]
    assert len(graph) == 1
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]
    assert sorted(graph.edge_labels.tolist()) == ["knows", "likes", "likes"]
    assert graph.node_labels.tolist() == ["person", None, None]
    with pytest.raises(ValueError, match="entities cannot be chosen"):
        pk.from_triples(facts, ["a"], radius=None)

"""Entries: the bins of new graphs among those of the training graphs."""

from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.codes.codes import NO_BIN
from propkernels.counts.counters import Occurrences, StreamCounts
from propkernels.counts.entries import Vocabulary, _slots
from propkernels.kernels import GraphHopper, LabelHistogram, SubgraphMatching
from propkernels.propagation import Diffusion

DATA = pk.datasets.make_molecules(30, random_state=0, mean_nodes=9)
TRAIN, NEW = DATA.graphs[:20], DATA.graphs[20:]
KERNELS = [
    pk.PropagationKernel(t_max=2, n_hashes=2, random_state=0),
    pk.PropagationKernel(propagation=Diffusion(0.5, isolated="vanish"), t_max=1, random_state=0),
    pk.WeisfeilerLehman(t_max=2),
    pk.ShortestPath(),
    GraphHopper(),
    SubgraphMatching(k=3),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)


def vocabulary_of(kernel):
    counting = kernel.fit(TRAIN)._counting
    return Vocabulary(counting.counter, [stream.codes for stream in counting.counts])


def naive_entries(vocabulary, graphs):
    """For each stream and graph, the column (or None) and the count of each code."""
    found = []
    for stream, items in enumerate(vocabulary.counter.occurrences(graphs)):
        column = {code: i for i, code in enumerate(vocabulary.codes[stream].tolist())}
        counted = [Counter() for _ in range(len(graphs))]
        numbers = np.ones(len(items.codes)) if items.numbers is None else items.numbers
        for graph, code, n in zip(items.graphs_of_items(graphs), items.codes, numbers, strict=True):
            if code != NO_BIN:
                counted[graph][int(code)] += n
        first = vocabulary.starts[stream]
        found.append(
            [
                Counter((-1 if c not in column else first + column[c], n) for c, n in one.items())
                for one in counted
            ]
        )
    return found


@every_kernel
def test_entries_are_those_of_the_definition(kernel):
    vocabulary = vocabulary_of(kernel)
    entries = vocabulary.enter(NEW)
    for stream, graphs in enumerate(naive_entries(vocabulary, NEW)):
        for graph, expected in enumerate(graphs):
            start, size = entries.starts[stream, graph], entries.sizes[stream, graph]
            own = slice(start, start + size)
            computed = Counter(
                (column, np.rint(count))
                for column, count in zip(entries.columns[own], entries.counts[own], strict=True)
            )
            assert computed == Counter({(c, np.rint(n)): k for (c, n), k in expected.items()})


@every_kernel
def test_nodes_share_what_entries_add(kernel):
    vocabulary = vocabulary_of(kernel)
    entries = vocabulary.enter(NEW)
    values = np.random.default_rng(0).normal(size=len(entries.counts))
    shares = entries.by_node(values, len(vocabulary.codes))
    assert shares.shape == (NEW.n_nodes, 1 + entries.iterations.max())
    for graph in range(len(NEW)):
        total = sum(
            values[start : start + size].sum()
            for start, size in zip(entries.starts[:, graph], entries.sizes[:, graph], strict=True)
        )
        nodes = slice(NEW.graph_ptr[graph], NEW.graph_ptr[graph + 1])
        assert shares[nodes].sum() == pytest.approx(total, abs=1e-9)


KNOWN = [np.array([7, -3, 12]), np.array([12, 5]), np.random.default_rng(0).integers(-(2**62), 2**62, 300)]


def test_columns_of_codes():
    vocabulary = Vocabulary(vocabulary_of(LabelHistogram()).counter, KNOWN)
    for stream, expected in ((0, [0, 1, 2, -1, -1]), (1, [-1, -1, 3, 4, -1])):
        assert vocabulary.columns_of(stream, np.array([7, -3, 12, 5, 99])).tolist() == expected
    assert vocabulary.columns_of(2, KNOWN[2]).tolist() == list(range(5, 305))


def test_items_that_are_not_counted_share_nothing():
    entries = vocabulary_of(GraphHopper()).enter(NEW)
    nothing = [(items, np.full_like(slots, -1)) for items, slots in entries.items()]
    shares = replace(entries, items=lambda: nothing).by_node(np.ones(len(entries.counts)), 1)
    assert not shares.any()


def test_items_of_codes_that_are_not_counted_have_no_slot():
    """Codes below, between and above those that are counted, and one that only another graph has."""
    graphs = pk.check_graphs([nx.path_graph(3), nx.path_graph(2)])
    counts = StreamCounts(csr_array(np.array([[1.0, 1.0], [1.0, 0.0]])), np.array([20, 40]), 0, 1.0)
    items = Occurrences(np.array([20, 40, 99, 5, 40]), None, 0, 1.0)
    assert _slots(items, counts, np.array([7, 9, 10]), graphs).tolist() == [7, 8, -1, -1, -1]
    nothing = StreamCounts(csr_array((2, 0)), np.empty(0, dtype=np.int64), 0, 1.0)
    assert _slots(items, nothing, np.array([7, 7, 7]), graphs).tolist() == [-1] * 5

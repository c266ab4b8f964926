"""Random edits of a graph, the edited graphs, and their counts from scratch."""

from __future__ import annotations

import numpy as np

import propkernels as pk
from propkernels.counts.entries import Vocabulary
from propkernels.explain.edits import ADD_LEAF, KINDS, NOTHING, Editor, in_pairs
from propkernels.tracking.alphabet import Alphabet
from propkernels.tracking.trackers import is_trackable


class Edited:
    """A graph, some random single edits and pairs of edits that are possible, and the edited graphs.

    Labels of new nodes and edges are those of ``labels`` and ``bonds`` or, by default, those of the graph.
    """

    def __init__(self, graph, seed, n_edits=12, labels=None, bonds=None):
        column, edges = graph.label_column, graph.edge_label_column
        labels = list(getattr(column, "values", ())) or [0] if labels is None else labels
        bonds = [] if edges is None else list(edges.values) if bonds is None else bonds
        self.graph, self.alphabet = graph, Alphabet.of(graph, labels, bonds)
        editor = Editor(graph, self.alphabet, KINDS, None, edges is not None)
        drawn = draw_edits(editor, np.random.default_rng(seed), n_edits)
        made = [(pair, editor.edited(pair[pair[:, 0] != NOTHING])) for pair in drawn]
        made = [(pair, after) for pair, after in made if after is not None]
        self.edits = np.array([pair for pair, _ in made], dtype=np.int64).reshape(-1, 2, 5)
        self.graphs = [after for _, after in made]

    def vocabulary(self, kernel):
        """The codes of the graph and of all edited graphs."""
        kernel.fit(pk.GraphDatabase.concat([self.graph, *self.graphs]))
        return Vocabulary(
            kernel._counting.counter, [np.asarray(one.codes) for one in kernel._counting.counts]
        )


def draw_edits(editor, rng, n_edits):
    """Single edits of every kind, and pairs whose second edit may need the first one."""
    singles = editor.single_edits()
    if not len(singles):
        return np.empty((0, 2, 5), dtype=np.int64)
    some = singles[rng.permutation(len(singles))[:n_edits]]
    first_of_kind = singles[np.unique(singles[:, 0], return_index=True)[1]]
    pairs = [in_pairs(None, some), in_pairs(None, first_of_kind)]
    for first in some[: n_edits // 2]:
        seconds = np.concatenate([singles[rng.integers(len(singles), size=2)], editor.edits_after(first)[:2]])
        seconds[(seconds[:, 0] == ADD_LEAF) & (first[0] == ADD_LEAF), 2] = editor.n_nodes + 1
        pairs.append(in_pairs(first, seconds))
    return np.concatenate(pairs)


def counts_of(vocabulary, graph):
    """The count of each column; no bin may be missing in the vocabulary."""
    entries = vocabulary.enter(graph)
    counts = np.zeros(int(vocabulary.starts[-1]), dtype=np.int64)
    for start, size in zip(entries.starts[:, 0], entries.sizes[:, 0], strict=True):
        columns = entries.columns[start : start + size]
        assert (columns >= 0).all()
        counts[columns] += entries.counts[start : start + size].astype(np.int64)
    return counts


def check_counts(kernel, edited):
    """Compare the counts after every edit with those of the edited graph from scratch, exactly."""
    assert is_trackable(edited.graph)
    vocabulary = edited.vocabulary(kernel)
    tracker = vocabulary.tracker(edited.graph, edited.alphabet)
    assert tracker is not None
    before = counts_of(vocabulary, edited.graph)
    after = np.array([counts_of(vocabulary, one) for one in edited.graphs]).reshape(
        len(edited.graphs), len(before)
    )
    changes = tracker.changes(edited.edits)
    for e in range(len(after)):
        stream, column, old, new = changes.rows[changes.ptr[e] : changes.ptr[e + 1]].T
        expected = np.flatnonzero(before != after[e])
        np.testing.assert_array_equal(np.sort(column), expected)
        np.testing.assert_array_equal(old, before[column])
        np.testing.assert_array_equal(new, after[e][column])
        np.testing.assert_array_equal(stream, np.searchsorted(vocabulary.starts, column, side="right") - 1)
    changes = tracker.changes(edited.edits, counted=False)
    for e in range(len(after)):
        _, column, old, new = changes.rows[changes.ptr[e] : changes.ptr[e + 1]].T
        difference = np.zeros_like(before)
        np.add.at(difference, column, new - old)
        np.testing.assert_array_equal(difference, after[e] - before)

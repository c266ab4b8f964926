"""Applicability: labels, degrees and neighborhoods of new nodes that no training graph of a model has."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import format_table, shown
from propkernels._utils.randomness import label_keys
from propkernels._utils.typing import Values
from propkernels.codes.codes import NO_BIN
from propkernels.counts.counters import Coder, Occurrences, add_column, looked_up, stack_columns
from propkernels.counts.entries import Vocabulary
from propkernels.explain.rule import Rule
from propkernels.graphs.container import count
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation.initial import UNKNOWN, label_column

FOREIGN = 0.1  # share of foreign graphs that triggers a warning
UNUSUAL = 0.05  # share of nodes with unseen degrees that makes an unlabeled graph foreign
MOST_NAMED = 3
NOT_LABELS = (None, "degree", "log_degree")  # sources of codes


@dataclass(frozen=True, eq=False, repr=False)
class Applicability:
    """Share of the neighborhoods in new graphs that did not occur in the training graphs of a model.

    Returned by ``applicability`` of :class:`PropagationClassifier` and :class:`PropagationRegressor`.

    Attributes
    ----------
    unseen : ndarray of shape (nodes, t_max + 1)
        1 where the neighborhood of a node up to radius t never occurred in training, 0 where it did; the
        share of a node's bins where it has several at one t.
    graph_ptr : ndarray of shape (graphs + 1,)
        Offsets of the nodes of each graph.

    See Also
    --------
    PropagationClassifier : Its ``applicability`` returns this.
    NoveltyDetector : Scores and p-values for whole graphs.

    References
    ----------
    .. [1] F. Sahigara, K. Mansouri, D. Ballabio, A. Mauri, V. Consonni and R. Todeschini (2012). Comparison
       of different approaches to define the applicability domain of QSAR models. Molecules 17 (5), 4791-4810.
       doi:10.3390/molecules17054791.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> kernel = pk.PropagationKernel(t_max=2)
    >>> model = pk.PropagationClassifier(kernel=kernel, t_max=2, random_state=0)
    >>> known = model.fit(data.graphs[:50], data.target[:50]).applicability(data.graphs[50:])
    >>> known.by_radius.shape, bool(known.by_radius[:, 0].any())
    ((10, 3), False)
    >>> bool((known.by_radius[:, 1] <= known.by_radius[:, 2]).all())
    True
    """

    unseen: Values
    graph_ptr: NDArray[np.int64]

    @property
    def by_radius(self) -> Values:
        """Share of each graph's nodes with unseen neighborhoods, per radius: (graphs, t_max + 1)."""
        ends = np.concatenate([np.zeros((1, self.unseen.shape[1])), np.cumsum(self.unseen, axis=0)])
        sizes = np.diff(self.graph_ptr)
        return np.asarray(np.diff(ends[self.graph_ptr], axis=0) / np.maximum(sizes, 1)[:, None])

    @property
    def by_node(self) -> Values:
        """Share of the radii at which each node's neighborhood is unseen: (nodes,)."""
        return np.asarray(self.unseen.mean(axis=1))

    @property
    def by_graph(self) -> Values:
        """Share of unseen neighborhoods over all nodes and radii of each graph: (graphs,)."""
        return np.asarray(self.by_radius.mean(axis=1))

    def table(self, n: int = 10) -> str:
        """Return a text table of the n graphs with the largest share of unseen neighborhoods."""
        order = np.argsort(-self.by_graph, kind="stable")[:n]
        head = ["graph", "unseen", *(f"t{t}" for t in range(self.unseen.shape[1]))]
        values = np.column_stack([self.by_graph, self.by_radius])
        return format_table(
            head, [[str(i), *(f"{100 * v:.0f} %" for v in values[i])] for i in order.tolist()]
        )

    def __repr__(self) -> str:
        graphs, (nodes, steps) = len(self.graph_ptr) - 1, self.unseen.shape
        share = 100 * float(self.unseen.mean()) if nodes else 0.0
        sizes = f"{count(graphs, 'graph')}, {count(nodes, 'node')}"
        return f"Applicability({sizes}, t = 0..{steps - 1}, {share:.1f} % unseen)"


def applicability_of(vocabularies: Sequence[Vocabulary], graphs: GraphDatabase) -> Applicability:
    """Return the applicability of new graphs: look up their bins in the vocabularies of a model."""
    unseen = []
    for part in vocabularies[0].counter.parts_of(graphs):
        described = [
            (items, looked_up(items.codes, codes, np.ones(len(codes))))
            for vocabulary in vocabularies
            for items, codes in zip(vocabulary.counter.occurrences(part), vocabulary.codes, strict=True)
        ]
        unseen.append(1.0 - seen_shares(described, part.n_nodes))
    return Applicability(np.concatenate(unseen), graphs.graph_ptr)


def seen_shares(described: Sequence[tuple[Occurrences, Values]], n_nodes: int) -> Values:
    """Return the share of each node's bins that are seen, (nodes, iterations), given 1 or 0 for each item."""
    seen, totals = dict[int, Values](), dict[int, Values]()
    for items, is_seen in described:
        counted = items.codes != NO_BIN
        add_column(seen, items.iteration, items.by_node(np.where(counted, is_seen, 0.0), n_nodes))
        add_column(totals, items.iteration, items.by_node(counted.astype(np.float64), n_nodes))
    total = stack_columns(totals)
    return np.divide(stack_columns(seen), total, out=np.ones_like(total), where=total > 0)


class ForeignGraphsWarning(UserWarning):
    """Warning that graphs to predict are unlike the training graphs.

    Issued by all methods of :class:`PropagationClassifier` and :class:`PropagationRegressor` that predict or
    explain, if at least one graph in ten has node labels that no training graph has, such as labels of
    another reader, or if no node has a label and training graphs had labels; without labels in training, if
    at least one node in twenty has a degree that no training graph has. Models of nodes speak of the labels
    of another graph than that of training.

    See Also
    --------
    PropagationClassifier : Its ``applicability`` lists the unknown nodes and their radius.
    NoveltyDetector : Scores and p-values for whole graphs.

    References
    ----------
    .. [1] F. Sahigara, K. Mansouri, D. Ballabio, A. Mauri, V. Consonni and R. Todeschini (2012). Comparison
       of different approaches to define the applicability domain of QSAR models. Molecules 17 (5), 4791-4810.
       doi:10.3390/molecules17054791.

    Examples
    --------
    Silence the warning:

    >>> import warnings
    >>> import propkernels as pk
    >>> warnings.simplefilter("ignore", pk.models.ForeignGraphsWarning)
    """


@contextmanager
def foreign_graphs_allowed() -> Iterator[None]:
    """Silence ForeignGraphsWarning, since folds may lack a label; use around threads, not in them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForeignGraphsWarning)
        yield


def source_of(rule: Rule) -> str | None:
    """Return what training graphs are known by: node labels, degrees if the rule reads no labels, or None."""
    counters: list[Any] = [vocabulary.counter for vocabulary in rule.vocabularies]
    if not counters or any(getattr(one, "source", "node") not in NOT_LABELS for one in counters):
        return "node"
    plain = (one for one in counters if isinstance(one, Coder) and getattr(one, "attributes", None) is None)
    return next((source for one in plain if (source := getattr(one, "source", None)) is not None), None)


def known_labels(graphs: Any, source: str | None) -> NDArray[np.uint64] | None:
    """Return the keys of the labels, or degrees, of training graphs; None: there are none."""
    found = _labels(graphs, source)
    return None if found is None else np.unique(found[0][np.unique(found[1])])


def _labels(graphs: Any, source: str | None) -> tuple[NDArray[np.uint64], NDArray[np.int32]] | None:
    """Return keys of labels, and the number of each node's label; None: there are no labels.

    The key of a label of several entries that begin with a text is that of this text and of their number. The
    first entry is the symbol of an atom; the others may be as rare as neighborhoods. Labels of readers that
    give other entries have other keys.
    """
    is_known = source is not None and isinstance(graphs, GraphDatabase)
    column = label_column(graphs, source) if is_known else None
    if not isinstance(column, LabelColumn) or (source == "node" and graphs.label_column is None):
        return None
    names = [
        (value[0], len(value)) if isinstance(value, tuple) and value and isinstance(value[0], str) else value
        for value in column.values
    ]
    return label_keys((*names, UNKNOWN)), column.ids


def warn_if_foreign(known: NDArray[np.uint64], source: str | None, graphs: Any, stacklevel: int) -> None:
    """Warn, in one sentence, if many graphs have nodes whose label, or degree, no training graph has."""
    found = _labels(graphs, source)
    if found is None:
        if source == "node" and isinstance(graphs, GraphDatabase) and graphs.n_nodes:
            warnings.warn(
                "the graphs have no node labels, which the training graphs have: predictions are unreliable",
                ForeignGraphsWarning,
                stacklevel=stacklevel + 1,
            )
        return
    is_label, (keys, ids) = source == "node", found
    unknown = ~np.isin(keys, known)[ids] & (ids >= 0)
    if not unknown.any():
        return
    ends = np.concatenate([[0], np.cumsum(unknown)])
    numbers = np.diff(ends[graphs.graph_ptr])
    foreign = (numbers > 0) & (numbers >= (1 if is_label else UNUSUAL * graphs.graph_sizes))
    if foreign.mean() < FOREIGN:
        return
    share, verb = f"{100 * unknown.mean():.1f} % of all nodes", "has" if foreign.sum() == 1 else "have"
    what, advice = f"nodes whose degree no training graph has ({share})", "see applicability"
    if is_label:
        values = [graphs.label_column.values[i] for i in np.unique(ids[unknown])]
        more = ", ..." if len(values) > MOST_NAMED else ""
        named = ", ".join(map(shown, values[:MOST_NAMED]))
        what = f"node labels that no training graph has, such as {named}{more} ({share})"
        firsts = tuple(value[0] for value in values if isinstance(value, tuple) and value)
        if len(firsts) == len(values) and bool(np.isin(label_keys(firsts), known).any()):
            advice = 'the training graphs have symbols of atoms, as of from_smiles(node_labels="symbol")'
    warnings.warn(
        f"{int(foreign.sum())} of {len(foreign)} graphs {verb} {what}: predictions for these are unreliable; "
        f"{advice}",
        ForeignGraphsWarning,
        stacklevel=stacklevel + 1,
    )

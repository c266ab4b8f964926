"""Counterfactuals of a model and a graph: ask a question, and decide on edited graphs by the model itself.

All single edits are tried; pairs of edits are, within a budget, if single ones do not suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_integer, shown
from propkernels._utils.progress import ProgressBar
from propkernels._utils.typing import Matrix
from propkernels.convert.check import check_edges
from propkernels.convert.graph_molecules import BONDS
from propkernels.convert.rdkit import Recipe, from_rdkit, is_mol
from propkernels.explain.counterfactuals import Counterfactual, Counterfactuals, Edit
from propkernels.explain.decisions import DecisionLayout
from propkernels.explain.edits import (
    ADD_LEAF,
    KINDS,
    NOTHING,
    Allowed,
    Chemist,
    Editor,
    Rows,
    in_pairs,
    molecule_of,
)
from propkernels.explain.rule import Rule
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid, GridDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn

IN_TIME = ("relabel", "remove_edge")  # edits of graphs in time: of a label at a time, and of a contact
NODES_AT_ONCE = 2**16  # of edited graphs that are decided together
BUDGET, SMALL_BUDGET = 200_000, 20_000  # pairs of edits; the latter if kernels do not count bins
MOST_MOLECULES = 20_000  # candidate molecules checked by RDKit, valid or not
DIGITS = 12  # decimals of margins that are compared; ties keep the order of the edits
Margins = NDArray[np.float64]
Mask = NDArray[np.bool_]
Edited = Callable[[Rows], tuple[Rows, GraphDatabase]]


# questions


@dataclass(frozen=True)
class Question:
    """Functions that judge decisions for a question such as "which edits change the class?".

    Attributes
    ----------
    judge : callable
        From decisions, (m, decisions), to margins (larger is better), and a mask of predictions that
        change as requested.
    shown : callable
        From decisions to one displayed number each.
    predicted : callable
        From decisions to predictions.
    ranked : bool
        True: reach a target with as few edits as possible; False: find the largest change.
    """

    judge: Callable[[Matrix], tuple[Margins, Mask]]
    shown: Callable[[Matrix], NDArray[np.float64]]
    predicted: Callable[[Matrix], NDArray[Any]]
    ranked: bool


def ask_class(layout: DecisionLayout, names: NDArray[Any], target: Any, before: Matrix) -> Question:
    """Return the question for another class: any other, or the named one.

    For two classes, the margin is the decision, signed towards the other class. For more, it is the lead of
    the named class over all others or, without a name, of the best other class over the present one. With
    several labels, the question is for a change of the label numbered ``target``.
    """
    column = slice(None)
    if layout.multilabel:
        if target not in range(layout.n_classes):
            last = layout.n_classes - 1
            raise ValueError(f"target must be the number of one label, 0 to {last}; got {shown(target)}")
        column, target = slice(target, target + 1), None
        layout, names = DecisionLayout(2), np.arange(2)
    now, known = int(layout.predictions(before[:, column])[0]), names.tolist()
    if target is not None and target not in known:
        raise ValueError(f"target must be one of the classes {known}, got {shown(target)}")
    wanted = None if target is None else known.index(target)
    if wanted == now:
        raise ValueError(f"the predicted class of the graph is {shown(target)} already: name another target")

    def margins(decisions: Matrix) -> Margins:
        own = decisions[:, column]
        if layout.n_classes == 2:
            return own[:, 0] if now == 0 else -own[:, 0]
        if wanted is None:
            return np.asarray(np.delete(own, now, axis=1).max(axis=1) - own[:, now])
        return np.asarray(own[:, wanted] - np.delete(own, wanted, axis=1).max(axis=1))

    def judge(decisions: Matrix) -> tuple[Margins, Mask]:
        predicted = layout.predictions(decisions[:, column])
        return margins(decisions), predicted != now if wanted is None else predicted == wanted

    def shown_value(decisions: Matrix) -> NDArray[np.float64]:
        return decisions[:, column][:, 0] if layout.n_classes == 2 else margins(decisions)

    return Question(judge, shown_value, lambda d: np.asarray(names[layout.predictions(d[:, column])]), True)


def ask_number(column: int, target: Any, before: Matrix) -> Question:
    """Return the question for a prediction beyond a number or, without one, for the largest change."""
    now = float(before[0, column])
    if target is not None and not (isinstance(target, (int, float, np.number)) and np.isfinite(target)):
        raise ValueError(f"target must be a finite number or None, got {shown(target)}")
    if target is not None and float(target) == now:
        raise ValueError(f"the prediction is {now:g} already: name another target")

    def judge(decisions: Matrix) -> tuple[Margins, Mask]:
        values = decisions[:, column]
        if target is None:
            return np.abs(values - now), values != now
        margins = values - float(target) if now < float(target) else float(target) - values
        return margins, margins >= 0

    return Question(judge, lambda d: d[:, column], lambda d: d[:, column], target is not None)


# search


class Tried(NamedTuple):
    """Edits with decisions of the model.

    Attributes
    ----------
    pairs : ndarray of int64, (m, 2, 5)
    decisions : ndarray, (m, decisions)
        NaN for impossible edits.
    margins : ndarray, (m,)
        Minus infinity for impossible edits.
    changed : ndarray of bool, (m,)
        Whether the prediction changes as requested.
    """

    pairs: Rows
    decisions: Matrix
    margins: Margins
    changed: Mask

    def joined(self, other: Tried) -> Tried:
        """Return these edits, then others."""
        return Tried(*(np.concatenate(both) for both in zip(self, other, strict=True)))


class Found(NamedTuple):
    """One or two edits, (2, 5), the decisions after them, and the edited molecule as SMILES (or None)."""

    pair: Rows
    decisions: Matrix
    smiles: str | None = None


@dataclass
class Search:
    """A search for edits, and its extent.

    Attributes
    ----------
    editor : Editor
    edited : callable
        From edits, (m, 2, 5), to the places of possible ones and the graphs after them.
    decide : callable
        From graphs to decisions, (graphs, decisions), intercepts included.
    question : Question
    before : ndarray, (1, decisions)
        Decisions on the graph as it is.
    n : int
        Number of results.
    validate : callable or None
        From edits, (k, 5), to the SMILES of the edited molecule, or None if it is invalid.
    n_single, n_pairs : int
        Numbers of single edits and of pairs with a decision.
    n_extended, n_extendable : int
        Number of single edits that were extended by a second edit, and that could have been.
    n_unchecked : int
        Number of edits not checked for valid molecules, because too many before them were invalid.
    reached : bool
        Whether the results change the prediction; otherwise they come closest to that.
    """

    editor: Editor
    edited: Edited
    decide: Callable[[GraphDatabase], Matrix]
    question: Question
    before: Matrix
    n: int
    validate: Callable[[Rows], str | None] | None = None
    n_single: int = 0
    n_pairs: int = 0
    n_extended: int = 0
    n_extendable: int = 0
    n_unchecked: int = 0
    reached: bool = True

    @property
    def exhaustive(self) -> bool:
        """Whether every pair that could matter has a decision."""
        return self.n_extended == self.n_extendable

    def run(self, max_edits: int, budget: int) -> list[Found]:
        """Decide on all single edits and, if these do not suffice, on pairs; return the best first."""
        singles, ranked = self.editor.single_edits(), self.question.ranked
        tried = self._tried(in_pairs(None, singles))
        self.n_single, found = len(singles), self._best(tried, tried.changed, self.n)
        if max_edits == 2 and len(singles) and not (ranked and len(found) >= self.n):
            pairs = self._pairs(singles, tried, budget)
            self.n_pairs = len(pairs)
            if self.n_pairs and ranked:  # fewer edits come first
                tried = self._tried(pairs)
                found += self._best(tried, tried.changed, self.n - len(found), {one.smiles for one in found})
            elif self.n_pairs:  # only margins count
                tried = tried.joined(self._tried(pairs))
                found = self._best(tried, tried.changed, self.n)
        self.reached = bool(found)
        return found or self._best(tried, tried.margins > -np.inf, self.n)

    def _tried(self, pairs: Rows) -> Tried:
        """Decide on edited graphs, in batches."""
        decisions = np.full((len(pairs), self.before.shape[1]), np.nan)
        step = max(NODES_AT_ONCE // (self.editor.n_nodes + 1), 1)
        with ProgressBar("Counterfactuals: edited graphs", len(pairs)) as bar:
            for first in range(0, len(pairs), step):
                some = pairs[first : first + step]
                places, graphs = self.edited(some)
                if len(places):
                    decisions[first + places] = self.decide(graphs)
                bar.step(len(some))
        margins, changed = np.full(len(pairs), -np.inf), np.zeros(len(pairs), dtype=bool)
        possible = ~np.isnan(decisions).any(axis=1)
        if possible.any():
            margins[possible], changed[possible] = self.question.judge(decisions[possible])
        return Tried(pairs, decisions, margins, changed)

    def _pairs(self, singles: Rows, tried: Tried, budget: int) -> Rows:
        """Return pairs within the budget: the most promising single edits, extended by all second ones.

        If fewer edits come first, a pair never contains an edit that suffices by itself.
        """
        valid = np.array([self.validate is None or self.validate(row[None]) is not None for row in singles])
        tried.changed[~valid] = False
        order = np.lexsort((np.arange(len(singles)), -np.round(tried.margins, DIGITS), ~valid))
        if self.question.ranked:
            order = order[~tried.changed[order]]
        place = np.full(len(singles), -1)
        place[order] = np.arange(len(order))
        self.n_extendable, pairs, left = len(order), [np.empty((0, 2, 5), dtype=np.int64)], budget
        for i in order:
            more = in_pairs(singles[i], self._seconds(singles, i, place >= place[i]))
            left -= len(more)
            if left < 0:
                break
            pairs.append(more)
        self.n_extended = len(pairs) - 1
        return np.concatenate(pairs)

    def _seconds(self, singles: Rows, i: int, later: Mask) -> Rows:
        """Second edits: single edits not yet paired with the first, and those it makes possible."""
        first, chosen = singles[i], later.copy()
        chosen[i] = first[0] == ADD_LEAF  # two equal new leaves are a valid pair
        seconds = singles[chosen]
        seconds = seconds[~self.editor.is_redundant(first, seconds)]
        return np.concatenate([seconds, self.editor.edits_after(first)])

    def _best(self, tried: Tried, wanted: Mask, n: int, known: Iterable[str | None] = ()) -> list[Found]:
        """Return the n best of the wanted edits; of molecules, those valid, distinct and not known."""
        order = np.argsort(-np.round(tried.margins, DIGITS), kind="stable")
        order, seen, best = order[wanted[order]], set(known), list[Found]()
        self.n_unchecked = 0
        for k, i in enumerate(order):
            if len(best) == n:
                break
            if self.validate is not None and k >= MOST_MOLECULES:
                self.n_unchecked = len(order) - k
                break
            pair = tried.pairs[i]
            smiles = None if self.validate is None else self.validate(pair[pair[:, 0] != NOTHING])
            if self.validate is None or (smiles is not None and smiles not in seen):
                seen.add(smiles)
                best.append(Found(pair, tried.decisions[i], smiles))
        return best

    def summary(self, max_edits: int) -> str:
        """Describe the extent of the search."""
        parts = [f"All {self.n_single:,} single edits were tried."]
        if self.n_extendable and self.exhaustive:
            parts.append(f"So were all {self.n_pairs:,} pairs of edits that could matter.")
        elif self.n_extendable:
            parts.append(
                f"Of pairs, {self.n_pairs:,} were tried: the {self.n_extended:,} most promising of "
                f"{self.n_extendable:,} single edits, each with all others; other pairs may do better "
                "(a larger budget tries more)."
            )
        elif max_edits == 2:
            parts.append("Pairs were not needed.")
        if self.validate is not None:
            parts.append("Edits that break valences were skipped.")
        if self.n_unchecked:
            parts.append(f"{self.n_unchecked:,} further edits were not checked for valid molecules.")
        return " ".join(parts)


# counterfactuals


def find_counterfactuals(
    decide: Callable[[GraphDatabase], Matrix],
    rule: Rule,
    graph: Any,
    ask: Callable[[Matrix], Question],
    *,
    max_edits: int,
    n: int,
    allowed: Any,
    molecule: Any,
    budget: int | None,
    label_names: Mapping[Any, str] | None,
) -> Counterfactuals:
    """Return counterfactuals of one graph; parameters are those of ``PropagationClassifier.counterfactuals``.

    ``decide`` returns the decisions of a model with this rule, (graphs, decisions), intercepts included.
    ``ask`` takes the decisions on the original graph, (1, decisions), and returns the question.
    """
    check_integer(max_edits, "max_edits", 1, 2)
    check_integer(n, "n", 1)
    molecule = graph if molecule is None and is_mol(graph) else molecule
    one = one_graph(graph)
    if one.descriptors is not None and rule.is_explained and not rule.compares_bins:
        raise TypeError(
            "counterfactuals edit nodes and edges, but this model also reads descriptors of whole graphs: "
            "fit one without descriptors"
        )
    before = decide(one)
    question = ask(before)
    mol, recipe = molecule_of(one, molecule)
    if budget is None:
        budget = BUDGET if rule.compares_bins and recipe is None else SMALL_BUDGET
    check_integer(budget, "budget", 0)
    permitted = Allowed.check(allowed, one.n_nodes)
    connected = mol is not None if permitted.connected is None else permitted.connected
    editor = _editor(rule, one, permitted, mol, recipe)
    chemist = None if mol is None else Chemist(mol, editor, recipe)
    edited = editor.edited if chemist is None or recipe is None else chemist.edited
    validate = None if chemist is None else chemist.smiles
    search = Search(editor, partial(edited, connected=connected), decide, question, before, n, validate)
    found = search.run(max_edits, budget)
    return Counterfactuals(
        _items(search, found),
        Graph(one),
        float(question.shown(before)[0]),
        question.predicted(before).tolist()[0],
        search.reached,
        search.exhaustive,
        search.summary(max_edits),
        search.n_single + search.n_pairs,
        label_names,
    )


def one_graph(graph: Any) -> GraphDatabase:
    """Return a database of the single graph to edit.

    Raises
    ------
    TypeError, ValueError
    """
    if isinstance(graph, (Grid, GridDatabase)):
        raise TypeError("counterfactuals need nodes and edges, which images do not have: pass a graph")
    several = isinstance(graph, (GraphDatabase, list))
    database = graph.database if isinstance(graph, Graph) else check_edges(graph if several else [graph])
    if len(database) != 1:
        raise ValueError(f"counterfactuals need a single graph, got {len(database)}: pass graphs[i]")
    if database.is_directed or database.has_parallel_edges:
        what = "directed" if database.is_directed else "parallel"
        raise ValueError(f"counterfactuals need an undirected simple graph, this one has {what} edges")
    return database


def _editor(rule: Rule, graph: GraphDatabase, allowed: Allowed, mol: Any, recipe: Recipe | None) -> Editor:
    """Return the editor of a graph or, with a recipe that its labels are computed by, of its molecule."""
    graph = graph if recipe is None else from_rdkit([mol], node_labels="symbol")
    column, edges = graph.label_column, graph.edge_label_column
    counters = [vocabulary.counter for vocabulary in rule.vocabularies]
    told_apart = not counters or any(counter.reads_edge_labels for counter in counters)
    read = not counters or any(counter.reads_labels for counter in counters)
    labels: Sequence[Any] = column.values if isinstance(column, LabelColumn) else ()
    if allowed.labels is not None:
        labels = allowed.labels
    elif read and isinstance(column, LabelColumn):
        labels = list(dict.fromkeys([*labels, *(x for counter in counters for x in counter.known_labels)]))
    else:  # edges of other graphs need only one label
        labels = labels[:1]
    if recipe is not None:  # symbols of elements are texts, or first entries of labels
        firsts = [label[0] if isinstance(label, tuple) else label for label in labels]
        labels = list(dict.fromkeys(x for x in firsts if isinstance(x, str))) or ["C", "N", "O"]
    bonds: Sequence[Any] = () if edges is None else edges.values
    if allowed.edge_labels is not None:
        bonds = allowed.edge_labels
    elif mol is not None:
        named = {name: value for value, name in graph.names.edge_labels.items()}
        bonds = [named.get(bond, bond) for bond in BONDS if not named or bond in named]
    # by default, labels that the model does not read are not changed, and new nodes need no attributes
    usual = {
        "relabel": read and isinstance(column, LabelColumn),
        "add_leaf": graph.node_attributes is None and not isinstance(column, LabelDistributions),
    }
    kinds = allowed.kinds or [kind for kind in KINDS if usual.get(kind, True)]
    others = [kind for kind in kinds if graph.is_temporal and kind not in IN_TIME]
    if others and allowed.kinds:
        raise ValueError(f"edits of graphs in time are {' and '.join(IN_TIME)}; got {others[0]!r}")
    kinds = [kind for kind in kinds if kind not in others]
    return Editor(graph, labels, bonds, kinds, allowed.nodes, told_apart)


def _items(search: Search, found: Sequence[Found]) -> list[Counterfactual]:
    """Return the results of a search, with the edited graphs."""
    if not found:
        return []
    question, decisions = search.question, np.stack([one.decisions for one in found])
    _, graphs = search.edited(np.stack([one.pair for one in found]))
    values, predicted = question.shown(decisions), question.predicted(decisions).tolist()
    start = float(question.shown(search.before)[0])
    return [
        Counterfactual(
            tuple(_edit(search.editor, row) for row in one.pair if row[0] != NOTHING),
            graphs[i],
            float(values[i]),
            float(values[i]) - start,
            predicted[i],
            one.smiles,
        )
        for i, one in enumerate(found)
    ]


def _edit(editor: Editor, row: Rows) -> Edit:
    """Return the edit of a row, with the user's labels."""
    kind, a, b, label, bond = row.tolist()
    name, before = KINDS[kind], editor.labels[editor.node_ids[a]]
    edge_label = editor.edge_labels[bond] if name.startswith("add") and editor.told_apart else None
    if name == "relabel":
        return Edit(name, a, label=editor.labels[label], before=before)
    if name == "add_leaf":
        return Edit(name, a, b, label=editor.labels[label], edge_label=edge_label)
    return Edit(name, a, b, before=before if name == "remove_leaf" else None, edge_label=edge_label)

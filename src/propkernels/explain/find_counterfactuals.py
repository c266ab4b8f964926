"""From a model and a graph to counterfactuals: what is asked, searched, and checked by the model itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_integer
from propkernels.convert.check import check_edges
from propkernels.convert.rdkit import is_mol
from propkernels.counting.counters import Counter
from propkernels.decisions.rule import Rule
from propkernels.explain.counterfactuals import Counterfactual, Counterfactuals, Edit
from propkernels.explain.edit_engine import Engine
from propkernels.explain.edit_search import Judge, Search, Searched
from propkernels.explain.edits import KINDS, NOTHING, Allowed, Editor, Rows
from propkernels.explain.valences import BONDS, Chemist, molecule_of
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid, GridDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.tracking.alphabet import Alphabet

BATCH = 2000  # edited graphs that the model decides about at once, where the compiled loops cannot
BUDGET, SLOW_BUDGET = 200_000, 20_000  # pairs of edits
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """What is asked of decisions.

    Attributes
    ----------
    judge : callable
        From decisions, (m, decisions), to margins, the larger the better, and to whether the prediction
        changes as wanted.
    shown : callable
        From decisions to one number each, as a person knows it.
    predicted : callable
        From decisions to predictions.
    ranked : bool
        Whether there is something to reach, with as few edits as possible; otherwise the largest change.
    """

    judge: Judge
    shown: Callable[[Matrix], NDArray[np.float64]]
    predicted: Callable[[Matrix], NDArray[Any]]
    ranked: bool


@dataclass(frozen=True)
class Model:
    """What a search needs of a fitted model.

    Attributes
    ----------
    decisions : callable
        From graphs to decisions, (graphs, decisions), intercepts included.
    rule : Rule
    intercepts : ndarray, (decisions,)
    is_plain : bool
        Whether decisions are those of the rule and nothing else: no labels are filled in before.
    """

    decisions: Callable[[GraphDatabase], Matrix]
    rule: Rule
    intercepts: NDArray[np.float64]
    is_plain: bool


def find_counterfactuals(
    model: Model,
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
    """Find edits of one graph; parameters are those of ``PropagationClassifier.counterfactuals``.

    ``ask`` gets the decisions about the graph as it is, (1, decisions).
    """
    check_integer(max_edits, "max_edits", 1, 2)
    check_integer(n, "n", 1)
    molecule = graph if molecule is None and is_mol(graph) else molecule
    one = one_graph(graph)
    before = model.decisions(one)
    question = ask(before)
    editor, chemist, connected = _editor(model.rule, one, Allowed.check(allowed, one.n_nodes), molecule)
    engine = Engine.of(model.rule, one, editor.alphabet) if model.is_plain else None
    pairs = _usual_budget(engine) if budget is None else check_integer(budget, "budget", 0)
    decide = _slow(model, editor, connected) if engine is None else _fast(model, engine, connected)
    validate = None if chemist is None else chemist.smiles
    search = Search(editor, decide, question.judge, n, pairs, question.ranked, validate)
    searched = search.run(max_edits)
    items = _checked(model, editor, question, before, searched)
    return Counterfactuals(
        items,
        Graph(one),
        float(question.shown(before)[0]),
        _plain(question.predicted(before)[0]),
        searched.reached and bool(items),
        searched.exhaustive,
        _summary(searched, max_edits, chemist is not None),
        searched.n_single + searched.n_pairs,
        label_names,
    )


def one_graph(graph: Any) -> GraphDatabase:
    """Return a database of the one graph that is to be edited, if it can be.

    Raises
    ------
    TypeError, ValueError
    """
    if isinstance(graph, (Grid, GridDatabase)):
        raise TypeError("counterfactuals edit nodes and edges, and images have none: pass a graph")
    several = isinstance(graph, (GraphDatabase, list))
    database = graph.database if isinstance(graph, Graph) else check_edges(graph if several else [graph])
    if len(database) != 1:
        raise ValueError(f"counterfactuals are those of one graph, got {len(database)}: pass graphs[i]")
    if database.is_directed or database.has_parallel_edges:
        what = "directed" if database.is_directed else "parallel"
        raise ValueError(f"counterfactuals are for undirected simple graphs, this one has {what} edges")
    return database


def _usual_budget(engine: Engine | None) -> int:
    return SLOW_BUDGET if engine is None else BUDGET


def _editor(
    rule: Rule, graph: GraphDatabase, allowed: Allowed, molecule: Any
) -> tuple[Editor, Chemist | None, bool]:
    """Editor, chemistry checker or None, and whether edits must keep the graph connected."""
    mol = molecule_of(graph, molecule)
    counters = [vocabulary.counter for vocabulary in rule.vocabularies]
    told_apart = not counters or any(counter.reads_edge_labels for counter in counters)
    read = not counters or any(counter.reads_labels for counter in counters)
    labels = _known_labels(graph, counters, read) if allowed.labels is None else allowed.labels
    bonds = _known_bonds(graph, mol is not None) if allowed.edge_labels is None else allowed.edge_labels
    alphabet = Alphabet.of(graph, labels, bonds)
    kinds = [kind for kind in allowed.kinds or KINDS if allowed.kinds or _is_usual(kind, graph, read)]
    editor = Editor(graph, alphabet, kinds, allowed.nodes, told_apart and alphabet.has_bonds)
    chemist = None if mol is None else Chemist(mol, editor, told_apart)
    return editor, chemist, mol is not None if allowed.connected is None else allowed.connected


def _is_usual(kind: str, graph: GraphDatabase, read: bool) -> bool:
    """Whether a kind of edits makes sense by default: labels that are not ``read`` are not changed."""
    uncertain = isinstance(graph.label_column, LabelDistributions)
    if kind == "relabel":
        return graph.label_column is not None and not uncertain and read
    return kind != "add_leaf" or (graph.node_attributes is None and not uncertain)


def _known_labels(graph: GraphDatabase, counters: Sequence[Counter], read: bool) -> list[Any]:
    """Labels of the database that the graph is from, and those that the counters have from training."""
    column = graph.label_column
    if column is None or isinstance(column, LabelDistributions):
        return []
    if not read:  # one label is as good as another
        return list(column.values[:1])
    return list(dict.fromkeys([*column.values, *(x for counter in counters for x in counter.known_labels)]))


def _known_bonds(graph: GraphDatabase, is_molecule: bool) -> list[Any]:
    if is_molecule:
        return list(BONDS)
    return [] if graph.edge_label_column is None else list(graph.edge_label_column.values)


def _fast(model: Model, engine: Engine, connected: bool) -> Callable[[Rows], Matrix]:
    """Decide by what edits change."""
    return lambda pairs: engine.decisions(pairs, connected) + model.intercepts


def _slow(model: Model, editor: Editor, connected: bool) -> Callable[[Rows], Matrix]:
    """Decide by the model, about batches of edited graphs."""

    def decide(pairs: Rows) -> Matrix:
        decisions = np.full((len(pairs), len(model.intercepts)), np.nan)
        for start in range(0, len(pairs), BATCH):
            there = {}
            for i, pair in enumerate(pairs[start : start + BATCH], start):
                graph = editor.edited(pair[pair[:, 0] != NOTHING], connected)
                if graph is not None:
                    there[i] = graph
            if there:
                decisions[list(there)] = model.decisions(GraphDatabase.concat(there.values()))
        return decisions

    return decide


def _checked(
    model: Model, editor: Editor, question: Question, before: Matrix, searched: Searched
) -> list[Counterfactual]:
    """Ask the model itself about each edited graph; what it does not confirm is left out."""
    made = [(one, editor.edited(one.rows)) for one in searched.found]
    graphs = [graph for _, graph in made if graph is not None]
    if not graphs:
        return []
    decisions = model.decisions(GraphDatabase.concat(graphs))
    _, changed = question.judge(decisions)
    values, predicted = question.shown(decisions), question.predicted(decisions)
    start = float(question.shown(before)[0])
    return [
        Counterfactual(
            tuple(_edit(editor, row) for row in one.rows),
            Graph(graph),
            float(values[i]),
            float(values[i]) - start,
            _plain(predicted[i]),
            one.molecule,
        )
        for i, (one, graph) in enumerate(zip(searched.found, graphs, strict=True))
        if bool(changed[i]) or not searched.reached
    ]


def _edit(editor: Editor, row: Rows) -> Edit:
    """An edit in the user's words."""
    kind, a, b, label, bond = (int(x) for x in row)
    name, alphabet = KINDS[kind], editor.alphabet
    values = alphabet.node_values if alphabet.has_labels else (None,)
    before = values[alphabet.node_ids[a]] if a < editor.n_nodes and alphabet.has_labels else None
    new_edge = alphabet.edge_values[bond] if name.startswith("add") and editor.told_apart else None
    if name == "relabel":
        return Edit(name, a, label=values[label], before=before)
    if name == "add_leaf":
        return Edit(name, a, b, label=values[label] if alphabet.has_labels else None, edge_label=new_edge)
    return Edit(name, a, b, before=before if name == "remove_leaf" else None, edge_label=new_edge)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _summary(searched: Searched, max_edits: int, is_molecule: bool) -> str:
    """Say how much was searched."""
    parts = [f"All {searched.n_single:,} single edits were tried."]
    if searched.n_extendable and searched.exhaustive:
        parts.append(f"So were all {searched.n_pairs:,} pairs of edits that could matter.")
    elif searched.n_extendable:
        parts.append(
            f"Of pairs, {searched.n_pairs:,} were tried: the {searched.n_extended:,} most promising of "
            f"{searched.n_extendable:,} single edits, each with all others; other pairs may do better "
            "(budget= tries more)."
        )
    elif max_edits == 2:
        parts.append("Pairs were not needed.")
    if is_molecule:
        parts.append("What breaks valences was left out.")
    if searched.n_unchecked:
        parts.append(f"{searched.n_unchecked:,} further edits were not checked for being molecules.")
    return " ".join(parts)

"""Counterfactuals of a model and a graph: ask, search, and confirm by the model itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_integer
from propkernels.convert.check import check_edges
from propkernels.convert.graph_molecules import BONDS
from propkernels.convert.rdkit import from_rdkit, is_mol
from propkernels.counts.counters import Counter
from propkernels.explain.counterfactuals import Counterfactual, Counterfactuals, Edit
from propkernels.explain.edit_engine import Engine
from propkernels.explain.edit_search import Judge, Search, Searched
from propkernels.explain.edits import KINDS, NOTHING, Allowed, Editor, Rows
from propkernels.explain.members import Counted
from propkernels.explain.rule import Rule
from propkernels.explain.valences import Chemist, Redrawn, drawn_labels, molecule_of
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid, GridDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.tracking.alphabet import Alphabet

IN_TIME = ("relabel", "remove_edge")  # edits of graphs in time: of a label at a time, and of a contact
BATCH = 2000  # edited graphs per batch, if the whole pipeline decides
BUDGET, SLOW_BUDGET = 200_000, 20_000  # pairs of edits
Matrix = NDArray[np.float64]


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

    judge: Judge
    shown: Callable[[Matrix], NDArray[np.float64]]
    predicted: Callable[[Matrix], NDArray[Any]]
    ranked: bool


@dataclass(frozen=True)
class Model:
    """The parts of a fitted model that a search needs.

    Attributes
    ----------
    decisions : callable
        From graphs to decisions, (graphs, decisions), intercepts included.
    rule : Rule
    intercepts : ndarray, (decisions,)
    is_plain : bool
        Whether decisions are those of the rule alone, without imputed labels.
    n_jobs : int or None
        Number of threads of a search.
    """

    decisions: Callable[[GraphDatabase], Matrix]
    rule: Rule
    intercepts: NDArray[np.float64]
    is_plain: bool
    n_jobs: int | None = None


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
    """Return counterfactuals of one graph; parameters are those of ``PropagationClassifier.counterfactuals``.

    ``ask`` takes the decisions on the original graph, (1, decisions), and returns the question.
    """
    check_integer(max_edits, "max_edits", 1, 2)
    check_integer(n, "n", 1)
    molecule = graph if molecule is None and is_mol(graph) else molecule
    one = one_graph(graph)
    if one.descriptors is not None and model.rule.is_explained and not model.rule.compares_bins:
        raise TypeError(
            "counterfactuals edit nodes and edges, but this model also reads descriptors of whole graphs: "
            "fit one without descriptors"
        )
    counted = Counted(one, None)
    before = model.rule.decide(counted) + model.intercepts if model.is_plain else model.decisions(one)
    question = ask(before)
    drawn = drawn_labels(one, molecule)
    plain = one if drawn is None else from_rdkit([drawn[0]])
    permitted = Allowed.check(allowed, one.n_nodes)
    editor, chemist, connected = _editor(
        model.rule, plain, permitted, molecule if drawn is None else drawn[0], drawn is not None
    )
    is_tracked = model.is_plain and drawn is None
    engine = Engine.of(model.rule, one, editor.alphabet, counted, model.n_jobs) if is_tracked else None
    redrawn = None if drawn is None or chemist is None else Redrawn(chemist, drawn[1], connected)
    pairs = _usual_budget(engine) if budget is None else check_integer(budget, "budget", 0)
    if redrawn is not None:
        decide = _by_molecules(model, redrawn)
    else:
        decide = _slow(model, editor, connected) if engine is None else _fast(model, engine, connected)
    validate = None if chemist is None else chemist.smiles
    search = Search(editor, decide, question.judge, n, pairs, question.ranked, validate)
    searched = search.run(max_edits)
    items = _checked(model, editor, redrawn, question, before, searched)
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


def _usual_budget(engine: Engine | None) -> int:
    return SLOW_BUDGET if engine is None else BUDGET


def _editor(
    rule: Rule, graph: GraphDatabase, allowed: Allowed, molecule: Any, drawn: bool
) -> tuple[Editor, Chemist | None, bool]:
    """Editor, chemistry checker or None, and whether edits must keep the graph connected.

    ``drawn``: labels are symbols of atoms, from which the labels of the model are computed.
    """
    mol = molecule_of(graph, molecule)
    counters = [vocabulary.counter for vocabulary in rule.vocabularies]
    told_apart = not counters or any(counter.reads_edge_labels for counter in counters)
    read = not counters or any(counter.reads_labels for counter in counters)
    labels = _known_labels(graph, counters, read) if allowed.labels is None else allowed.labels
    labels = _symbols(labels) if drawn else labels
    bonds = _known_bonds(graph, mol is not None) if allowed.edge_labels is None else allowed.edge_labels
    alphabet = Alphabet.of(graph, labels, bonds)
    kinds = [kind for kind in allowed.kinds or KINDS if allowed.kinds or _is_usual(kind, graph, read)]
    if graph.is_temporal:
        kinds = _kinds_in_time(kinds, allowed)
    editor = Editor(graph, alphabet, kinds, allowed.nodes, told_apart and alphabet.has_bonds)
    chemist = None if mol is None else Chemist(mol, editor, told_apart and not drawn)
    return editor, chemist, mol is not None if allowed.connected is None else allowed.connected


def _kinds_in_time(kinds: Sequence[str], allowed: Allowed) -> list[str]:
    """Return the kinds of edits of graphs in time; raise an error if others were asked for."""
    others = [kind for kind in allowed.kinds or () if kind not in IN_TIME]
    if others:
        raise ValueError(f"edits of graphs in time are {' and '.join(IN_TIME)}; got {others[0]!r}")
    return [kind for kind in kinds if kind in IN_TIME]


def _is_usual(kind: str, graph: GraphDatabase, read: bool) -> bool:
    """Whether a kind of edits is allowed by default: labels that the model does not read are not changed."""
    uncertain = isinstance(graph.label_column, LabelDistributions)
    if kind == "relabel":
        return graph.label_column is not None and not uncertain and read
    return kind != "add_leaf" or (graph.node_attributes is None and not uncertain)


def _known_labels(graph: GraphDatabase, counters: Sequence[Counter], read: bool) -> list[Any]:
    """Labels of the database of the graph, and labels that the counters saw in training."""
    column = graph.label_column
    if column is None or isinstance(column, LabelDistributions):
        return []
    if not read:  # edges of other graphs need only one label
        return list(column.values[:1])
    return list(dict.fromkeys([*column.values, *(x for counter in counters for x in counter.known_labels)]))


def _symbols(labels: Sequence[Any]) -> list[Any]:
    """Return symbols of elements: labels that are texts, and first entries of labels that start with one."""
    firsts = [label[0] if isinstance(label, tuple) else label for label in labels]
    return list(dict.fromkeys([first for first in firsts if isinstance(first, str)])) or ["C", "N", "O"]


def _known_bonds(graph: GraphDatabase, is_molecule: bool) -> list[Any]:
    column = graph.edge_label_column
    if not is_molecule:
        return [] if column is None else list(column.values)
    named = {name: value for value, name in graph.names.edge_labels.items()}
    return [named.get(bond, bond) for bond in BONDS if not named or bond in named]


def _fast(model: Model, engine: Engine, connected: bool) -> Callable[[Rows], Matrix]:
    """Return a function that decides from the changes of counts."""
    return lambda pairs: engine.decisions(pairs, connected) + model.intercepts


def _slow(model: Model, editor: Editor, connected: bool) -> Callable[[Rows], Matrix]:
    """Return a function that decides by the model, in batches of edited graphs."""

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


def _by_molecules(model: Model, redrawn: Redrawn) -> Callable[[Rows], Matrix]:
    """Return a function that decides by the model, on edited molecules with new labels, in batches."""

    def decide(pairs: Rows) -> Matrix:
        decisions = np.full((len(pairs), len(model.intercepts)), np.nan)
        for start in range(0, len(pairs), BATCH):
            edited = [redrawn.molecule(pair[pair[:, 0] != NOTHING]) for pair in pairs[start : start + BATCH]]
            there = [i for i, mol in enumerate(edited) if mol is not None]
            if there:
                graphs = redrawn.graphs([edited[i] for i in there])
                decisions[np.asarray(there) + start] = model.decisions(graphs)
        return decisions

    return decide


def _checked(
    model: Model,
    editor: Editor,
    redrawn: Redrawn | None,
    question: Question,
    before: Matrix,
    searched: Searched,
) -> list[Counterfactual]:
    """Decide on each edited graph by the model itself; drop results that it does not confirm."""
    if redrawn is None:
        made = [(one, editor.edited(one.rows)) for one in searched.found]
    else:
        made = [(one, redrawn.graphs([redrawn.molecule(one.rows)])) for one in searched.found]
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
    """Return the edit of a row, with the user's labels."""
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
    """Describe the extent of the search."""
    parts = [f"All {searched.n_single:,} single edits were tried."]
    if searched.n_extendable and searched.exhaustive:
        parts.append(f"So were all {searched.n_pairs:,} pairs of edits that could matter.")
    elif searched.n_extendable:
        parts.append(
            f"Of pairs, {searched.n_pairs:,} were tried: the {searched.n_extended:,} most promising of "
            f"{searched.n_extendable:,} single edits, each with all others; other pairs may do better "
            "(a larger budget tries more)."
        )
    elif max_edits == 2:
        parts.append("Pairs were not needed.")
    if is_molecule:
        parts.append("Edits that break valences were skipped.")
    if searched.n_unchecked:
        parts.append(f"{searched.n_unchecked:,} further edits were not checked for valid molecules.")
    return " ".join(parts)

"""Counterfactuals: edits of a graph and the predictions after them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import format_number, format_table
from propkernels._utils.optional import data_frame
from propkernels._utils.typing import Array, LabelNames, Record
from propkernels.graphs.container import Graph
from propkernels.graphs.names import Names

if TYPE_CHECKING:
    from pandas import DataFrame

WIDTH = 80  # characters of a line of text; wider tables leave out SMILES, which ``smiles`` has
WORDS = ("edits", "smiles", "prediction")  # columns of words
MOST_DRAWN = 5  # edited graphs shown in a notebook


@dataclass(frozen=True)
class Edit:
    """A single change of a graph.

    Attributes
    ----------
    kind : {"relabel", "add_edge", "remove_edge", "add_leaf", "remove_leaf"}
    node : int
        The node that is relabeled, removed or given a leaf, or one end of the edge, as numbered in the graph
        before any edit; a new node has the next number.
    other : int or None
        The other end of the edge; of a leaf that is removed, its neighbor; of a new leaf, its number.
    label : Any
        The new label.
    before : Any
        The label before.
    edge_label : Any
        The label of a new edge, if the model uses edge labels.

    Examples
    --------
    >>> str(Edit("relabel", 3, label="N", before="C")), str(Edit("add_edge", 3, 7))
    ('relabel node 3: C -> N', 'add edge 3-7')
    """

    kind: str
    node: int
    other: int | None = None
    label: Hashable | None = None
    before: Hashable | None = None
    edge_label: Hashable | None = None

    def describe(self, names: Names | LabelNames | None = None) -> str:
        """Return the edit in words; ``names`` are display names of labels."""
        words = names if isinstance(names, Names) else Names(names or {})
        label, before = (words.label(value) for value in (self.label, self.before))
        bond = "" if self.edge_label is None else f" ({words.edge_label(self.edge_label)})"
        if self.kind == "relabel":
            return f"relabel node {self.node}: {before} -> {label}"
        if self.kind == "add_leaf":
            leaf = "leaf" if self.label is None else f"leaf {label}"
            return f"add {leaf} at node {self.node}{bond}"
        if self.kind == "remove_leaf":
            leaf = "" if self.before is None else f" ({before})"
            return f"remove leaf {self.node}{leaf} from node {self.other}"
        return f"{self.kind.split('_')[0]} edge {self.node}-{self.other}{bond}"

    def __str__(self) -> str:
        return self.describe()


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """An edited graph: one or two edits, with the decision and prediction of the model.

    Attributes
    ----------
    edits : tuple of Edit
        The edits, in order.
    graph : Graph
        The edited graph.
    decision : float
        Decision of the model: for two classes, that of ``decision_function``; for more, the lead of the new
        class; for regression, the prediction.
    change : float
        Decision minus that of the original graph.
    prediction : Any
        Prediction of the model.
    smiles : str or None
        SMILES of the edited molecule.
    """

    edits: tuple[Edit, ...]
    graph: Graph
    decision: float
    change: float
    prediction: object
    smiles: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactuals(Sequence[Counterfactual]):
    """The smallest edits of a graph that change its prediction, returned by ``counterfactuals`` of a model.

    A sequence of :class:`Counterfactual`: fewer edits first, then by distance beyond the decision boundary.

    Attributes
    ----------
    items : sequence of Counterfactual
    original : Graph
        The original graph.
    decision_before : float
    prediction_before : Any
    reached : bool
        Whether these edits change the prediction as requested; False: no tried edit does, and these come
        closest.
    exhaustive : bool
        Whether all edits within ``max_edits`` were tried. False: all single edits were, and the pairs given
        in ``summary``.
    summary : str
        The extent of the search, in a few sentences.
    n_decided : int
        Number of edited graphs with a decision.
    label_names : mapping, optional
        Display names of labels.

    See Also
    --------
    PropagationClassifier : ``PropagationClassifier.counterfactuals`` returns this.
    propkernels.explain.Explanation : Contribution of each node to a decision.

    References
    ----------
    .. [1] S. Wachter, B. Mittelstadt and C. Russell (2018). Counterfactual explanations without opening the
       black box. Harvard Journal of Law & Technology 31 (2), 841-887.

    Examples
    --------
    >>> import propkernels as pk
    >>> from propkernels.explain.edits import KINDS
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> kernel = pk.PropagationKernel(propagation=pk.propagation.Diffusion(0.5, "none"), t_max=1)
    >>> model = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(data.graphs, data.target)
    >>> changes = model.counterfactuals(data.graphs[1], n=3)
    >>> all(changes.prediction != changes.prediction_before)
    True
    >>> len(changes), changes.edits[0][0].kind in KINDS, changes.graph(0).n_nodes > 0
    (3, True, True)
    """

    items: Sequence[Counterfactual]
    original: Graph
    decision_before: float
    prediction_before: object
    reached: bool = True
    exhaustive: bool = True
    summary: str = ""
    n_decided: int = 0
    label_names: LabelNames | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, at: Any) -> Any:
        return self.items[at]

    @property
    def names(self) -> Names:
        """Display names of labels and classes."""
        known = self.original.database.names
        return Names(self.label_names or known.labels, known.edge_labels, known.classes)

    # columns

    def graph(self, i: int) -> Graph:
        """Return the edited graph of item i."""
        return self.items[i].graph

    @property
    def edits(self) -> list[tuple[Edit, ...]]:
        """The edits of each item."""
        return [item.edits for item in self.items]

    @property
    def decision(self) -> NDArray[np.float64]:
        """The decision for each edited graph."""
        return np.array([item.decision for item in self.items], dtype=np.float64)

    @property
    def prediction(self) -> Array:
        """The prediction for each edited graph."""
        return np.array([item.prediction for item in self.items])

    @property
    def smiles(self) -> list[str | None]:
        """SMILES of the edited molecules; None for other graphs."""
        return [item.smiles for item in self.items]

    # tables

    def records(self) -> list[Record]:
        """Return one record per item."""
        return [
            {
                "edits": "; ".join(edit.describe(self.names) for edit in item.edits),
                "n_edits": len(item.edits),
                "decision": item.decision,
                "change": item.change,
                "prediction": self.names.classes.get(item.prediction, item.prediction),
            }
            | ({} if item.smiles is None else {"smiles": item.smiles})
            for item in self.items
        ]

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row per item."""
        return data_frame(self.records())

    @property
    def title(self) -> str:
        """One sentence about the original prediction and the result of the search."""
        class_before = self.names.classes.get(self.prediction_before, self.prediction_before)
        names = list(self.names.classes.values())
        sign = f", positive for {names[1]}" if len(names) == 2 else ""
        now = f"predicted {_text(class_before)} (decision {format_number(self.decision_before)}{sign})"
        if not self.items:
            return f"The graph is {now}. No edit is possible."
        if self.reached:
            return f"The graph is {now}. These edits change the prediction."
        return f"The graph is {now}. No edit changes the prediction as requested; the closest are shown."

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the column names, and the texts of each row."""
        records = self.records()
        head = [name for name in records[0] if name != "n_edits"] if records else []
        text: dict[str, Callable[[Any], str]] = {"decision": format_number, "change": format_number}
        return head, [[text.get(name, _text)(record[name]) for name in head] for record in records]

    def __str__(self) -> str:
        head, rows = self.cells()
        table = format_table(head, rows, left=WORDS) if rows else ""
        if head and head[-1] == "smiles" and max(map(len, table.splitlines())) > WIDTH:
            table = format_table(head[:-1], [row[:-1] for row in rows], left=WORDS)
        return "\n".join(text for text in (self.title, table, self.summary) if text)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from propkernels.graphs.drawing import graph_svg
        from propkernels.graphs.layout import node_positions
        from propkernels.plotting.pages.fragments import Drawing, Drawings, Remark, Table, show_result

        places = node_positions(self.original) if self.original.n_nodes else np.zeros((0, 2))
        drawings = [Drawing(graph_svg(self.original, positions=places, names=self.names.labels), "as it is")]
        for item, record in zip(self.items[:MOST_DRAWN], self.records(), strict=False):
            positions, marked = _edited_places(places, item.edits)
            svg = graph_svg(item.graph, positions=positions, marked=marked, names=self.names.labels)
            drawings.append(Drawing(svg, f"{record['edits']}; predicted {_text(record['prediction'])}"))
        head = self.cells()[0]
        shown: dict[str, Callable[[Any], Any]] = {"prediction": _text, "edits": str, "smiles": str}
        rows = [[shown.get(name, float)(r[name]) for name in head] for r in self.records()]
        return show_result(self.title, Drawings(drawings), Table(head, rows), Remark(self.summary))


def _edited_places(
    places: NDArray[np.float64], edits: Sequence[Edit]
) -> tuple[NDArray[np.float64], set[int]]:
    """Return positions of the nodes of the edited graph (new ones beside their neighbor) and marked nodes."""
    points, touched, gone = list(places), set[int](), set[int]()
    for edit in edits:
        touched |= {edit.node} | (set() if edit.other is None else {edit.other})
        gone |= {edit.node} if edit.kind == "remove_leaf" else set()
        if edit.kind == "add_leaf":
            points.append(_free_place(np.array(points), edit.node))
    kept = [i for i in range(len(points)) if i not in gone]
    return np.array([points[i] for i in kept]), {k for k, i in enumerate(kept) if i in touched}


def _free_place(points: NDArray[np.float64], node: int) -> NDArray[np.float64]:
    """Return a position at one edge length from a node, as far from all other nodes as possible."""
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    around = points[node] + np.stack([np.cos(angles), np.sin(angles)], axis=1)
    gaps = np.linalg.norm(around[:, None] - points[None], axis=2).min(axis=1)
    return np.asarray(around[gaps.argmax()])


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)

"""Explanation: a decision as a sum over nodes and iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_integer, format_number, format_table, shown
from propkernels._utils.optional import data_frame
from propkernels._utils.typing import Molecules, Picture, Record, Values
from propkernels.convert.asking_rdkit import molecule_of, with_atoms
from propkernels.counts.bins import smarts_of
from propkernels.graphs.container import as_positions, count
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Database, GridDatabase
from propkernels.graphs.names import Names, label_text

if TYPE_CHECKING:
    from pandas import DataFrame
from scipy.sparse import csr_array

MOST_DRAWN = 3  # graphs shown in a notebook
VALUES_IN_MEMORY = 2**22  # pairs of a node and an edge within its reach, per batch of nodes


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Contributions of nodes and iterations that add up to decisions, returned by ``explain`` of a model.

    Attributes
    ----------
    contributions : ndarray of shape (nodes, t_max + 1)
        Contribution of each node at each iteration; positive values favor ``speaks_for``.
    graph_ptr : ndarray of shape (graphs + 1,)
        Offsets of the nodes of each graph.
    intercept : float or ndarray of shape (graphs,)
        Intercept, added once per graph.
    graphs : GraphDatabase, GridDatabase or None
        The explained graphs.
    speaks_for : Any
        Class favored by positive contributions, or an array of one class per graph; None for
        regression.
    against : Any
        Class whose decision is subtracted; None: none is, or regression.
    descriptor_terms : float or ndarray of shape (graphs,)
        Contribution of the descriptors of each graph, which belong to no node.

    See Also
    --------
    PropagationClassifier : ``PropagationClassifier.explain`` returns this.
    propkernels.plotting.plot_explanation : Draws it.
    propkernels.molecules.draw_molecule : Draws it on molecules, as ``explanation.draw_molecule(i)`` does.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 4.1: the linear base kernel is a sum over nodes.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> kernel = pk.PropagationKernel(propagation=pk.propagation.Diffusion(0.5, "none"), t_max=1)
    >>> model = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(data.graphs, data.target)
    >>> explanation = model.explain(data.graphs[:3])
    >>> explanation
    Explanation(3 graphs, 86 nodes, t = 0..1, for bonded against apart)
    >>> explanation.node_totals.shape, explanation.of_graph(0).shape
    ((86,), (18, 2))
    >>> print(explanation.table(graph=1, n=2))
         node  label    total         t0       t1
           23  O      +0.1493  +0.006506  +0.1428
           15  N      -0.1258   -0.01362  -0.1122
       others         -0.1103    -0.2453   +0.135
    intercept         +0.3634
     decision         +0.2765
    """

    contributions: Values
    graph_ptr: NDArray[np.int64]
    intercept: float | NDArray[np.float64]
    graphs: Database | None = None
    speaks_for: object = None
    against: object = None
    descriptor_terms: float | NDArray[np.float64] = field(default=0.0, kw_only=True)

    # sums

    @property
    def decisions(self) -> Values:
        """Decision value of each graph: the sum of its contributions, its descriptors and the intercept."""
        return self._sums(self.node_totals) + self.descriptor_terms + self.intercept

    @property
    def node_totals(self) -> Values:
        """Contribution of each node, summed over iterations."""
        return self.contributions.sum(axis=1)

    @property
    def iteration_totals(self) -> Values:
        """Contribution of each iteration, summed over the nodes of a graph: (graphs, t_max + 1)."""
        return np.stack([self._sums(column) for column in self.contributions.T], axis=1)

    def _sums(self, values: Values) -> Values:
        """Sum values over the nodes of each graph."""
        return np.array([part.sum() for part in np.split(values, self.graph_ptr[1:-1])])

    # one graph

    def intercept_of(self, graph: int) -> float:
        """Return the intercept of one graph's decision."""
        return float(np.broadcast_to(self.intercept, len(self.graph_ptr) - 1)[self.position(graph)])

    def descriptors_of(self, graph: int) -> float:
        """Return the contribution of one graph's descriptors; 0 for models that do not use any."""
        return float(np.broadcast_to(self.descriptor_terms, len(self.graph_ptr) - 1)[self.position(graph)])

    def class_of(self, graph: int) -> object:
        """Return the class favored by positive contributions in one graph; None for regression."""
        if not isinstance(self.speaks_for, np.ndarray):
            return self.speaks_for
        return self.speaks_for[self.position(graph)]

    def position(self, graph: int) -> int:
        """Return the number of a graph, counted from the start."""
        position = as_positions(graph, len(self.graph_ptr) - 1)
        if not isinstance(position, int):
            raise TypeError(f"graph must be the number of one graph, got {shown(graph)}")
        return position

    def of_graph(self, graph: int) -> Values:
        """Return the contributions of one graph's nodes, (its nodes, t_max + 1)."""
        return self.contributions[self._nodes(graph)]

    def edge_contributions(self, graph: int, t: int | None = None) -> tuple[NDArray[np.int64], Values]:
        """Return the contributions of one graph's nodes, divided among the edges of their neighborhoods.

        The code of a node at iteration t depends on the edges with an end at most t - 1 steps away. They get
        equal shares of its contribution, so that at t > 0 contributions of edges add up to those of all nodes
        with neighbors. At t = 0 no edge is within reach.

        Parameters
        ----------
        graph : int
        t : int, optional
            A single iteration; by default the sum of all.

        Returns
        -------
        ndarray of int64, (edges, 2)
            Ends of each edge, numbered within the graph, the smaller number first.
        ndarray of float64, (edges,)
            Contribution of each edge.

        Examples
        --------
        >>> import numpy as np, propkernels as pk
        >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> graphs = pk.check_graphs([(path, ["C", "C", "O"])])
        >>> added = np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 1.0]])
        >>> ends, values = pk.explain.Explanation(added, graphs.graph_ptr, 0.0, graphs).edge_contributions(0)
        >>> ends.tolist(), values.tolist()
        ([[0, 1], [1, 2]], [0.25, 1.25])
        """
        if not isinstance(self.graphs, GraphDatabase):
            raise TypeError("contributions of edges need explained graphs: see with_graphs")
        position = self.position(graph)
        ends, shares = edge_contributions(self.graphs[position].adjacency, self.of_graph(position))
        return ends, shares.sum(axis=1) if t is None else shares[:, self._iteration(t)]

    def contacts(self, graph: int = 0) -> list[Record]:
        """Return the contacts of a graph in time with their contributions, the strongest first.

        The contribution of a node is divided among the edges of its neighborhood, see
        :meth:`edge_contributions`; the shares of waiting (the same vertex at another time) are left out.

        Parameters
        ----------
        graph : int, default=0

        Returns
        -------
        list of dict
            "source", "target", "time" and "contribution".
        """
        moments = getattr(self.graphs, "moments", None)
        if not isinstance(self.graphs, GraphDatabase) or moments is None:
            raise TypeError("contacts need explained graphs in time: see from_contacts")
        one = self.graphs[[self.position(graph)]]
        ends, values = self.edge_contributions(graph)
        assert one.moments is not None
        vertices, times = one.moments.vertices, one.moments.times
        met = [
            {
                "source": vertices.values[vertices.ids[a]],
                "target": vertices.values[vertices.ids[b]],
                "time": float(max(times[a], times[b])),
                "contribution": float(value),
            }
            for (a, b), value in zip(ends.tolist(), values, strict=True)
            if vertices.ids[a] != vertices.ids[b]
        ]
        return sorted(met, key=lambda contact: -abs(contact["contribution"]))

    def draw_molecule(
        self, graph: int | Sequence[int] = 0, molecules: Molecules | None = None, **options: Any
    ) -> Picture:
        """Draw explained molecules, atoms and bonds colored by their contribution.

        Parameters
        ----------
        graph : int or sequence of int, default=0
            Molecules to draw; several are drawn in a grid, with one color scale.
        molecules : sequence of str or rdkit.Chem.Mol, optional
            SMILES or molecules, one per graph; not needed if the graphs were made from them in this
            process: by :class:`MoleculesToGraphs`, ``from_smiles``, ``from_rdkit``, or by ``explain`` itself.
        **options
            Options of :func:`~propkernels.molecules.draw_molecule`: t, limit, bonds, title, n_columns, size.

        Returns
        -------
        MoleculePicture
            Has ``svg``, ``png`` and ``save``; displayed by notebooks.

        Examples
        --------
        >>> import propkernels as pk
        >>> graphs = pk.from_smiles(["CCO", "CCCO", "CCN", "CCCN", "CCCCO", "CCCCN"])
        >>> model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), random_state=0)
        >>> explanation = model.fit(graphs, [1, 1, 0, 0, 1, 0]).explain(graphs)
        >>> picture = explanation.draw_molecule(1)
        >>> len(picture.values), len(picture.bonds)
        (4, 3)
        """
        import propkernels  # pictures of molecules are in a later package: use their public name

        known = getattr(self.graphs, "sources", None) if molecules is None else molecules
        if known is None:
            raise ValueError(
                "the graphs do not store the molecules they were made from: pass molecules=[...]"
            )
        return propkernels.molecules.draw_molecule(self, known, graph, **options)

    def substructures(self, graph: int = 0, n: int = 3, molecules: Molecules | None = None) -> list[Record]:
        """Return the n substructures of a molecule with the largest contributions, as SMARTS.

        A substructure is an atom with its neighborhood of radius t, whose contribution is that of the atom at
        iteration t; each atom is the middle of at most one. Of several with the same SMARTS, such as the
        atoms of a trifluoromethyl group, only the strongest is listed.

        Parameters
        ----------
        graph : int, default=0
        n : int, default=3
        molecules : sequence of str or rdkit.Chem.Mol, optional
            See :meth:`draw_molecule`.

        Returns
        -------
        list of dict
            "smarts", "node", "t" and "contribution", the largest absolute contribution first.

        Examples
        --------
        >>> import propkernels as pk
        >>> graphs = pk.from_smiles(["CCO", "CCCO", "CCN", "CCCN", "CCCCO", "CCCCN"])
        >>> model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), random_state=0)
        >>> explanation = model.fit(graphs, [1, 1, 0, 0, 1, 0]).explain(graphs)
        >>> [found["smarts"] for found in explanation.substructures(1, n=1)]
        ['[#8]']
        """
        known: Any = getattr(self.graphs, "sources", None) if molecules is None else molecules
        if known is None or not isinstance(self.graphs, GraphDatabase):
            raise ValueError("substructures need the molecules of the explained graphs: pass molecules=[...]")
        position = self.position(graph)
        values = self.of_graph(position)
        if not len(values):  # a molecule that could not be read
            return []
        mol = with_atoms(molecule_of(known[position]), len(values), position)
        steps = np.argmax(np.abs(values), axis=1)
        strongest = values[np.arange(len(values)), steps]
        found, wanted = dict[str, Record](), check_integer(n, "n", 1)
        for node in np.argsort(-np.abs(strongest), kind="stable").tolist():
            if len(found) == wanted:
                break
            t = int(steps[node])
            record = {"node": node, "t": t, "contribution": float(strongest[node])}
            found.setdefault(smarts_of(mol, np.array([node]), t), record)
        return [{"smarts": smarts} | record for smarts, record in found.items()]

    def image(self, graph: int, t: int | None = None) -> Values:
        """Return the contributions of one grid's pixels in the shape of its image; NaN outside its mask.

        Parameters
        ----------
        graph : int
        t : int, optional
            A single iteration; by default the sum of all.
        """
        if not isinstance(self.graphs, GridDatabase):
            raise TypeError("contributions have the shape of an image only where grids are explained")
        nodes = self._nodes(graph)
        values = self.node_totals[nodes] if t is None else self.contributions[nodes, self._iteration(t)]
        position = self.position(graph)
        inside, shape = self.graphs.inside_of(position), tuple(self.graphs.shapes[position])
        pixels = np.full(int(np.prod(shape)), np.nan)
        pixels[slice(None) if inside is None else inside] = values
        return pixels.reshape(shape)

    def top_nodes(self, graph: int = 0, n: int = 10) -> list[Record]:
        """Return the n nodes of a graph with the largest absolute contributions, largest first."""
        nodes = self._nodes(graph)
        strongest = np.argsort(-np.abs(self.node_totals[nodes]), kind="stable")
        return self._records(nodes.start + strongest[: check_integer(n, "n", 1)])

    def table(self, graph: int = 0, n: int = 10) -> str:
        """Return a text table of the nodes with the largest absolute contributions, as a sum.

        Rows of all other nodes, of descriptors and of the intercept follow; the last row is the decision.
        """
        values, strongest = self.of_graph(graph), self.top_nodes(graph, n)
        numbers = ("total", *self._columns)
        rows = [
            [str(r["node"]), _named(r["label"]), *(format_number(r[c]) for c in numbers)] for r in strongest
        ]
        if len(strongest) < len(values):
            others = np.delete(values, [record["node"] for record in strongest], axis=0).sum(axis=0)
            rows.append(["others", "", *map(format_number, (others.sum(), *others))])
        sums = {name: value for name, value in self._apart(graph).items() if value}
        sums[self.quantity if self.speaks_for is None else "decision"] = self.decisions[self.position(graph)]
        empty = [""] * len(self._columns)
        rows += [[name, "", format_number(value), *empty] for name, value in sums.items()]
        return format_table(["node", "label", *numbers], rows, left=("label",))

    def _apart(self, graph: int) -> dict[str, float]:
        """Return the terms of one graph's decision that belong to no node, by name."""
        return {"descriptors": self.descriptors_of(graph), self.constant: self.intercept_of(graph)}

    # whole explanation

    def with_graphs(self, graphs: Database) -> Explanation:
        """Return the same explanation for other graphs, such as a copy with other labels."""
        return replace(self, graphs=graphs)

    def records(self) -> list[Record]:
        """Return one record per node: graph, node, label, total, t0, t1, ..."""
        return self._records(np.arange(len(self.contributions)))

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row per node: graph, node, label, total, t0, t1, ..."""
        return data_frame(self._cells(np.arange(len(self.contributions))))

    @property
    def subject(self) -> str:
        """The meaning of positive contributions, in words."""
        if self.speaks_for is None:
            return "for a larger prediction"
        if isinstance(self.speaks_for, np.ndarray):
            return "for the predicted class against the others"
        return f"for {self.class_name(self.speaks_for)} against {self.opponent}"

    @property
    def opponent(self) -> str:
        """The class that is compared with, in words."""
        return "the others" if self.against is None else self.class_name(self.against)

    def class_name(self, value: object) -> str:
        """Return the name of a class, or "class" and its label."""
        return (Names() if self.graphs is None else self.graphs.names).class_name(value)

    @property
    def is_signed(self) -> bool:
        """Whether contributions may be negative; otherwise, drawings use a sequential color scale."""
        return True

    def key(self, nodes: str = "nodes") -> str:
        """Return the meaning of colors in drawings, as a sentence about ``nodes``, such as "atoms"."""
        if self.speaks_for is None:
            return f"Red {nodes} raise the {self.quantity}, blue {nodes} lower it."
        is_array = isinstance(self.speaks_for, np.ndarray)
        favored = "the predicted class" if is_array else self.class_name(self.speaks_for)
        return f"Red {nodes} are evidence for {favored}, blue {nodes} for {self.opponent}."

    @property
    def quantity(self) -> str:
        """Name of the quantity that contributions add up to, if no classes are compared."""
        return "prediction"

    @property
    def constant(self) -> str:
        """Name of the intercept in tables and captions."""
        return "intercept"

    def __repr__(self) -> str:
        graphs, (nodes, steps) = len(self.graph_ptr) - 1, self.contributions.shape
        sizes = f"{count(graphs, 'graph')}, {count(nodes, 'node')}"
        return f"{type(self).__name__}({sizes}, t = 0..{steps - 1}, {self.subject})"

    def caption(self, graph: int, nodes: str = "nodes") -> str:
        """Return the decision about one graph in words and as a sum, for the text below a drawing."""
        at = self.position(graph)
        decision, favored = float(self.decisions[at]), self.class_of(at)
        parts = {nodes: self.of_graph(at).sum(), **self._apart(at)}
        least = 1e-9 * max(map(abs, parts.values()))
        terms = ", ".join(f"{name} {value:+.3g}" for name, value in parts.items() if abs(value) > least)
        if favored is None:
            return f"{self.quantity} {decision:.3g}" + (f" ({terms})" if terms else "")
        if self.against is None and not isinstance(self.speaks_for, np.ndarray):
            return f"decision for {self.class_name(favored)} {decision:+.3g} ({terms})"
        winner = favored if decision > 0 or self.against is None else self.against
        return f"{self.class_name(winner)} ({terms} = {decision:+.3g})"

    def _repr_html_(self) -> str:
        from propkernels.graphs.drawing import drawn
        from propkernels.plotting.pages.fragments import Drawing, Drawings, Remark, show_result

        drawings, nodes = [], "nodes"
        graphs = self.graphs
        for i in range(0 if graphs is None else min(len(graphs), MOST_DRAWN)):
            edges = self.edge_contributions(i) if isinstance(graphs, GraphDatabase) else None
            svg, nodes = drawn(graphs, i, self.of_graph(i).sum(axis=1), edges)
            ids = getattr(graphs, "ids", None)
            drawings.append(Drawing(svg, f"{i if ids is None else ids[i]}: {self.caption(i, nodes)}"))
        return show_result(repr(self), Drawings(drawings), Remark(self.key(nodes)))

    # looking up

    @property
    def _columns(self) -> list[str]:
        return [f"t{t}" for t in range(self.contributions.shape[1])]

    def _nodes(self, graph: int) -> slice:
        position = self.position(graph)
        return slice(int(self.graph_ptr[position]), int(self.graph_ptr[position + 1]))

    def _iteration(self, t: int) -> int:
        if check_integer(t, "t", 0) >= self.contributions.shape[1]:
            raise ValueError(f"t must be at most {self.contributions.shape[1] - 1}, got {t}")
        return int(t)

    def _cells(self, nodes: NDArray[np.int64]) -> dict[str, Any]:
        """Return the columns of a table of nodes, numbered through all graphs."""
        graph = np.searchsorted(self.graph_ptr, nodes, side="right") - 1
        values, labels = self.contributions[nodes], [self._label(node) for node in nodes]
        named = {"graph": graph, "node": nodes - self.graph_ptr[graph], "label": labels}
        return {**named, "total": values.sum(axis=1), **dict(zip(self._columns, values.T, strict=True))}

    def _records(self, nodes: NDArray[np.int64]) -> list[Record]:
        cells = self._cells(nodes)
        columns = [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells.values()]
        return [dict(zip(cells, row, strict=True)) for row in zip(*columns, strict=True)]

    def _label(self, node: int) -> Any:
        """Label of a node, or its name; None if it has none, or a distribution of labels."""
        column = None if self.graphs is None else self.graphs.label_column
        if self.graphs is None or column is None or not hasattr(column, "ids"):
            return None
        number = int(column.ids[node])
        if number < 0:
            return None
        return self.graphs.names.labels.get(column.values[number], column.values[number])


def _named(label: Any) -> str:
    return "-" if label is None else label_text(label)


def edge_contributions(adjacency: Any, contributions: Values) -> tuple[NDArray[np.int64], Values]:
    """Divide the contribution of each node at each iteration among the edges within its reach.

    The code of a node at iteration t depends on the edges with an end at most t - 1 steps away. They get
    equal shares. At t > 0, contributions of edges add up to those of all nodes with neighbors; at t = 0 no
    edge is within reach.

    Parameters
    ----------
    adjacency : sparse array, (nodes, nodes)
        Adjacency of one undirected graph.
    contributions : ndarray of float64, (nodes, t_max + 1)

    Returns
    -------
    ndarray of int64, (edges, 2)
        Ends of each edge, the smaller number first.
    ndarray of float64, (edges, t_max + 1)
        Contribution of each edge.
    """
    rows, cols = adjacency.nonzero()
    ends = np.unique(np.sort(np.column_stack([rows, cols]).astype(np.int64), axis=1), axis=0)
    shares = np.zeros((len(ends), contributions.shape[1]))
    if not len(ends):
        return ends, shares
    n_nodes = adjacency.shape[0]
    step = _marks(
        np.concatenate([rows, cols, np.arange(n_nodes)]),
        np.concatenate([cols, rows, np.arange(n_nodes)]),
        (n_nodes, n_nodes),
    )
    touches = _marks(ends.T.ravel(), np.tile(np.arange(len(ends)), 2), (n_nodes, len(ends)))
    n_rows = max(VALUES_IN_MEMORY // len(ends), 1)
    for first in range(0, n_nodes, n_rows):
        own = np.arange(first, min(first + n_rows, n_nodes))
        ball = _marks(np.arange(len(own)), own, (len(own), n_nodes))  # nodes within reach of each node
        seen = ball @ touches  # (nodes of the batch, edges)
        for t in range(1, contributions.shape[1]):
            wider = ball @ step if t > 1 else ball
            if wider.nnz > ball.nnz:
                ball, seen = wider, wider @ touches
            known = np.diff(seen.indptr)
            parts = np.divide(contributions[own, t], known, out=np.zeros(len(known)), where=known > 0)
            shares[:, t] += parts @ seen
    return ends, shares


def _marks(rows: Any, columns: Any, shape: tuple[int, int]) -> csr_array:
    """Return a sparse boolean matrix; repeated entries stay True."""
    return csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)

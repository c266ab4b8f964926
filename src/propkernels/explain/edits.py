"""Edits of a graph: allowed edits, all single edits, edits that become possible after another, edited graphs.

An edit is a row of five integers, (kind, a, b, label, bond):

    RELABEL      node a gets the label
    ADD_EDGE     between a and b, with the edge label ``bond``
    REMOVE_EDGE  between a and b
    ADD_LEAF     a new node with the label, attached to a; b is its number, for use by a second edit
    REMOVE_LEAF  node a, whose only neighbor is b
    NOTHING      in place of the second edit of a pair

Nodes keep the numbers of the original graph; the first new node has the number n. Labels are positions in
``Editor.labels`` and ``Editor.edge_labels``, where -1 is a label that is not observed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from propkernels._utils.checks import check_choice, check_integer, shown
from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import asking_rdkit, parse_smiles
from propkernels.convert.graph_molecules import BONDS, known_molecule, rebuilt_molecule, symbols_of
from propkernels.convert.rdkit import RECIPES, VIEWS, Recipe, from_rdkit, is_mol
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn, canonical_label
from propkernels.graphs.moments import SAME_VERTEX, edges_of

KINDS = ("relabel", "add_edge", "remove_edge", "add_leaf", "remove_leaf")
RELABEL, ADD_EDGE, REMOVE_EDGE, ADD_LEAF, REMOVE_LEAF = range(5)
NOTHING = -1
NEW_NODES = 2  # nodes that a pair of edits may add
MOST_EDITS = 1_000_000
KEYS = ("kinds", "labels", "edge_labels", "nodes", "connected")
SMALLEST_RING = 5  # atoms of a ring that an edit may close
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Allowed:
    """Allowed edits, as given by the parameter ``allowed``; None: no restriction.

    Attributes
    ----------
    kinds : tuple of str or None
        A subset of ``KINDS``.
    labels, edge_labels : tuple or None
        Labels that relabeled or new nodes, and new edges, may get.
    nodes : tuple of int or None
        Nodes that may be relabeled or removed, get a new leaf, or be an end of an added or removed edge.
    connected : bool or None
        Whether the ends of a removed edge must stay connected.
    """

    kinds: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None
    edge_labels: tuple[Any, ...] | None = None
    nodes: tuple[int, ...] | None = None
    connected: bool | None = None

    @classmethod
    def check(cls, allowed: Any, n_nodes: int) -> Allowed:
        """Read the parameter: None, kinds of edits, or a mapping with some of ``KEYS``."""
        if allowed is None:
            return cls()
        given = dict(allowed) if isinstance(allowed, Mapping) else {"kinds": allowed}
        for key in given:
            check_choice(key, KEYS, "each key of allowed")
        several = {key: _several(given[key], key) for key in KEYS[:4] if given.get(key) is not None}
        for kind in several.get("kinds", ()):
            check_choice(kind, KINDS, "each kind of allowed edits")
        if "nodes" in several:
            most = n_nodes - 1
            several["nodes"] = tuple(
                check_integer(i, "each of allowed nodes", 0, most) for i in several["nodes"]
            )
        connected = given.get("connected")
        if connected is not None and not isinstance(connected, (bool, np.bool_)):
            raise ValueError(f"allowed['connected'] must be True or False, got {shown(connected)}")
        return cls(**several, connected=None if connected is None else bool(connected))


def _several(values: Any, key: str) -> tuple[Any, ...]:
    """Return one value or several as a tuple."""
    if isinstance(values, str):
        return (values,)
    if not isinstance(values, Iterable) or isinstance(values, (bytes, Mapping)):
        raise TypeError(f"allowed[{key!r}] must be a list, got {shown(values)}")
    return tuple(values)


class Editor:
    """A graph, its allowed edits, and the edited graphs.

    Parameters
    ----------
    graph : GraphDatabase
        One undirected graph.
    labels, edge_labels : sequence
        Labels that edits may give to nodes, and to new edges.
    kinds : sequence of str
        Allowed kinds of edits.
    nodes : sequence of int or None
        Nodes that may be edited; None: all.
    told_apart : bool
        Whether the model uses edge labels; otherwise new edges get the first allowed label.

    Attributes
    ----------
    labels, edge_labels : tuple
        Labels of the graph and of edits, by number; the last, with the number -1, is None.
    new_labels, new_bonds : ndarray of int64
        Numbers of the labels that edits may use.
    """

    def __init__(
        self,
        graph: GraphDatabase,
        labels: Sequence[Any],
        edge_labels: Sequence[Any],
        kinds: Sequence[str],
        nodes: Sequence[int] | None,
        told_apart: bool,
    ) -> None:
        n, wiring, column, edges = graph.n_nodes, graph.adjacency, graph.label_column, graph.edge_label_column
        self.graph, self.n_nodes = graph, n
        self.labels, self.new_labels = _numbered(column, labels)
        self.node_ids = np.full(n + NEW_NODES, -1)
        self.node_ids[:n] = column.ids if isinstance(column, LabelColumn) else -1
        self.edge_labels, bonds = _numbered(edges, edge_labels)
        self.edge_ids = np.full(wiring.nnz, -1) if edges is None else edges.ids.astype(np.int64)
        self.told_apart = told_apart and edges is not None
        self.new_bonds = bonds if self.told_apart else bonds[:1]
        self.kinds = frozenset(KINDS.index(kind) for kind in kinds)
        self.free = np.ones(n, dtype=bool) if nodes is None else np.isin(range(n), nodes)
        self.degrees = np.append(np.diff(wiring.indptr), [0] * NEW_NODES)
        self.ends = np.stack(wiring.tocoo().coords).astype(np.int64)
        self.keys = self.ends[0] * (n + NEW_NODES) + self.ends[1]  # ascending, as entries are sorted

    def _entry(self, a: Rows, b: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the stored entry of each pair of nodes, and whether there is one."""
        keys = a * (self.n_nodes + NEW_NODES) + b
        at = np.searchsorted(self.keys, keys)
        return at, np.append(self.keys, -1)[at] == keys

    # rows

    def single_edits(self) -> Rows:
        """Return all allowed and possible single edits, one row each."""
        free, (a, b), rows = np.flatnonzero(self.free), self.ends, [np.empty((0, 5), dtype=np.int64)]
        self._check_number(len(free))
        if RELABEL in self.kinds:
            relabeled = _product(RELABEL, free, [0], self.new_labels, [0])
            rows.append(relabeled[self.node_ids[relabeled[:, 1]] != relabeled[:, 3]])
        if ADD_EDGE in self.kinds:
            c, d = (free[ends] for ends in np.triu_indices(len(free), 1))
            apart, bonds = ~self._entry(c, d)[1], self.new_bonds
            c, d = (np.repeat(ends[apart], len(bonds)) for ends in (c, d))
            rows.append(_stacked(ADD_EDGE, c, d, 0, np.tile(bonds, apart.sum())))
        if REMOVE_EDGE in self.kinds:
            kept = (a < b) & self.free[a] & self.free[b]
            if self.graph.is_temporal:  # a vertex stays joined to itself at other times
                kept &= ~edges_of(self.graph, SAME_VERTEX)
            rows.append(_stacked(REMOVE_EDGE, a[kept], b[kept], 0, 0))
        if ADD_LEAF in self.kinds:
            rows.append(_product(ADD_LEAF, free, [self.n_nodes], self.new_labels, self.new_bonds))
        if REMOVE_LEAF in self.kinds:
            leaf = (self.degrees[a] == 1) & (a != b) & self.free[a]
            rows.append(_stacked(REMOVE_LEAF, a[leaf], b[leaf], 0, 0))
        return np.concatenate(rows)

    def _check_number(self, n_free: int) -> None:
        """Refuse graphs with too many single edits."""
        labeled, n_bonds = n_free * len(self.new_labels), len(self.new_bonds)
        number = labeled * (RELABEL in self.kinds) + labeled * n_bonds * (ADD_LEAF in self.kinds)
        number += n_free * (n_free - 1) // 2 * n_bonds * (ADD_EDGE in self.kinds)
        if number > MOST_EDITS:
            raise ValueError(
                f"about {number:,} single edits of this graph are possible, more than {MOST_EDITS:,}: "
                "restrict them by allowed={'kinds': ..., 'labels': ..., 'nodes': ...}"
            )

    def edits_after(self, first: Rows) -> Rows:
        """Return edits that a first one makes possible: a leaf on a new leaf, removal of a new end, ..."""
        kind, a, b = first[:3].tolist()
        rows = [np.empty((0, 5), dtype=np.int64)]
        if kind == ADD_LEAF:
            new, others = [self.n_nodes], np.setdiff1d(np.flatnonzero(self.free), [a])
            if ADD_LEAF in self.kinds:
                rows.append(_product(ADD_LEAF, new, [self.n_nodes + 1], self.new_labels, self.new_bonds))
            if ADD_EDGE in self.kinds:
                rows.append(_product(ADD_EDGE, others, new, [0], self.new_bonds))
        if kind in (REMOVE_EDGE, REMOVE_LEAF) and REMOVE_LEAF in self.kinds:
            for end, other in ((a, b), (b, a)) if kind == REMOVE_EDGE else ((b, a),):
                left = np.setdiff1d(self.ends[1][self.ends[0] == end], [other, end])
                if len(left) == 1 and self.free[end] and self.degrees[end] == 2:
                    rows.append(_stacked(REMOVE_LEAF, end, left, 0, 0))
        if kind == REMOVE_EDGE and ADD_EDGE in self.kinds:  # the same edge with another label
            again = _product(ADD_EDGE, [a], [b], [0], self.new_bonds)
            rows.append(again[again[:, 4] != self.edge_ids[self._entry(*first[1:3])[0]]])
        return np.concatenate(rows)

    def is_redundant(self, first: Rows, seconds: Rows) -> NDArray[np.bool_]:
        """Mask of pairs, in either order, that equal a single edit or no edit."""
        kind, a = first[0], first[1]
        same = seconds[:, 1] == a
        if kind == RELABEL:
            return same & np.isin(seconds[:, 0], (RELABEL, REMOVE_LEAF))
        if kind == REMOVE_LEAF:  # removing a leaf and adding one at the same node equals relabeling the leaf
            replaced = (seconds[:, 0] == ADD_LEAF) & (seconds[:, 1] == first[2]) & (RELABEL in self.kinds)
            return (same & (seconds[:, 0] == RELABEL)) | replaced
        if kind == ADD_LEAF and RELABEL in self.kinds:
            return (seconds[:, 0] == REMOVE_LEAF) & (seconds[:, 2] == a)
        return np.zeros(len(seconds), dtype=bool)

    def is_possible(self, pairs: Rows) -> NDArray[np.bool_]:
        """Mask of pairs of edits, (m, 2, 5), whose second edit is possible after the first."""
        (kind, then), (a, c), (b, d), (label, relabeled), _ = pairs.transpose(2, 1, 0)
        change = np.array([0, 1, -1, 1, -1])[kind]  # of the number of edges, by kind
        touched = (change != 0) & ((c == a) | (c == b))
        gone = np.where(kind == REMOVE_LEAF, a, -1)
        was = np.where((kind == RELABEL) & (c == a), label, self.node_ids[c])
        joined = np.where(touched & ((d == a) | (d == b)), change > 0, self._entry(c, d)[1])
        is_leaf = joined & (self.degrees[c] + change * touched == 1)
        possible = np.select(
            [then == RELABEL, then == ADD_EDGE, then == REMOVE_EDGE, then == REMOVE_LEAF],
            [was != relabeled, ~joined & (d != gone), joined, is_leaf],
            default=True,
        )
        return np.asarray((possible & (c != gone)) | (then == NOTHING), dtype=bool)

    # graphs

    def edited(self, pairs: Rows, connected: bool = False) -> tuple[Rows, GraphDatabase]:
        """Return the places of the possible pairs of edits, (m, 2, 5), and the graphs after them.

        With ``connected``, edits that disconnect the ends of a removed edge are impossible. An edited graph
        has the old nodes in their order, then the new ones.
        """
        places = np.flatnonzero(self.is_possible(pairs))
        copies = _Copies(self, pairs[places])
        whole = copies.stay_connected() if connected else np.ones(len(places), dtype=bool)
        if not whole.all():
            places = places[whole]
            copies = _Copies(self, pairs[places])
        return places, copies.database()


class _Copies:
    """Edited copies of a graph, in flat arrays: node i of copy g has the place g * (n + NEW_NODES) + i.

    Parameters
    ----------
    editor : Editor
    pairs : ndarray of int64, (copies, 2, 5)
        Possible edits.
    """

    def __init__(self, editor: Editor, pairs: Rows) -> None:
        n, self.width = editor.n_nodes, editor.n_nodes + NEW_NODES
        self.editor, self.pairs, self.kind = editor, pairs, pairs[:, :, 0]
        is_leaf, is_gone = self.kind == ADD_LEAF, self.kind == REMOVE_LEAF
        start = np.arange(len(pairs))[:, None] * self.width
        self.a = start + pairs[:, :, 1]
        self.b = start + np.where(is_leaf, n - 1 + np.cumsum(is_leaf, axis=1), pairs[:, :, 2])
        self.alive = np.tile(np.arange(self.width) < n, len(pairs))
        self.alive[self.b[is_leaf]], self.alive[self.a[is_gone]] = True, False
        both = [one * self.width + other % self.width for one, other in ((self.a, self.b), (self.b, self.a))]
        is_cut, is_new = is_gone | (self.kind == REMOVE_EDGE), is_leaf | (self.kind == ADD_EDGE)
        keys = (editor.keys + start * self.width).ravel()
        kept = np.ones(len(keys), dtype=bool)
        kept[np.searchsorted(keys, [key[is_cut] for key in both])] = False
        keys = np.concatenate([keys[kept], *(key[is_new] for key in both)])
        order = np.argsort(keys, kind="stable")
        self.rows, columns = np.divmod(keys[order], self.width)
        self.columns = self.rows - self.rows % self.width + columns
        left, new_bonds = np.flatnonzero(kept) % len(editor.keys), pairs[:, :, 4][is_new]
        self.bonds = np.concatenate([editor.edge_ids[left], new_bonds, new_bonds])[order]
        new = np.full(2 * len(new_bonds), len(editor.keys))
        self.entries = np.concatenate([left, new])[order]  # in the graph; new ones come after the last

    def stay_connected(self) -> NDArray[np.bool_]:
        """Mask of copies in which a path joins the ends of each removed edge."""
        ends, size = (self.rows, self.columns), len(self.alive)
        part = connected_components(coo_array((np.ones(len(self.rows)), ends), shape=(size, size)))[1]
        is_apart = (self.kind == REMOVE_EDGE) & (part[self.a] != part[self.b])
        return ~(is_apart & self.alive[self.a] & self.alive[self.b]).any(axis=1)

    def database(self) -> GraphDatabase:
        """Return all copies; attributes of new nodes and edges are missing."""
        editor, graph, size = self.editor, self.editor.graph, int(self.alive.sum())
        number, node = np.cumsum(self.alive) - 1, np.flatnonzero(self.alive) % self.width
        index = graph.adjacency.indices.dtype
        indptr = np.append(0, np.cumsum(np.bincount(number[self.rows], minlength=size)))
        arrays = (
            np.append(graph.adjacency.data, 1.0)[self.entries],
            number[self.columns].astype(index),
            indptr.astype(index),
        )
        database = GraphDatabase._assemble(
            csr_array(arrays, shape=(size, size)),
            np.append(0, np.cumsum(self.alive.reshape(-1, self.width).sum(axis=1))),
            self._labels(node),
            _with_missing(graph.node_attributes, node),
            None if graph.edge_label_column is None else _column(self.bonds, editor.edge_labels),
            _with_missing(graph.edge_attributes, self.entries),
            None if graph.ids is None else np.repeat(graph.ids, len(self.pairs)),
            graph.edge_attribute_names,
            None if graph.moments is None else graph.moments.take(node),  # nodes of graphs in time stay
        )
        return database.with_names(graph.names.labels, graph.names.edge_labels)

    def _labels(self, node: Rows) -> LabelColumn | LabelDistributions | None:
        """Return the labels of all living nodes."""
        column = self.editor.graph.label_column
        if not isinstance(column, LabelColumn):  # distributions: relabeling is impossible
            return None if column is None else column.take(node)
        ids, is_leaf = np.tile(self.editor.node_ids, len(self.pairs)), self.kind == ADD_LEAF
        changed = is_leaf | (self.kind == RELABEL)
        ids[np.where(is_leaf, self.b, self.a)[changed]] = self.pairs[:, :, 3][changed]
        return _column(ids[self.alive], self.editor.labels)


def _numbered(
    column: LabelColumn | LabelDistributions | None, further: Sequence[Any]
) -> tuple[tuple[Hashable, ...], Rows]:
    """Return all labels, those of the graph first and None last, and the numbers of further ones."""
    if not isinstance(column, LabelColumn):
        return (None,), np.array([-1])
    position = {value: i for i, value in enumerate(column.values)}
    values = [canonical_label(value) for value in further]
    numbers = [-1 if value is None else position.setdefault(value, len(position)) for value in values]
    return (*position, None), np.array(numbers, dtype=np.int64)


def _column(ids: Rows, values: tuple[Hashable, ...]) -> LabelColumn:
    return LabelColumn(ids.astype(np.int32), values[:-1])


def _with_missing(attributes: NDArray[np.float64] | None, taken: Rows) -> NDArray[np.float64] | None:
    """Return rows of attributes; missing values for numbers beyond the last row."""
    if attributes is None:
        return None
    n, width = attributes.shape
    return np.concatenate([attributes, np.full((1, width), np.nan)])[np.minimum(taken, n)]


def _product(kind: int, a: ArrayLike, b: ArrayLike, labels: ArrayLike, bonds: ArrayLike) -> Rows:
    """Return rows for all combinations of arguments."""
    return _stacked(kind, *(grid.ravel() for grid in np.meshgrid(a, b, labels, bonds, indexing="ij")))


def _stacked(kind: int, a: ArrayLike, b: ArrayLike, label: ArrayLike, bond: ArrayLike) -> Rows:
    columns = np.broadcast_arrays(kind, a, b, label, bond)
    return np.stack(columns, axis=-1).astype(np.int64).reshape(-1, 5)


def in_pairs(first: Rows | None, rows: Rows) -> Rows:
    """Return rows as (m, 2, 5): single edits, or second edits after a first one."""
    nothing = np.array([NOTHING, 0, 0, 0, 0])
    both = (rows, nothing) if first is None else (first, rows)
    return np.stack(np.broadcast_arrays(*both, rows)[:2], axis=1)


def molecule_of(graph: GraphDatabase, molecule: Any) -> tuple[Any, Recipe | None]:
    """Return the molecule of a graph, atom by atom, and the recipe of its labels if they are not symbols.

    Labels that are not symbols (invariants of atoms, ...) depend on the whole molecule, so an edit changes
    several.

    Parameters
    ----------
    graph : GraphDatabase
        One graph.
    molecule : rdkit.Chem.Mol, str or None
        The molecule, or its SMILES; None: the one that the graph was made from, or one that is built from
        node labels such as "C", "N", ... and edge labels such as "single", ..., if the graph has them.

    Returns
    -------
    rdkit.Chem.Mol or None, str or tuple of str or None
    """
    column, is_given = graph.label_column, molecule is not None
    if not is_given:
        is_tuple = isinstance(column, LabelColumn) and isinstance(column.values[0], tuple)
        molecule = known_molecule(graph) if is_tuple else None
        if molecule is None:
            return rebuilt_molecule(graph), None
    chem = _chem()
    mol = parse_smiles(chem, molecule) if isinstance(molecule, str) else molecule
    if mol is None or not is_mol(mol):
        raise ValueError(f"molecule must be an RDKit molecule or SMILES, got {shown(molecule)}")
    with asking_rdkit("the molecule"):
        candidates = (mol, chem.AddHs(mol))
    if isinstance(column, LabelColumn) and (isinstance(column.values[0], tuple) or not _fits(graph, mol)):
        for candidate, recipe in product(candidates, (VIEWS, *RECIPES)):
            own = from_rdkit([candidate], node_labels=recipe)
            if own.label_column == column and _same_edges(own, graph):
                return candidate, recipe
    for candidate in candidates:
        if _fits(graph, candidate):
            return candidate, None
    if not is_given:
        return None, None
    raise ValueError(
        "the molecule does not match the graph: atoms, their symbols as node labels (node_labels='symbol'), "
        "and bonds must be the same, in the same order"
    )


def _chem() -> Any:
    return import_optional("rdkit.Chem", extra="chem", purpose="molecules need")


def _fits(graph: GraphDatabase, mol: Any) -> bool:
    """Whether a molecule's atoms and bonds match the graph's nodes and edges."""
    own = from_rdkit([mol], node_labels="symbol")
    return _same_edges(own, graph) and symbols_of(own) == symbols_of(graph)


def _same_edges(own: GraphDatabase, graph: GraphDatabase) -> bool:
    return own.adjacency.shape == graph.adjacency.shape and not (own.adjacency != graph.adjacency).nnz


def _edge_names(graph: GraphDatabase) -> list[str]:
    column = graph.edge_label_column
    if column is None:
        return []
    return [graph.names.edge_label(column.values[i]) if i >= 0 else "" for i in column.ids.tolist()]


class Chemist:
    """Edits a molecule, and checks with RDKit that the result is valid.

    Parameters
    ----------
    mol : rdkit.Chem.Mol
        Its atoms correspond to the nodes of the editor's graph.
    editor : Editor
        If the model uses bond types, edits that change other bonds too (a ring that loses its aromaticity)
        differ from the edits of the graph and are invalid.
    recipe : str, tuple of str, or None
        Labels of atoms that are computed from the whole molecule; None: the editor's graph has all labels.
    """

    def __init__(self, mol: Any, editor: Editor, recipe: Recipe | None) -> None:
        self.chem, self.editor, self.recipe = _chem(), editor, recipe
        self.told_apart = editor.told_apart and recipe is None
        self.kekulized = self.chem.RWMol(mol)
        with asking_rdkit("the molecule"):
            self.chem.Kekulize(self.kekulized, clearAromaticFlags=True)
        table = self.chem.GetPeriodicTable()
        self.numbers: dict[int, int] = {}
        for number in editor.new_labels.tolist():
            symbol = editor.graph.names.label(editor.labels[number])
            try:
                self.numbers[number] = table.GetAtomicNumber(str(symbol))
            except RuntimeError:
                raise ValueError(f"{shown(symbol)} is not the symbol of an element") from None

    def edited(self, pairs: Rows, connected: bool) -> tuple[Rows, GraphDatabase]:
        """Return the places of pairs of edits, (m, 2, 5), that give valid molecules, and their graphs.

        With ``connected``, edits that split the molecule are invalid. Labels are computed by the recipe.
        """
        mols = [self.molecule(pair[pair[:, 0] != NOTHING]) for pair in pairs]
        most = len(self.chem.GetMolFrags(self.kekulized)) if connected else np.inf
        valid = [mol is not None and len(self.chem.GetMolFrags(mol)) <= most for mol in mols]
        places = np.flatnonzero(valid)
        return places, from_rdkit([mols[i] for i in places], node_labels=self.recipe or "symbol")

    def smiles(self, rows: Rows) -> str | None:
        """Return the edited molecule as SMILES; None if it is invalid."""
        mol = self.molecule(rows)
        if mol is None or (self.told_apart and not self._same_bonds(mol, rows)):
            return None
        return str(self.chem.MolToSmiles(mol))

    def molecule(self, rows: Rows) -> Any:
        """Return the edited molecule; None if its valences are invalid."""
        from rdkit import rdBase

        with rdBase.BlockLogs():
            mol = self._edited(rows)
            if mol is None:
                return None
            is_valid = self.chem.SanitizeMol(mol, catchErrors=True) == self.chem.SanitizeFlags.SANITIZE_NONE
            return mol if is_valid else None

    def _edited(self, rows: Rows) -> Any:
        mol, gone = self.chem.RWMol(self.kekulized), []
        if any(kind == ADD_EDGE and self._strains(a, b) for kind, a, b, _, _ in rows.tolist()):
            return None
        for kind, a, b, label, bond in rows.tolist():
            if kind == RELABEL:
                self._relax(mol, a)
                atom = mol.GetAtomWithIdx(a)
                atom.SetAtomicNum(self.numbers[label])
                atom.SetFormalCharge(0)
                continue
            if kind == ADD_LEAF:
                b = mol.AddAtom(self.chem.Atom(self.numbers[label]))
            if kind in (ADD_LEAF, ADD_EDGE):
                mol.AddBond(a, b, self._bond_type(bond))
            elif mol.GetBondBetweenAtoms(a, b) is None:
                return None
            else:
                mol.RemoveBond(a, b)
            gone += [a] if kind == REMOVE_LEAF else []
            for end in (a, b):
                self._relax(mol, end)
        for atom in sorted(gone, reverse=True):
            mol.RemoveAtom(atom)
        return mol

    def _strains(self, a: int, b: int) -> bool:
        """Whether a new bond closes a ring of fewer than five atoms, or one that goes across a ring."""
        if max(a, b) >= self.kekulized.GetNumAtoms():
            return True
        path = set(self.chem.GetShortestPath(self.kekulized, a, b))
        across = any(len(path.intersection(ring)) > 2 for ring in self.kekulized.GetRingInfo().AtomRings())
        return 0 < len(path) < SMALLEST_RING or across

    def _relax(self, mol: Any, number: int) -> None:
        """Let RDKit choose the number of hydrogens of an atom."""
        atom = mol.GetAtomWithIdx(number)
        atom.SetNumExplicitHs(0)
        atom.SetNoImplicit(False)
        atom.SetNumRadicalElectrons(0)
        atom.SetChiralTag(self.chem.ChiralType.CHI_UNSPECIFIED)

    def _bond_type(self, bond: int) -> Any:
        label = self.editor.graph.names.edge_label(self.editor.edge_labels[bond])
        return getattr(self.chem.BondType, label.upper() if label in BONDS else "SINGLE")

    def _same_bonds(self, mol: Any, rows: Rows) -> bool:
        pair = in_pairs(rows[0], rows[1:]) if len(rows) == 2 else in_pairs(None, rows)
        (_, graph), own = self.editor.edited(pair), from_rdkit([mol], node_labels="symbol")
        return (
            len(graph) == 1
            and bool(np.array_equal(graph.adjacency.indices, own.adjacency.indices))
            and _edge_names(own) == _edge_names(graph)
        )

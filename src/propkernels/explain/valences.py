"""Edits of molecules: RDKit decides which results are valid molecules."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import asking_rdkit, parse_smiles
from propkernels.convert.atoms import RECIPES, VIEWS, Recipe
from propkernels.convert.graph_molecules import BONDS, known_molecule, rebuilt_molecule, symbols_of
from propkernels.convert.rdkit import from_rdkit, is_mol
from propkernels.explain.edits import (
    ADD_EDGE,
    ADD_LEAF,
    NOTHING,
    RELABEL,
    REMOVE_LEAF,
    Editor,
    Rows,
    in_pairs,
)
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

SMALLEST_RING = 5  # atoms of a ring that an edit may close


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

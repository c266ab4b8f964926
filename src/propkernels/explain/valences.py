"""Edits of molecules: RDKit decides which results are valid molecules."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import asking_rdkit, parse_smiles
from propkernels.convert.atoms import RECIPES, VIEWS, Recipe
from propkernels.convert.graph_molecules import BONDS, rebuilt_molecule, symbols_of
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


def molecule_of(graph: GraphDatabase, molecule: Any) -> Any:
    """Return the molecule of a graph, atom by atom: the given one, or one built from labels.

    Parameters
    ----------
    graph : GraphDatabase
        One graph.
    molecule : rdkit.Chem.Mol, str or None
        The molecule, or its SMILES; None: it is built from node labels such as "C", "N", ... and edge labels
        such as "single", "double", ..., if the graph has such labels.

    Returns
    -------
    rdkit.Chem.Mol or None
    """
    if molecule is None:
        return rebuilt_molecule(graph)
    chem = _chem()
    mol = parse_smiles(chem, molecule) if isinstance(molecule, str) else molecule
    if mol is None or not is_mol(mol):
        raise ValueError(f"molecule must be an RDKit molecule or SMILES, got {shown(molecule)}")
    with asking_rdkit("the molecule"):
        candidates = (mol, chem.AddHs(mol))
    for candidate in candidates:
        if _fits(graph, candidate):
            return candidate
    raise ValueError(
        "the molecule does not match the graph: atoms, their symbols as node labels (node_labels='symbol'), "
        "and bonds must be the same, in the same order"
    )


def drawn_labels(graph: GraphDatabase, molecule: Any) -> tuple[Any, Recipe] | None:
    """Return the molecule of a graph and the recipe of its labels, if they are more than symbols; else None.

    Such labels (invariants of atoms, ...) depend on the whole molecule, so an edit changes several.
    """
    column = graph.label_column
    if molecule is None or not isinstance(column, LabelColumn):
        return None
    chem = _chem()
    mol = parse_smiles(chem, molecule) if isinstance(molecule, str) else molecule
    if mol is None or not is_mol(mol) or (_fits(graph, mol) and not isinstance(column.values[0], tuple)):
        return None
    with asking_rdkit("the molecule"):
        candidates = (mol, chem.AddHs(mol))
    for candidate in candidates:
        for recipe in (VIEWS, *RECIPES):
            own = from_rdkit([candidate], node_labels=recipe)
            if own.adjacency.shape == graph.adjacency.shape and own.label_column == column:
                return None if (own.adjacency != graph.adjacency).nnz else (candidate, recipe)
    return None


def _chem() -> Any:
    return import_optional("rdkit.Chem", extra="chem", purpose="molecules need")


def _fits(graph: GraphDatabase, mol: Any) -> bool:
    """Whether a molecule's atoms and bonds match the graph's nodes and edges."""
    own = from_rdkit([mol])
    return (
        own.adjacency.shape == graph.adjacency.shape
        and not (own.adjacency != graph.adjacency).nnz
        and symbols_of(own) == symbols_of(graph)
    )


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
    told_apart : bool
        Whether the model uses bond types. If so, edits that change other bonds too (a ring that loses its
        aromaticity) differ from the edits of the graph and are invalid.
    """

    def __init__(self, mol: Any, editor: Editor, told_apart: bool) -> None:
        self.chem, self.editor, self.told_apart = _chem(), editor, told_apart
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
        (_, graph), own = self.editor.edited(pair), from_rdkit([mol])
        return (
            len(graph) == 1
            and bool(np.array_equal(graph.adjacency.indices, own.adjacency.indices))
            and _edge_names(own) == _edge_names(graph)
        )


class Redrawn:
    """Edited molecules as graphs whose labels are computed from the whole molecule.

    Parameters
    ----------
    chemist : Chemist
    recipe : str or tuple of str
        Labels of atoms.
    connected : bool
        Whether edits that split the molecule are invalid.
    """

    def __init__(self, chemist: Chemist, recipe: Recipe, connected: bool) -> None:
        self.chemist, self.recipe = chemist, recipe
        whole = len(chemist.chem.GetMolFrags(chemist.kekulized))
        self.most_parts = whole if connected else None

    def edited(self, pairs: Rows) -> tuple[Rows, GraphDatabase]:
        """Return the places of pairs of edits, (m, 2, 5), that give valid molecules, and their graphs."""
        mols = [self._molecule(pair[pair[:, 0] != NOTHING]) for pair in pairs]
        places = np.array([i for i, mol in enumerate(mols) if mol is not None], dtype=np.int64)
        return places, from_rdkit([mols[i] for i in places], node_labels=self.recipe)

    def _molecule(self, rows: Rows) -> Any:
        """Return the edited molecule; None if it is invalid."""
        mol = self.chemist.molecule(rows)
        if mol is None or self.most_parts is None:
            return mol
        return mol if len(self.chemist.chem.GetMolFrags(mol)) <= self.most_parts else None

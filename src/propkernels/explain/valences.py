"""Edits of molecules: RDKit decides which results are valid molecules."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import asking_rdkit, parse_smiles
from propkernels.convert.rdkit import from_rdkit, is_mol
from propkernels.explain.edits import (
    ADD_EDGE,
    ADD_LEAF,
    RELABEL,
    REMOVE_LEAF,
    Editor,
    Rows,
)
from propkernels.graphs.database import GraphDatabase

BONDS = ("single", "double", "triple")  # labels of new edges
OTHER_BONDS = ("aromatic",)


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
        return _rebuilt(graph)
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


def _chem() -> Any:
    return import_optional("rdkit.Chem", extra="chem", purpose="molecules need")


def _fits(graph: GraphDatabase, mol: Any) -> bool:
    """Whether a molecule's atoms and bonds match the graph's nodes and edges."""
    own = from_rdkit([mol])
    return (
        own.adjacency.shape == graph.adjacency.shape
        and not (own.adjacency != graph.adjacency).nnz
        and own.label_column == graph.label_column
    )


def _rebuilt(graph: GraphDatabase) -> Any:
    """Return the molecule of a graph with labels from ``from_rdkit``; None for other labels."""
    bonds, labels = graph.edge_label_column, graph.node_labels
    if bonds is None or labels is None or not set(bonds.present) <= {*BONDS, *OTHER_BONDS}:
        return None
    if not all(isinstance(label, str) for label in labels) or not bonds.present:
        return None
    try:
        chem = _chem()
    except ImportError:
        return None
    from rdkit import rdBase

    with rdBase.BlockLogs():
        mol = _drawn(chem, graph, labels)
        if mol is None or chem.SanitizeMol(mol, catchErrors=True) != chem.SanitizeFlags.SANITIZE_NONE:
            return None
    return mol.GetMol() if _fits(graph, mol) else None


def _drawn(chem: Any, graph: GraphDatabase, labels: Any) -> Any:
    """Return a molecule with atoms and bonds from labels; charges of nitro groups are restored."""
    mol, table = chem.RWMol(), chem.GetPeriodicTable()
    for label in labels:
        try:
            mol.AddAtom(chem.Atom(table.GetAtomicNumber(label)))
        except RuntimeError:
            return None
    matrix, column = graph.adjacency.tocoo(), graph.edge_label_column
    assert column is not None
    for i, j, kind in zip(*matrix.coords, column.ids, strict=True):
        if i < j:
            mol.AddBond(int(i), int(j), getattr(chem.BondType, str(column.values[kind]).upper()))
    for atom in mol.GetAtoms():
        if atom.GetAtomicNum() == 7 and sum(b.GetBondTypeAsDouble() for b in atom.GetBonds()) == 4:
            ends = [a for a in atom.GetNeighbors() if a.GetAtomicNum() == 8 and a.GetDegree() == 1]
            single = [a for a in ends if a.GetBonds()[0].GetBondType() == chem.BondType.SINGLE]
            if single:
                atom.SetFormalCharge(1)
                single[0].SetFormalCharge(-1)
    return mol


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
        for number in editor.alphabet.new_labels.tolist():
            symbol = editor.alphabet.node_values[number]
            try:
                self.numbers[number] = table.GetAtomicNumber(str(symbol))
            except RuntimeError:
                raise ValueError(f"{shown(symbol)} is not the symbol of an element") from None

    def smiles(self, rows: Rows) -> str | None:
        """Return the edited molecule as SMILES; None if it is invalid."""
        from rdkit import rdBase

        with rdBase.BlockLogs():
            mol = self._edited(rows)
            if mol is None:
                return None
            if self.chem.SanitizeMol(mol, catchErrors=True) != self.chem.SanitizeFlags.SANITIZE_NONE:
                return None
            if self.told_apart and not self._same_bonds(mol, rows):
                return None
            return str(self.chem.MolToSmiles(mol))

    def _edited(self, rows: Rows) -> Any:
        mol, gone = self.chem.RWMol(self.kekulized), []
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

    def _relax(self, mol: Any, number: int) -> None:
        """Let RDKit choose the number of hydrogens of an atom."""
        atom = mol.GetAtomWithIdx(number)
        atom.SetNumExplicitHs(0)
        atom.SetNoImplicit(False)
        atom.SetNumRadicalElectrons(0)
        atom.SetChiralTag(self.chem.ChiralType.CHI_UNSPECIFIED)

    def _bond_type(self, bond: int) -> Any:
        label = self.editor.alphabet.edge_values[bond]
        return getattr(self.chem.BondType, str(label).upper() if label in BONDS else "SINGLE")

    def _same_bonds(self, mol: Any, rows: Rows) -> bool:
        graph, own = self.editor.edited(rows), from_rdkit([mol])
        return (
            graph is not None
            and bool(np.array_equal(graph.adjacency.indices, own.adjacency.indices))
            and own.edge_label_column == graph.edge_label_column
        )

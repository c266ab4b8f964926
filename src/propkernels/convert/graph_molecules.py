"""Molecules of graphs: those that the graphs were made from, or built from the names of labels."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import load_rdkit, matched_molecule, parse_smiles
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

BONDS = ("single", "double", "triple")  # labels of new edges
KNOWN_BONDS = {*BONDS, "aromatic"}
LONGEST_SYMBOL = 2
BOND_LENGTH = 1.5  # of drawings by RDKit
MOST_BONDS = 3.0  # per atom on average; denser graphs of elements are no molecules, but crystals
MOST_PYRROLES, MOST_TRIED = 3, 60  # nitrogens that get a hydrogen, and choices of them


def symbols_of(graph: GraphDatabase) -> list[str] | None:
    """Return the name of the label of each node; None if labels are missing or not short words."""
    column = graph.label_column
    if not isinstance(column, LabelColumn) or not column.observed.all():
        return None
    names = [graph.names.label(value) for value in column.values]
    if not all(0 < len(name) <= LONGEST_SYMBOL and name[0].isupper() for name in names):
        return None
    return [names[i] for i in column.ids.tolist()]


def known_molecule(graph: GraphDatabase) -> Any:
    """Return the molecule of one graph, with one atom per node; None if there is none, or no RDKit.

    It is the molecule that the graph was made from or, if that is not stored, one built from the names of
    node and edge labels.
    """
    if graph.sources is None:
        return rebuilt_molecule(graph)
    source, chem = graph.sources[0], _rdkit_if_there()
    if chem is None:
        return None
    with load_rdkit("rdkit.rdBase").BlockLogs():
        mol = parse_smiles(chem, source) if isinstance(source, str) else source
        return matched_molecule(mol, graph.n_nodes)


def _rdkit_if_there() -> Any:
    with suppress(ImportError):
        return load_rdkit()
    return None


def atom_positions(graph: GraphDatabase) -> NDArray[np.float64] | None:
    """Return where RDKit draws the atoms of one graph, (nodes, 2); None if it is no molecule."""
    mol = known_molecule(graph)
    if mol is None:
        return None
    return np.asarray(laid_out(mol).GetConformer().GetPositions()[:, :2])


def laid_out(molecule: Any) -> Any:
    """Return a copy of a molecule with the positions of a drawing, bridged rings as chemists draw them."""
    copy = load_rdkit().Mol(molecule)
    depictor = import_optional("rdkit.Chem.rdDepictor", extra="chem", purpose="drawings of molecules need")
    depictor.Compute2DCoords(copy, canonOrient=True, useRingTemplates=True)
    return copy


def placed_molecule(molecule: Any, positions: NDArray[np.float64]) -> Any:
    """Return a copy of a molecule that is drawn at the given positions; edges are about 1 long."""
    chem = load_rdkit()
    copy, conformer = chem.Mol(molecule), chem.Conformer(molecule.GetNumAtoms())
    for i, (x, y) in enumerate((BOND_LENGTH * np.asarray(positions)).tolist()):
        conformer.SetAtomPosition(i, (x, y, 0.0))
    copy.RemoveAllConformers()
    copy.AddConformer(conformer)
    return copy


def rebuilt_molecule(graph: GraphDatabase) -> Any:
    """Return the molecule of a graph whose labels are called "C", "N", ... and "single", "double", ...

    Returns
    -------
    rdkit.Chem.Mol or None
        None for other labels, and for labels that do not make a valid molecule.
    """
    column, symbols = graph.edge_label_column, symbols_of(graph)
    if column is None or symbols is None or graph.is_directed:
        return None
    bonds = {graph.names.edge_label(value) for value in column.values}
    are_known = column.present and column.observed.all() and bonds <= KNOWN_BONDS
    chem = _rdkit_if_there() if are_known else None
    if chem is None:
        return None
    with load_rdkit("rdkit.rdBase").BlockLogs():
        mol = _assembled(chem, graph, symbols, _bond_names(graph))
        return None if mol is None else _valid(chem, mol)


def sketched_molecule(graph: GraphDatabase) -> Any:
    """Return a molecule to draw, for labels that are named as elements but make no valid molecule.

    Bonds without a name are single, and no hydrogens are added: valences are not known, or broken.

    Returns
    -------
    rdkit.Chem.Mol or None
        None for other labels, for graphs with neither names of labels nor labels of edges, and for crystals.
    """
    symbols, has_names = symbols_of(graph), graph.names.labels or graph.edge_label_column is not None
    if symbols is None or not has_names or graph.is_directed:
        return None
    if "C" not in symbols or graph.adjacency.nnz > MOST_BONDS * graph.n_nodes:
        return None
    chem = _rdkit_if_there()
    mol = None if chem is None else _assembled(chem, graph, symbols, _bond_names(graph))
    if mol is None:
        return None
    for atom in mol.GetAtoms():
        atom.SetNoImplicit(True)
    mol.UpdatePropertyCache(strict=False)
    chem.FastFindRings(mol)
    return mol.GetMol()


def _bond_names(graph: GraphDatabase) -> list[str]:
    """Return the name of each stored edge, "single" where it has none that chemists use."""
    column = graph.edge_label_column
    if column is None:
        return ["single"] * graph.adjacency.nnz
    names = [graph.names.edge_label(value) for value in column.values]
    return [names[i] if i >= 0 and names[i] in KNOWN_BONDS else "single" for i in column.ids.tolist()]


def _valid(chem: Any, mol: Any) -> Any:
    """Return the molecule, with as few hydrogens on aromatic nitrogens as make it valid; None: it is not."""
    pyrroles = [a.GetIdx() for a in mol.GetAtoms() if a.GetIsAromatic() and a.GetSymbol() == "N"]
    pyrroles = [i for i in pyrroles if mol.GetAtomWithIdx(i).GetDegree() == 2]
    choices = chain.from_iterable(combinations(pyrroles, n) for n in range(MOST_PYRROLES + 1))
    for chosen in islice(choices, MOST_TRIED):
        tried = chem.RWMol(mol)
        for i in chosen:
            tried.GetAtomWithIdx(i).SetNumExplicitHs(1)
        if chem.SanitizeMol(tried, catchErrors=True) == chem.SanitizeFlags.SANITIZE_NONE:
            return tried.GetMol()
    return None


def _assembled(chem: Any, graph: GraphDatabase, symbols: list[str], bonds: list[str]) -> Any:
    """Return atoms and bonds; charges of nitro groups are restored."""
    mol, table = chem.RWMol(), chem.GetPeriodicTable()
    for symbol in symbols:
        try:
            mol.AddAtom(chem.Atom(table.GetAtomicNumber(symbol)))
        except RuntimeError:
            return None
    for i, j, bond in zip(*graph.adjacency.tocoo().coords, bonds, strict=True):
        if i < j and mol.GetBondBetweenAtoms(int(i), int(j)) is None:
            mol.AddBond(int(i), int(j), getattr(chem.BondType, bond.upper()))
            if bond == "aromatic":
                mol.GetBondBetweenAtoms(int(i), int(j)).SetIsAromatic(True)
                for end in (i, j):
                    mol.GetAtomWithIdx(int(end)).SetIsAromatic(True)
    for atom in mol.GetAtoms():
        if atom.GetAtomicNum() == 7 and sum(b.GetBondTypeAsDouble() for b in atom.GetBonds()) == 4:
            ends = [a for a in atom.GetNeighbors() if a.GetAtomicNum() == 8 and a.GetDegree() == 1]
            single = [a for a in ends if a.GetBonds()[0].GetBondType() == chem.BondType.SINGLE]
            if single:
                atom.SetFormalCharge(1)
                single[0].SetFormalCharge(-1)
    return mol

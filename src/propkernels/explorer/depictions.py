"""Skeletal formulas for the page: RDKit's positions, hydrogens, charges and wedges of molecules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels._utils.progress import ProgressBar
from propkernels.convert.graph_molecules import known_molecule, laid_out, matched_molecule
from propkernels.explorer.places import quantized_places
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.layout import node_positions

Arrays = dict[str, NDArray[Any]]
MOST_REBUILT = 5000  # graphs whose molecules are built from the names of labels
WEDGE, DASH = 1, 3  # that begin at the smaller node; 2 and 4: at the larger node
LEAST_SHARE = 0.5  # of graphs that are molecules; otherwise none is drawn as a molecule


def read_molecules(graphs: GraphDatabase, molecules: Sequence[Any] | None) -> list[Any] | None:
    """Return one RDKit molecule, or None, per graph; None if most graphs are no molecules.

    Parameters
    ----------
    graphs : GraphDatabase
    molecules : sequence of rdkit.Chem.Mol or str, or None
        One per graph; None: those that the graphs were made from, or built from the names of labels.
    """
    if molecules is not None and len(molecules) != len(graphs):
        raise ValueError(f"there are {len(molecules)} molecules for {len(graphs)} graphs")
    if molecules is None and graphs.sources is None and not _may_be_molecules(graphs):
        return None
    base = import_optional("rdkit.rdBase", extra="chem", purpose="drawings of molecules need")
    with base.BlockLogs(), ProgressBar("explore: reading molecules", len(graphs)) as bar:
        found = []
        for i, size in enumerate(graphs.graph_sizes.tolist()):
            found.append(known_molecule(graphs[[i]]) if molecules is None else _read(molecules[i], size))
            bar.step()
    n_found = sum(mol is not None for mol in found)
    return found if n_found >= LEAST_SHARE * len(graphs) else None


def _may_be_molecules(graphs: GraphDatabase) -> bool:
    """Whether a few of the graphs can be built as molecules from the names of their labels."""
    if len(graphs) > MOST_REBUILT:
        return False
    return any(known_molecule(graphs[[i]]) is not None for i in range(min(5, len(graphs))))


def depictions(graphs: GraphDatabase, molecules: Sequence[Any]) -> Arrays:
    """Return the arrays from which ``draw.js`` draws skeletal formulas.

    Parameters
    ----------
    graphs : GraphDatabase
    molecules : sequence of rdkit.Chem.Mol or None
        One per graph; graphs without a molecule get the usual layout.

    Returns
    -------
    dict of arrays
        ``places`` x0, y0, x1, y1, ...; ``hydrogens`` and ``charges`` per node; ``wedges`` per edge that the
        page lists.
    """
    chem = import_optional("rdkit.Chem", extra="chem", purpose="drawings of molecules need")
    points = np.zeros((graphs.n_nodes, 2))
    hydrogens, charges = np.zeros((2, graphs.n_nodes), dtype=np.int64)
    wedges: list[NDArray[np.int64]] = []
    ptr = graphs.graph_ptr.tolist()
    for i, (first, last) in enumerate(pairwise(ptr)):
        graph = graphs[i]
        rows, columns = graph.adjacency.tocoo().coords
        listed = [(a, b) for a, b in zip(rows.tolist(), columns.tolist(), strict=True) if a <= b]
        wedges.append(np.zeros(len(listed), dtype=np.int64))
        if molecules[i] is None:
            points[first:last] = node_positions(graph)
            continue
        mol = laid_out(molecules[i])
        points[first:last] = _depicted(chem, mol, listed, wedges[-1])
        hydrogens[first:last] = [atom.GetTotalNumHs() for atom in mol.GetAtoms()]
        charges[first:last] = [atom.GetFormalCharge() for atom in mol.GetAtoms()]
    return {
        "places": quantized_places(points, graphs.graph_ptr),
        "hydrogens": hydrogens,
        "charges": charges,
        "wedges": np.concatenate(wedges),
    }


def _depicted(
    chem: Any, mol: Any, listed: list[tuple[int, int]], wedges: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the positions of atoms, and note which bonds are wedges."""
    chem.WedgeMolBonds(mol, mol.GetConformer())
    place = {ends: k for k, ends in enumerate(listed)}
    kinds = {chem.BondDir.BEGINWEDGE: WEDGE, chem.BondDir.BEGINDASH: DASH}
    for bond in mol.GetBonds():
        begin, end = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        at = place.get((min(begin, end), max(begin, end)))
        if bond.GetBondDir() in kinds and at is not None:
            wedges[at] = kinds[bond.GetBondDir()] + int(begin > end)
    return np.asarray(mol.GetConformer().GetPositions()[:, :2])


def _read(molecule: Any, n_nodes: int) -> Any:
    chem = import_optional("rdkit.Chem", extra="chem", purpose="drawings of molecules need")
    mol = chem.MolFromSmiles(molecule) if isinstance(molecule, str) else molecule
    return matched_molecule(mol, n_nodes)

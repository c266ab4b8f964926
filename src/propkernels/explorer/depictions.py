"""Drawings of the page: skeletal formulas of molecules by RDKit, pixels of images, given coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import has_package, import_optional
from propkernels._utils.progress import ProgressBar
from propkernels.convert.asking_rdkit import matched_molecule
from propkernels.convert.graph_molecules import known_molecule, laid_out
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase
from propkernels.graphs.layout import node_positions

Arrays = dict[str, NDArray[Any]]
Places = NDArray[np.int8]
LARGEST = 127  # coordinate, also of pixels
MOST_REBUILT = 5000  # graphs whose molecules are built from the names of labels
WEDGE, DASH = 1, 3  # that begin at the smaller node; 2 and 4: at the larger node
LEAST_SHARE = 0.5  # of graphs that are molecules; otherwise none is drawn as a molecule


def read_molecules(graphs: GraphDatabase, molecules: Sequence[Any] | None) -> list[Any] | None:
    """Return one RDKit molecule, or None, per graph; None if most graphs are no molecules, or without RDKit.

    Parameters
    ----------
    graphs : GraphDatabase
    molecules : sequence of rdkit.Chem.Mol or str, or None
        One per graph; None: those that the graphs were made from, or built from the names of labels.
    """
    if molecules is not None and len(molecules) != len(graphs):
        raise ValueError(f"there are {len(molecules)} molecules for {len(graphs)} graphs")
    if molecules is None and not has_package("rdkit"):
        return None
    if molecules is None and graphs.sources is None:
        few = range(min(5, len(graphs)))
        if len(graphs) > MOST_REBUILT or all(known_molecule(graphs[[i]]) is None for i in few):
            return None
    base, chem = (
        import_optional(name, extra="chem", purpose="drawings of molecules need")
        for name in ("rdkit.rdBase", "rdkit.Chem")
    )
    with base.BlockLogs(), ProgressBar("explore: reading molecules", len(graphs)) as bar:
        found = []
        for i, size in enumerate(graphs.graph_sizes.tolist()):
            if molecules is None:
                found.append(known_molecule(graphs[[i]]))
            else:
                mol = molecules[i]
                found.append(matched_molecule(chem.MolFromSmiles(mol) if isinstance(mol, str) else mol, size))
            bar.step()
    n_found = sum(mol is not None for mol in found)
    return found if n_found >= LEAST_SHARE * len(graphs) else None


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


def given_places(coordinates: Any, graphs: GraphDatabase) -> Places:
    """Return coordinates of the user (one array, or one per graph) as x0, y0, x1, y1, ..."""
    if isinstance(coordinates, Sequence) and len(coordinates) == len(graphs):
        coordinates = np.concatenate([np.asarray(part, dtype=np.float64) for part in coordinates])
    points = np.asarray(coordinates, dtype=np.float64)
    if points.ndim != 2 or len(points) != graphs.n_nodes or points.shape[1] < 2:
        raise ValueError(
            f"layout must hold a point for each of {graphs.n_nodes} nodes, got shape {points.shape}"
        )
    if not np.isfinite(points).all():
        raise ValueError("layout must contain finite numbers only")
    if points.shape[1] > 2:
        points = np.concatenate([_flat(points[a:b]) for a, b in pairwise(graphs.graph_ptr)])
    return quantized_places(points, graphs.graph_ptr)


def pixel_places(grids: GridDatabase) -> Places:
    """Return pixel positions of grids as x0, y0, x1, y1, ...; y points upward."""
    parts = []
    for i in range(len(grids)):
        grid = grids[i]
        mask = np.ones(grid.shape, dtype=bool) if grid.mask is None else grid.mask
        row, column = np.nonzero(mask)
        parts.append(np.column_stack([column, -row]))
    return np.concatenate(parts).astype(np.int8).ravel()


def _flat(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the projection of points on their first two principal components."""
    if not len(points):
        return points[:, :2]
    centered = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    turned = centered @ axes[:2].T
    return np.pad(turned, ((0, 0), (0, 2 - turned.shape[1])))


def quantized_places(points: NDArray[np.float64], ptr: NDArray[np.int64]) -> Places:
    """Return centered coordinates as 8-bit integers, with a separate scale per graph."""
    places = np.zeros(points.shape, dtype=np.int8)
    for first, last in pairwise(ptr):
        if first == last:
            continue
        part = points[first:last]
        part = part - (part.min(axis=0) + part.max(axis=0)) / 2
        places[first:last] = np.round(part * (LARGEST / max(float(np.abs(part).max()), 1e-9)))
    return places.ravel()

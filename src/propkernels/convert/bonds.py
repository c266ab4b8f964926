"""Bonds of molecules, as the entries of their adjacency.

RDKit returns the matrix of bond orders of a molecule in one call. Molecules with bonds that this matrix does
not distinguish (such as dative bonds) and very large molecules are read bond by bond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels.convert.build import integers
from propkernels.graphs.labels import LabelColumn

ORDERS = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}
LARGE = 1000  # atoms; for larger molecules, reading bonds is faster than the matrix
BATCH = 64  # molecules whose matrices are in memory (and in the cache) at once
Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def load_rdkit(module: str = "rdkit.Chem") -> Any:
    """Return a module of RDKit; raise ImportError with the extra to install."""
    return import_optional(module, extra="chem", purpose="molecules need")


@dataclass(frozen=True)
class Bonds:
    """Bonds of molecules, each in both directions, in the order of rows.

    Attributes
    ----------
    counts : ndarray of int64
        Number of entries of each molecule, two per bond.
    source, target : ndarray of int64
        Rows and columns, atoms of each molecule counted from 0.
    types : LabelColumn
    valences : ndarray of float64, (atoms,)
        Sums of the orders of an atom's bonds; NaN in molecules with bonds without an order.
    """

    counts: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    types: LabelColumn
    valences: NDArray[np.float64]

    @property
    def orders(self) -> NDArray[np.float64]:
        """Bond order of each entry; NaN for types without an order."""
        known = {name: order for order, name in ORDERS.items()}
        table = [known.get(str(value).split()[0], np.nan) for value in self.types.values]  # "double E" too
        return np.array(table)[self.types.ids]


def bonds_of(mols: Sequence[Any], sizes: NDArray[np.int64], stereo: bool) -> Bonds:
    """Return all bonds; with ``stereo``, types distinguish E and Z."""
    counts = 2 * integers(list(map(load_rdkit().Mol.GetNumBonds, mols)))
    fast = (counts > 0) & (sizes < LARGE)
    owner, rows, cols, codes = _from_matrices(mols, sizes, fast)
    clear = np.bincount(owner, minlength=len(mols)) == counts
    clear[owner[codes < 0]] = False
    valences = _valences(sizes, clear, owner, rows, codes)
    names = list(ORDERS.values())
    again = np.flatnonzero((counts > 0) & (~clear | stereo)).tolist()
    if again:
        known = clear[owner] & (not stereo)
        parts = [(owner[known], rows[known], cols[known], codes[known])]
        parts += [_one_by_one(mols[i], i, names, stereo) for i in again]
        owner, rows, cols, codes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.argsort(owner, kind="stable")
        rows, cols, codes = rows[order], cols[order], codes[order]
    return Bonds(counts, rows, cols, LabelColumn(codes.astype(np.int32), tuple(names)), valences)


def _valences(
    sizes: NDArray[np.int64],
    clear: NDArray[np.bool_],
    owner: NDArray[np.int64],
    rows: NDArray[np.int64],
    codes: NDArray[np.int64],
) -> NDArray[np.float64]:
    orders = np.array([*ORDERS, 0.0])[codes]  # index -1, an unknown type, gives the last value
    at = (np.cumsum(sizes) - sizes)[owner] + rows
    sums = np.bincount(at, weights=orders, minlength=int(sizes.sum())).astype(np.float64)
    sums[np.repeat(~clear, sizes)] = np.nan
    return sums


def _from_matrices(mols: Sequence[Any], sizes: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Entries:
    """Return molecule, row, column and type (-1: unknown) of the entries of matrices of bond orders."""
    matrix_of = load_rdkit().GetAdjacencyMatrix
    where = np.flatnonzero(chosen)
    found: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    passed = 0  # number of entries of the previous matrices
    for start in range(0, len(where), BATCH):
        matrices = []
        for i in where[start : start + BATCH].tolist():
            matrices.append(matrix_of(mols[i], True).ravel())
            mols[i].ClearProp("AdjacencyMatrixBO")  # otherwise the molecule keeps the matrix in memory
        flat = np.concatenate(matrices)
        entries = np.flatnonzero(flat != 0)
        found.append((entries + passed, flat[entries]))
        passed += len(flat)
    entries, orders = (np.concatenate(parts) for parts in zip(*found, strict=True)) if found else _NONE
    squares = sizes[where] ** 2
    ends = np.cumsum(squares)
    at = np.repeat(np.arange(len(where)), np.diff(np.searchsorted(entries, ends), prepend=0))
    local = (entries - (ends - squares)[at]).astype(np.int32)
    rows, cols = np.divmod(local, sizes[where][at].astype(np.int32))
    codes = np.full(len(orders), -1)
    for code, order in enumerate(ORDERS):
        codes[orders == order] = code
    return where[at], rows, cols, codes


_NONE = (np.empty(0, dtype=np.int64), np.empty(0))


def _one_by_one(mol: Any, position: int, names: list[str], stereo: bool) -> Entries:
    """Return the entries of a molecule, read bond by bond; new types are appended to ``names``.

    Bonds are read per atom, hence from both ends: access by index to RDKit's list of bonds takes linear time.
    """
    rows, cols, kinds = [], [], []
    for row, atom in enumerate(mol.GetAtoms()):
        for bond in atom.GetBonds():
            rows.append(row)
            cols.append(bond.GetOtherAtomIdx(row))
            kinds.append(_type_of(bond, stereo))
    names += sorted(set(kinds) - set(names))
    number = {name: code for code, name in enumerate(names)}
    source, target = integers(rows), integers(cols)
    order = np.lexsort((target, source))
    codes = integers([number[kind] for kind in kinds])
    return np.full(len(rows), position), source[order], target[order], codes[order]


def _type_of(bond: Any, stereo: bool) -> str:
    kind = str(bond.GetBondType().name.lower())
    side = bond.GetStereo().name.removeprefix("STEREO") if stereo else ""
    side = {"CIS": "Z", "TRANS": "E"}.get(side, side)
    return f"{kind} {side}" if side in ("E", "Z") else kind

"""Converters of crystals of pymatgen and ASE: atoms are nodes, neighbors also of other cells are edges.

The neighbors of an atom are the atoms, and periodic images of atoms, at about the smallest distance: those
within ``1 + tolerance`` times the distance to the nearest. No table of radii is needed, and the graph does
not change with rotation, translation, order of atoms, choice of origin, or scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import check_nonnegative, check_positive, reason_of
from propkernels._utils.typing import Column
from propkernels.convert.build import Faults, FlatGraphs, build, integers, joined, listed
from propkernels.graphs.database import GraphDatabase

if TYPE_CHECKING:
    from ase import Atoms
    from pymatgen.core import IStructure

Points = NDArray[np.float64]
FEWER = "use a smaller cutoff, or a reduced cell"
MOST = 2.0**60  # images; more are counted as this many
LARGEST = 1e150  # coordinates: their squares are finite


class Crystal(NamedTuple):
    """A cell with atoms: rows of ``lattice`` are its vectors, ``places`` are in multiples of them."""

    lattice: Points
    places: Points
    is_periodic: NDArray[np.bool_]
    symbols: list[str]


class Pairs(NamedTuple):
    """Neighbors: each pair of atoms in both directions, and the number of images of the second."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    number: Points


def from_pymatgen(
    structures: Iterable[IStructure],
    *,
    tolerance: float = 0.1,
    cutoff: float | None = None,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert structures of pymatgen to a GraphDatabase: atoms are nodes, neighbors are edges.

    Parameters
    ----------
    structures : sequence of pymatgen.core.Structure or Molecule
        Labels are symbols of elements; for sites with several species, their text in pymatgen.
    tolerance : float, default=0.1
        Two atoms are neighbors if their distance is at most 1 + tolerance times that of the nearest neighbor
        of one of them.
    cutoff : float or None, default=None
        Largest distance of neighbors, in the unit of the structures, instead of ``tolerance``.
    ids : sequence, optional
        Ids of the structures.
    errors : {"raise", "skip"}, default="raise"
        Raise an error for an invalid structure, or leave it out (see ``graphs.skipped``).

    Returns
    -------
    GraphDatabase
        The weight of an edge is the number of periodic images of one atom that are neighbors of the other;
        an atom that neighbors its own images has a loop. Weights of a node add up to its coordination number.

    See Also
    --------
    from_ase : The same for ASE.
    unique : Distinct structures, once they are graphs.

    Notes
    -----
    Cells of one crystal that have different sizes are different graphs: reduce them first
    (``structure.get_primitive_structure()``).

    Examples
    --------
    >>> import propkernels as pk
    >>> from pymatgen.core import Lattice, Structure  # doctest: +SKIP
    >>> salt = Structure.from_spacegroup("Fm-3m", Lattice.cubic(5.6), ["Na", "Cl"],
    ...                                  [[0, 0, 0], [0.5, 0.5, 0.5]])  # doctest: +SKIP
    >>> pk.from_pymatgen([salt]).degrees  # doctest: +SKIP
    array([6., 6., 6., 6., 6., 6., 6., 6.])
    """
    return _convert(structures, "pymatgen", _of_pymatgen, tolerance, cutoff, ids, errors)


def from_ase(
    atoms: Iterable[Atoms],
    *,
    tolerance: float = 0.1,
    cutoff: float | None = None,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert atoms of ASE to a GraphDatabase: atoms are nodes, neighbors are edges.

    Parameters
    ----------
    atoms : sequence of ase.Atoms
        Periodic in the directions of ``pbc``. Labels are symbols of elements.
    tolerance, cutoff, ids, errors
        As in :func:`propkernels.from_pymatgen`.

    Returns
    -------
    GraphDatabase
        As in :func:`propkernels.from_pymatgen`.

    See Also
    --------
    from_pymatgen : The same for pymatgen.

    Examples
    --------
    >>> import propkernels as pk
    >>> from ase.build import bulk  # doctest: +SKIP
    >>> pk.from_ase([bulk("Cu"), bulk("Fe")]).degrees  # doctest: +SKIP
    array([12., 8.])
    """
    return _convert(atoms, "ase", _of_ase, tolerance, cutoff, ids, errors)


def _convert(
    structures: Any,
    library: str,
    read: Callable[[Any], Crystal],
    tolerance: float,
    cutoff: float | None,
    ids: Column | None,
    errors: str,
) -> GraphDatabase:
    """Return the graphs of structures that ``read`` turns into crystals."""
    tolerance = check_nonnegative(tolerance, "tolerance")
    cutoff = None if cutoff is None else check_positive(cutoff, "cutoff")
    if hasattr(structures, "lattice") or hasattr(structures, "pbc"):
        raise TypeError(f"from_{library} takes a list of structures; wrap the one structure: [structure]")
    several = listed(structures, "structures")
    faults = Faults(errors, len(several), ids, noun="structure")
    crystals, pairs = [], []
    for i, structure in enumerate(several):
        crystal, found = _EMPTY, _NONE
        try:
            crystal = _checked(read(structure))
            found = neighbors(crystal, tolerance, cutoff)
        except Exception as error:  # objects that are no structures may raise anything
            crystal, found = _EMPTY, _NONE
            reason = reason_of(error)
            faults.add(i, f"is not a structure of {library}, or it is invalid ({reason})", link=" ")
        crystals.append(crystal)
        pairs.append(found)
    flat = FlatGraphs(
        integers([len(one.symbols) for one in crystals]),
        integers([len(one.source) for one in pairs]),
        joined([one.source for one in pairs], np.empty(0, dtype=np.int64)),
        joined([one.target for one in pairs], np.empty(0, dtype=np.int64)),
        True,
        joined([one.number for one in pairs], np.empty(0)),
        node_labels=[symbol for one in crystals for symbol in one.symbols],
    )
    return build(flat, faults)


_EMPTY = Crystal(np.eye(3), np.empty((0, 3)), np.zeros(3, dtype=bool), [])
_NONE = Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))


def _of_pymatgen(structure: Any) -> Crystal:
    """Return a structure or molecule of pymatgen as a crystal."""
    symbols = [_symbol(site) for site in structure]
    lattice = getattr(structure, "lattice", None)
    if lattice is None:
        return Crystal(np.eye(3), _numbers(structure.cart_coords), np.zeros(3, dtype=bool), symbols)
    is_periodic = _directions(getattr(lattice, "pbc", True))
    return Crystal(_numbers(lattice.matrix), _numbers(structure.frac_coords), is_periodic, symbols)


def _numbers(values: Any) -> Points:
    """Return vectors or coordinates as an array."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("vectors and coordinates must be numbers") from None


def _directions(values: Any) -> NDArray[np.bool_]:
    """Return whether a cell is periodic in each of three directions."""
    try:
        return np.broadcast_to(np.asarray(values, dtype=bool), 3)
    except (TypeError, ValueError):
        raise ValueError("a cell is periodic, or not, in each of three directions") from None


def _symbol(site: Any) -> str:
    """Return the symbol of the element of a site; the text of its species if there are several."""
    if not site.is_ordered:
        return str(site.species_string)
    return str(getattr(site.specie, "symbol", site.specie))


def _of_ase(atoms: Any) -> Crystal:
    """Return atoms of ASE as a crystal; missing vectors of the cell are completed."""
    lattice, points = _numbers(atoms.cell.complete()), _numbers(atoms.get_positions())
    if lattice.shape != (3, 3) or points.shape[1:] != (3,):
        raise ValueError("a cell has three vectors, and an atom three coordinates")
    places = points @ np.linalg.inv(lattice)
    return Crystal(lattice, places, _directions(atoms.pbc), list(atoms.get_chemical_symbols()))


def _checked(crystal: Crystal) -> Crystal:
    """Return a crystal with places between 0 and 1 in periodic directions; refuse invalid cells."""
    lattice, places = crystal.lattice, crystal.places
    if lattice.shape != (3, 3) or places.reshape(-1, 3).shape != (len(crystal.symbols), 3):
        raise ValueError(
            f"a cell of shape {lattice.shape} has {len(crystal.symbols)} atoms at {places.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        points = places.reshape(-1, 3) @ lattice
    if not all((np.abs(values) <= LARGEST).all() for values in (lattice, places, points)):
        raise ValueError(f"coordinates must be finite, and at most {LARGEST:g}")
    if crystal.is_periodic.any() and abs(np.linalg.det(lattice)) <= 1e-9 * np.abs(lattice).max() ** 3:
        raise ValueError("its cell has no volume")
    places = places.reshape(-1, 3)
    places = np.where(crystal.is_periodic, places - np.floor(places), places)
    return crystal._replace(lattice=lattice, places=places)


def neighbors(crystal: Crystal, tolerance: float, cutoff: float | None) -> Pairs:
    """Return pairs of atoms of a crystal whose distance, also to periodic images, is small enough.

    An atom is never farther from its nearest neighbor than the shortest periodic vector of the cell.
    """
    n_atoms = len(crystal.symbols)
    if not n_atoms:
        return _NONE
    if cutoff is not None:
        return _within(crystal, _images(crystal, cutoff), np.full(n_atoms, cutoff))
    lengths = np.linalg.norm(crystal.lattice[crystal.is_periodic], axis=1)
    images = _images(crystal, (1 + tolerance) * float(lengths.min(initial=np.inf)) * (1 + 1e-9))
    if images.n == 1:
        return _NONE
    nearest = images.query(crystal.places @ crystal.lattice, k=2)[0][:, 1]
    if (nearest == 0).any():
        raise ValueError("two of its atoms are at the same place")
    return _within(crystal, images, (1 + tolerance) * nearest * (1 + 1e-9))


def _images(crystal: Crystal, reach: float) -> cKDTree:
    """Return the atoms of all cells that may be within reach, cell after cell; the cell itself in the middle.

    A cell is beyond reach if the distance of lattice planes that lies between exceeds it.
    """
    heights = 1 / np.linalg.norm(np.linalg.inv(crystal.lattice), axis=0)
    with np.errstate(over="ignore"):
        n_cells = np.where(crystal.is_periodic, np.floor(reach / heights) + 1, 0)
        n_images = float(np.prod(2 * n_cells + 1)) * len(crystal.symbols)
    check_room(int(min(n_images, MOST)), 12, ways_out=FEWER)
    ranges = [np.arange(-n, n + 1) for n in n_cells.tolist()]
    shifts = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    return cKDTree((crystal.places + shifts).reshape(-1, 3) @ crystal.lattice)


def _within(crystal: Crystal, images: cKDTree, radii: Points) -> Pairs:
    """Return pairs of an atom and an image, each within the radius of the other or of itself."""
    points, n_atoms = crystal.places @ crystal.lattice, len(crystal.symbols)
    n_cells = images.n // n_atoms
    numbers = images.query_ball_point(points, radii, return_length=True)
    check_room(int(numbers.sum()), 12, ways_out=FEWER)
    found = images.query_ball_point(points, radii)
    cell, target = np.divmod(np.concatenate(found).astype(np.int64), n_atoms)
    source = np.repeat(np.arange(n_atoms), numbers)
    is_other = (source != target) | (cell != n_cells // 2)
    source, target, cell = source[is_other], target[is_other], cell[is_other]
    # of an atom and an image in another cell, the image has an image of the atom in the opposite cell
    there = (source * n_atoms + target) * n_cells + cell
    back = (target * n_atoms + source) * n_cells + (n_cells - 1 - cell)
    pairs, number = np.unique(np.union1d(there, back) // n_cells, return_counts=True)
    return Pairs(*np.divmod(pairs, n_atoms), number.astype(np.float64))

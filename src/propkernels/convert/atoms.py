"""Atoms and bonds of molecules: labels of atoms by a named recipe or by a function, types of bonds.

Calling RDKit per atom takes longer than all further processing. Therefore RDKit is called per molecule where
possible: for the matrix of bond orders, the atoms that are not carbon, and its hash of the invariants.
Molecules with bonds that the matrix does not distinguish (such as dative bonds) and very large molecules are
read bond by bond.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import object_array
from propkernels._utils.checks import shown
from propkernels._utils.locks import cached_property
from propkernels.convert.asking_rdkit import load_rdkit, rdkit_reason
from propkernels.convert.build import integers, owners
from propkernels.graphs.labels import UNOBSERVED, LabelColumn

One = str | Callable[[Any], Any]
Recipe = One | Sequence[One]
Invariants = tuple[int, ...]
RECIPES = ("symbol", "symbol+aromatic", "invariants", "pharmacophore")
VIEWS = ("symbol", "invariants", "pharmacophore")  # coarse and fine labels together
MANY = 1_000_000


def check_recipe(recipe: Any) -> Recipe:
    """Return a validated recipe of labels, or several."""
    several = list(recipe) if isinstance(recipe, (tuple, list)) else [recipe]
    for one in several:
        if not (callable(one) or (isinstance(one, str) and one in RECIPES)):
            names = ", ".join(map(repr, RECIPES))
            raise ValueError(f"node_labels must be one of {names}, a function, or several, got {shown(one)}")
    if not several:
        raise ValueError("node_labels must name at least one recipe, got none")
    return recipe


def atom_labels(
    mols: Sequence[Any],
    sizes: NDArray[np.int64],
    bonds: Bonds,
    recipe: Recipe,
    stereo: bool,
    faults: dict[int, str],
) -> LabelColumn:
    """Return the labels of the atoms of molecules; reasons for invalid molecules are added to ``faults``.

    Parameters
    ----------
    mols : sequence of rdkit.Chem.Mol
    sizes : ndarray of int64
        Numbers of atoms.
    bonds : Bonds
    recipe : str, callable, or sequence of these
        With several recipes, a label is the tuple of their labels.
    stereo : bool
        Whether labels distinguish chiral atoms.
    faults : dict
        Position -> reason.
    """
    several = recipe if isinstance(recipe, (tuple, list)) else (recipe,)
    invariants = None
    if any(one in ("invariants", "pharmacophore") for one in several if isinstance(one, str)):
        invariants = _all_invariants(mols, sizes, bonds.valences, faults)
    columns = [_labels_by(one, mols, sizes, bonds, invariants, faults) for one in several]
    if stereo:
        columns = [_with_chirality(column, mols, sizes) for column in columns]
    return columns[0] if several is not recipe else _side_by_side(columns)


def _labels_by(
    recipe: Any,
    mols: Sequence[Any],
    sizes: NDArray[np.int64],
    bonds: Bonds,
    invariants: LabelColumn | None,
    faults: dict[int, str],
) -> LabelColumn:
    """Return labels by one recipe; precomputed invariants determine symbols and roles."""
    if not isinstance(recipe, str):
        every = _asked(_by(recipe), mols, sizes, None, faults, _function_reason)
        return LabelColumn.from_values(object_array(list(chain.from_iterable(every))))
    if invariants is None or recipe == "symbol+aromatic":
        return _symbols(mols, sizes, recipe == "symbol+aromatic")
    if recipe == "symbol":
        symbol = load_rdkit().GetPeriodicTable().GetElementSymbol
        numbers = [number for _, _, number, *_ in cast(tuple[Invariants, ...], invariants.values)]
        return _merged(invariants, [symbol(number) for number in numbers])
    return invariants if recipe == "invariants" else _roles(mols, sizes, bonds, invariants)


def _merged(column: LabelColumn, values: Sequence[Any]) -> LabelColumn:
    """Return a column with its values replaced; equal new values are merged."""
    table: dict[Any, int] = {}
    ids = [table.setdefault(value, len(table)) for value in values]
    return LabelColumn(np.array([*ids, UNOBSERVED], dtype=np.int32)[column.ids], tuple(table))


def _side_by_side(columns: Sequence[LabelColumn]) -> LabelColumn:
    """Return tuples of the labels of several columns; unobserved if any of them is."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    observed = np.ones(len(codes), dtype=bool)
    for column in columns:
        codes = codes * (len(column.values) + 1) + column.ids
        observed &= column.ids != UNOBSERVED
    codes[~observed] = UNOBSERVED
    distinct = np.unique(codes)
    kinds = np.searchsorted(distinct, codes)
    example = np.empty(len(distinct), dtype=np.int64)
    example[kinds] = np.arange(len(codes))
    rows = zip(*(column.ids[example].tolist() for column in columns), strict=True)
    values = [
        tuple(column.values[i] for column, i in zip(columns, row, strict=True))
        for row, code in zip(rows, distinct.tolist(), strict=True)
        if code != UNOBSERVED
    ]
    first = len(distinct) - len(values)  # 1 if some labels are unobserved, because these are sorted first
    return LabelColumn((kinds - first).astype(np.int32), tuple(values))


def _asked(
    question: Callable[[Any], Any],
    mols: Sequence[Any],
    sizes: NDArray[np.int64],
    unknown: Any,
    faults: dict[int, str],
    tell: Callable[[Exception], str],
) -> list[Any]:
    """Return labels computed per molecule; errors, as of molecules that were not sanitized, are faults."""
    answers = []
    for i, mol in enumerate(mols):
        try:
            answers.append(question(mol))
        except Exception as error:  # of RDKit or of the caller's function
            faults.setdefault(i, tell(error))
            answers.append([unknown] * int(sizes[i]))
    return answers


def _function_reason(error: Exception) -> str:
    text = " ".join(str(error).split())[:200]
    return f"the function node_labels raises {type(error).__name__}{': ' if text else ''}{text}"


def _by(function: Any) -> Callable[[Any], list[Any]]:
    def labels(mol: Any) -> list[Any]:
        found = [function(atom) for atom in mol.GetAtoms()]
        hash(tuple(found))  # labels that are not hashable are the molecule's fault
        return found

    return labels


def _symbols(mols: Sequence[Any], sizes: NDArray[np.int64], aromatic: bool) -> LabelColumn:
    """Return the symbols of atoms, with RDKit called only for atoms that are not carbon."""
    chem = load_rdkit()
    other, ring = _queries(chem)
    number_of = chem.Atom.GetAtomicNum
    at: list[int] = []
    numbers: list[int] = []
    counts, rings, ring_counts = [], [], []
    for mol in mols:
        found = list(chain.from_iterable(mol.GetSubstructMatches(other, False, False, MANY)))
        at += found
        numbers += map(number_of, map(mol.GetAtomWithIdx, found))
        counts.append(len(found))
        if aromatic:
            inside = list(chain.from_iterable(mol.GetSubstructMatches(ring, False, False, MANY)))
            rings += inside
            ring_counts.append(len(inside))
    starts = np.cumsum(sizes) - sizes
    codes = np.full(int(sizes.sum()), CARBON)
    codes[integers(at) + np.repeat(starts, integers(counts))] = numbers
    if aromatic:
        codes[integers(rings) + np.repeat(starts, integers(ring_counts))] += 1000
    present = np.bincount(codes, minlength=1) > 0
    distinct, ids = np.flatnonzero(present), (np.cumsum(present) - 1)[codes]
    table = chem.GetPeriodicTable()
    names = [table.GetElementSymbol(int(code) % 1000) for code in distinct]
    values = [name.lower() if code >= 1000 else name for name, code in zip(names, distinct, strict=True)]
    return LabelColumn(ids.astype(np.int32), tuple(values))


@cache
def _queries(chem: Any) -> tuple[Any, Any]:
    return chem.MolFromSmarts("[!#6]"), chem.MolFromSmarts("a")


def _all_invariants(
    mols: Sequence[Any], sizes: NDArray[np.int64], valences: NDArray[np.float64], faults: dict[int, str]
) -> LabelColumn:
    """Return the seven Daylight invariants of each atom (Rogers and Hahn 2010, "Initial assignment").

    Atoms with equal RDKit invariants (one call per molecule) and equal sums of bond orders have the same
    seven invariants, which are computed once per kind of atom. This does not hold for isotopes, dative bonds
    and explicit hydrogen atoms: such molecules are processed atom by atom.
    """
    starts = np.cumsum(sizes) - sizes
    unclear = _are_unclear(mols, sizes, valences)
    hashes = load_rdkit("rdkit.Chem.rdMolDescriptors").GetConnectivityInvariants
    every = chain.from_iterable(_asked(hashes, mols, sizes, 0, faults, rdkit_reason))
    keys = np.fromiter(every, np.int64, len(valences)) << 16 | np.nan_to_num(2 * valences).astype(np.int64)
    unclear[list(faults)] = True
    keys[np.repeat(unclear, sizes)] = -1
    distinct = np.unique(keys)
    kinds = np.searchsorted(distinct, keys)
    example = np.empty(len(distinct), dtype=np.int64)
    example[kinds] = np.arange(len(keys))  # the last atom of each kind
    table: dict[Invariants, int] = {}
    ids = np.full(len(distinct), UNOBSERVED, dtype=np.int32)
    for kind, (key, atom) in enumerate(zip(distinct.tolist(), example.tolist(), strict=True)):
        if key != -1:
            ids[kind] = table.setdefault(_of_kind(key, atom, mols, starts), len(table))
    labels = ids[kinds]
    for i in sorted(set(np.flatnonzero(unclear).tolist()) - set(faults)):
        asked = [table.setdefault(atom_invariants(atom), len(table)) for atom in mols[i].GetAtoms()]
        labels[starts[i] : starts[i] + sizes[i]] = asked
    return LabelColumn(labels, tuple(table))


def _are_unclear(
    mols: Sequence[Any], sizes: NDArray[np.int64], valences: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return a mask of molecules with isotopes, explicit hydrogen atoms, or bonds without an order."""
    unusual = _unusual(load_rdkit())
    matches = np.fromiter((len(mol.GetAtomsMatchingQuery(unusual)) for mol in mols), np.int64, len(mols))
    without = np.bincount(owners(sizes)[np.isnan(valences)], minlength=len(mols))
    return (matches + without) > 0


_KNOWN: dict[int, Invariants] = {}  # a few hundred kinds of atoms


def _of_kind(key: int, atom: int, mols: Sequence[Any], starts: NDArray[np.int64]) -> Invariants:
    """Return the invariants of a kind of atoms, given the position of an example among all atoms."""
    if key not in _KNOWN:
        owner = int(np.searchsorted(starts, atom, side="right")) - 1
        _KNOWN[key] = atom_invariants(mols[owner].GetAtomWithIdx(atom - int(starts[owner])))
    return _KNOWN[key]


def atom_invariants(atom: Any) -> Invariants:
    """Return the seven Daylight invariants of an atom."""
    hydrogens = atom.GetTotalNumHs(includeNeighbors=True)
    return (
        atom.GetTotalDegree() - hydrogens,
        atom.GetTotalValence() - hydrogens,
        atom.GetAtomicNum(),
        atom.GetIsotope(),
        atom.GetFormalCharge(),
        hydrogens,
        int(atom.IsInRing()),
    )


@cache
def _unusual(chem: Any) -> Any:
    """Return a pattern that matches isotopes and explicit hydrogen atoms."""
    queries = load_rdkit("rdkit.Chem.rdqueries")
    query = queries.IsotopeGreaterQueryAtom(0)
    query.ExpandQuery(queries.AtomNumEqualsQueryAtom(1), chem.CompositeQueryType.COMPOSITE_OR)
    return query


def _roles(
    mols: Sequence[Any], sizes: NDArray[np.int64], bonds: Bonds, invariants: LabelColumn
) -> LabelColumn:
    """Return the FCFP roles of each atom; RDKit computes those of molecules with bonds without an order."""
    starts = np.cumsum(sizes) - sizes
    shift = np.repeat(starts, bonds.counts)
    table = np.array([*invariants.values, (0,) * 7], dtype=np.int64)[invariants.ids]  # the last if unknown
    _, valence, number, _, charge, hydrogens, _ = table.T
    ends = bonds.source + shift, bonds.target + shift
    bits = role_bits(Atoms(number, charge, hydrogens, valence + hydrogens, *ends, bonds.orders))
    descriptors = load_rdkit("rdkit.Chem.rdMolDescriptors")
    known = invariants.ids != UNOBSERVED
    for i in np.unique(owners(sizes)[np.isnan(bonds.valences) & known]).tolist():
        bits[starts[i] : starts[i] + sizes[i]] = descriptors.GetFeatureInvariants(mols[i])
    distinct, ids = np.unique(bits, return_inverse=True)
    column = LabelColumn(ids.astype(np.int32).ravel(), tuple(_role_names(one) for one in distinct.tolist()))
    return LabelColumn(np.where(known, column.ids, np.int32(UNOBSERVED)), column.values)


def _role_names(bits: int) -> str:
    return "+".join(name for i, name in enumerate(ROLES) if bits >> i & 1) or "none"


def _with_chirality(column: LabelColumn, mols: Sequence[Any], sizes: NDArray[np.int64]) -> LabelColumn:
    labels = column.to_array().astype(object)
    starts = np.cumsum(sizes) - sizes
    for start, mol in zip(starts.tolist(), mols, strict=True):
        for atom in mol.GetAtoms():
            if atom.HasProp("_CIPCode"):
                at = start + atom.GetIdx()
                labels[at] = (labels[at], atom.GetProp("_CIPCode"))
    return LabelColumn.from_values(labels)


# Bonds, as the entries of the adjacency.

ORDERS = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}
LARGE = 1000  # atoms; for larger molecules, reading bonds is faster than the matrix
BATCH = 64  # molecules whose matrices are in memory (and in the cache) at once
Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


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


# Pharmacophoric roles: those of FCFP, for all atoms of many molecules at once. The definitions are RDKit's
# patterns (after Gobbi and Poppinger 1998), which RDKit matches one molecule and one role at a time. Each
# pattern covers an atom and its neighborhood up to two bonds, so it is evaluated by sums over bonds.

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
ROLES = ("donor", "acceptor", "aromatic", "halogen", "basic", "acidic")
NITROGEN, OXYGEN, CARBON, SULFUR, PHOSPHORUS = 7, 8, 6, 16, 15
HALOGENS = (9, 17, 35, 53)
SINGLE, AROMATIC, DOUBLE = 1.0, 1.5, 2.0
ELEMENTS = 256  # atomic numbers of RDKit, which end at 118, are below


@dataclass(frozen=True)
class Atoms:
    """Atoms of many molecules, and their bonds in both directions.

    Attributes
    ----------
    number, charge, hydrogens, valence : ndarray of int64, (atoms,)
        Total number of hydrogens and total valence.
    source, target : ndarray of int64, (entries,)
        Ends of the bonds, atoms counted over all molecules.
    order : ndarray of float64, (entries,)
        1, 1.5, 2 or 3.
    """

    number: Numbers
    charge: Numbers
    hydrogens: Numbers
    valence: Numbers
    source: Numbers
    target: Numbers
    order: NDArray[np.float64]

    def is_one_of(self, *numbers: int) -> Flags:
        """Return a mask of the atoms with one of the atomic numbers."""
        return np.isin(np.arange(ELEMENTS), numbers)[self.number]

    def count(self, orders: tuple[float, ...], of: Flags) -> Numbers:
        """Return the number of neighbors with a property over bonds of the given orders, per atom."""
        ends = [self._bonds[order] for order in orders]
        chosen = np.concatenate([source[of[target]] for source, target in ends])
        return np.bincount(chosen, minlength=len(self.number))

    @cached_property
    def _bonds(self) -> dict[float, tuple[Numbers, Numbers]]:
        """Sources and targets of the bonds of each order."""
        places = {order: np.flatnonzero(self.order == order) for order in (SINGLE, AROMATIC, DOUBLE)}
        return {order: (self.source[at], self.target[at]) for order, at in places.items()}


def role_bits(atoms: Atoms) -> Numbers:
    """Return the roles of each atom as a sum of powers of two, in the order of ROLES."""
    aromatic = atoms.count((AROMATIC,), np.ones(len(atoms.number), dtype=bool)) > 0
    found = (
        _donors(atoms, aromatic),
        _acceptors(atoms, aromatic),
        aromatic,
        atoms.is_one_of(*HALOGENS),
        _basic(atoms, aromatic),
        _acidic(atoms, aromatic),
    )
    return np.sum([flags.astype(np.int64) << i for i, flags in enumerate(found)], axis=0)


def _donors(atoms: Atoms, aromatic: Flags) -> Flags:
    """Patterns N;!H0;v3,v4&+1 and O,S;H1;+0 and n&H1&+0."""
    nitrogen, neutral = atoms.is_one_of(NITROGEN), atoms.charge == 0
    one = (atoms.hydrogens == 1) & neutral
    valence = (atoms.valence == 3) | ((atoms.valence == 4) & (atoms.charge == 1))
    amine = nitrogen & ~aromatic & (atoms.hydrogens > 0) & valence
    return amine | (atoms.is_one_of(OXYGEN, SULFUR) & ~aromatic & one) | (nitrogen & aromatic & one)


def _acceptors(atoms: Atoms, aromatic: Flags) -> Flags:
    """O and S with two bonds or a negative charge, N with three, n, o and s; but not beside a double bond."""
    chalcogen, nitrogen = atoms.is_one_of(OXYGEN, SULFUR), atoms.is_one_of(NITROGEN)
    plain, neutral = ~aromatic, atoms.charge == 0
    ends = atoms.is_one_of(OXYGEN, NITROGEN, PHOSPHORUS, SULFUR) & plain
    beside = atoms.count((SINGLE,), atoms.count((DOUBLE,), ends) > 0) > 0  # *-*=[O,N,P,S]
    hydroxyl = (atoms.hydrogens == 1) & (atoms.valence == 2) & ~beside
    ether = (atoms.hydrogens == 0) & (atoms.valence == 2)
    own = chalcogen & plain & (hydroxyl | ether | (atoms.charge == -1))
    amine = nitrogen & plain & (atoms.valence == 3) & ~beside
    pyridine = nitrogen & aromatic & (atoms.hydrogens == 0) & neutral
    return own | amine | pyridine | (chalcogen & aromatic & neutral & ~_near_nitrogen(atoms, aromatic))


def _near_nitrogen(atoms: Atoms, aromatic: Flags) -> Flags:
    """Patterns *:n and *:c:n."""
    beside = atoms.count((AROMATIC,), atoms.is_one_of(NITROGEN) & aromatic) > 0
    return beside | (atoms.count((AROMATIC,), beside & atoms.is_one_of(CARBON) & aromatic) > 0)


def _basic(atoms: Atoms, aromatic: Flags) -> Flags:
    """Nitrogen that is positive, or whose other neighbors all are carbon (or aromatic) without =O."""
    plain = ~aromatic
    carbonyl = atoms.count((DOUBLE,), atoms.is_one_of(OXYGEN) & plain) > 0
    carbon = atoms.is_one_of(CARBON) & plain & ~carbonyl
    bonds = (SINGLE, AROMATIC)
    any_carbon, only_carbon = (atoms.count(bonds, of) for of in (carbon | (aromatic & ~carbonyl), carbon))
    enough = np.select(
        [atoms.hydrogens == 2, atoms.hydrogens == 1, atoms.hydrogens == 0],
        [any_carbon >= 1, any_carbon >= 2, only_carbon >= 3],
        False,
    )
    amine = plain & (atoms.charge == 0) & enough
    return atoms.is_one_of(NITROGEN) & ((atoms.charge == 1) | amine)


def _acidic(atoms: Atoms, aromatic: Flags) -> Flags:
    """Pattern [C,S](=[O,S,P])-[O;H1,-1]."""
    plain = ~aromatic
    double = atoms.count((DOUBLE,), atoms.is_one_of(OXYGEN, SULFUR, PHOSPHORUS) & plain) > 0
    hydroxyl = atoms.is_one_of(OXYGEN) & plain & ((atoms.hydrogens == 1) | (atoms.charge == -1))
    single = atoms.count((SINGLE,), hydroxyl) > 0
    return atoms.is_one_of(CARBON, SULFUR) & plain & double & single

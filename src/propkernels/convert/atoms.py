"""Labels of atoms, by a named recipe or by a function.

Calling RDKit per atom takes longer than all further processing. Therefore RDKit is called per molecule where
possible: for the atoms that are not carbon, and for its hash of the invariants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import object_array
from propkernels._utils.checks import shown
from propkernels.convert.asking_rdkit import rdkit_reason
from propkernels.convert.bonds import Bonds, load_rdkit
from propkernels.convert.build import integers, owners
from propkernels.convert.roles import ROLES, Atoms, role_bits
from propkernels.graphs.labels import UNOBSERVED, LabelColumn

One = str | Callable[[Any], Any]
Recipe = One | Sequence[One]
Invariants = tuple[int, ...]
RECIPES = ("symbol", "symbol+aromatic", "invariants", "pharmacophore")
VIEWS = ("symbol", "invariants", "pharmacophore")  # coarse and fine labels together
CARBON = 6
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

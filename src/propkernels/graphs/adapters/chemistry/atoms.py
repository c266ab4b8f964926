"""Labels of atoms, by a named recipe or by a function.

RDKit answers about one atom at a time, which costs more than all that is done with the answers. What can be
asked of a whole molecule at once is therefore asked so: which atoms are not carbon, and RDKit's own hash of
what makes up the invariants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.adapters.build import integers, owners
from propkernels.graphs.labels import UNOBSERVED, LabelColumn
from propkernels.utils.checks import shown
from propkernels.utils.optional import import_optional

One = str | Callable[[Any], Any]
Recipe = One | Sequence[One]
Invariants = tuple[int, ...]
RECIPES = ("symbol", "symbol+aromatic", "invariants", "pharmacophore")
VIEWS = ("symbol", "invariants", "pharmacophore")  # coarse and fine, side by side
ROLES = ("donor", "acceptor", "aromatic", "halogen", "basic", "acidic")
CARBON = 6
MANY = 1_000_000


def load_rdkit(module: str = "rdkit.Chem") -> Any:
    """Import RDKit, or say which extra brings it."""
    return import_optional(module, extra="chem", purpose="molecules need")


def check_recipe(recipe: Any) -> Recipe:
    """Return a recipe of labels, or several, if they are such."""
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
    valences: NDArray[np.float64],
    recipe: Recipe,
    stereo: bool,
    faults: dict[int, str],
) -> LabelColumn:
    """Labels of the atoms of some molecules; what is wrong with a molecule is added to the faults.

    Parameters
    ----------
    mols : sequence of rdkit.Chem.Mol
    sizes : ndarray of int64
        Numbers of atoms.
    valences : ndarray of float64, (atoms,)
        Sums of the orders of their bonds, NaN in molecules with bonds without an order.
    recipe : str, callable, or sequence of these
        Several: a label is the tuple of theirs.
    stereo : bool
        Whether chiral atoms are told apart.
    faults : dict
        Position -> reason.
    """
    several = recipe if isinstance(recipe, (tuple, list)) else (recipe,)
    columns = [_labels_by(one, mols, sizes, valences, faults) for one in several]
    if stereo:
        columns = [_with_chirality(column, mols, sizes) for column in columns]
    return columns[0] if several is not recipe else _side_by_side(columns)


def _labels_by(
    recipe: Any,
    mols: Sequence[Any],
    sizes: NDArray[np.int64],
    valences: NDArray[np.float64],
    faults: dict[int, str],
) -> LabelColumn:
    if recipe == "invariants":
        return _all_invariants(mols, sizes, valences, faults)
    if isinstance(recipe, str) and recipe != "pharmacophore":
        return _symbols(mols, sizes, recipe == "symbol+aromatic")
    per_mol: Callable[[Any], Any] = _by(recipe) if callable(recipe) else _roles
    every = _asked(per_mol, mols, sizes, None, faults)
    return LabelColumn.from_values(_objects(list(chain.from_iterable(every))))


def _side_by_side(columns: Sequence[LabelColumn]) -> LabelColumn:
    """Labels of several columns as one tuple; unobserved where one of them is."""
    numbers = np.column_stack([column.ids for column in columns])
    observed = (numbers != UNOBSERVED).all(axis=1)
    rows, ids = np.unique(numbers[observed], axis=0, return_inverse=True)
    labels = np.full(len(numbers), UNOBSERVED, dtype=np.int32)
    labels[observed] = ids.ravel()
    values = (
        tuple(column.values[i] for column, i in zip(columns, row, strict=True)) for row in rows.tolist()
    )
    return LabelColumn(labels, tuple(values))


def _asked(
    question: Callable[[Any], Any],
    mols: Sequence[Any],
    sizes: NDArray[np.int64],
    unknown: Any,
    faults: dict[int, str],
) -> list[Any]:
    """What each molecule answers about its atoms; a molecule that was not sanitized cannot answer."""
    answers = []
    for i, mol in enumerate(mols):
        try:
            answers.append(question(mol))
        except (RuntimeError, ValueError) as error:
            faults.setdefault(i, " ".join(str(error).split())[:200])
            answers.append([unknown] * int(sizes[i]))
    return answers


def _objects(values: list[Any]) -> NDArray[Any]:
    """An object array, in which -1 is a label as any other."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _by(function: Any) -> Callable[[Any], list[Any]]:
    return lambda mol: [function(atom) for atom in mol.GetAtoms()]


def _symbols(mols: Sequence[Any], sizes: NDArray[np.int64], aromatic: bool) -> LabelColumn:
    """Symbols of atoms; only those that are not carbon are asked for their number."""
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
    """The seven Daylight invariants of each atom (Rogers and Hahn 2010, "Initial assignment").

    RDKit's own invariants of all atoms at once, and the sums of their bond orders, say which atoms have the
    same seven: only one of each kind is asked. Isotopes and dative bonds are not in these, nor are hydrogens
    that are atoms: molecules that have them are asked atom by atom.
    """
    starts = np.cumsum(sizes) - sizes
    unclear = _are_unclear(mols, sizes, valences)
    hashes = load_rdkit("rdkit.Chem.rdMolDescriptors").GetConnectivityInvariants
    every = chain.from_iterable(_asked(hashes, mols, sizes, 0, faults))
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
    """Whether a molecule has isotopes, hydrogens that are atoms, or bonds without an order."""
    unusual = _unusual(load_rdkit())
    matches = np.fromiter((len(mol.GetAtomsMatchingQuery(unusual)) for mol in mols), np.int64, len(mols))
    without = np.bincount(owners(sizes)[np.isnan(valences)], minlength=len(mols))
    return (matches + without) > 0


_KNOWN: dict[int, Invariants] = {}  # a few hundred kinds of atoms


def _of_kind(key: int, atom: int, mols: Sequence[Any], starts: NDArray[np.int64]) -> Invariants:
    """Invariants of a kind of atoms, of which one is named by its position among all atoms."""
    if key not in _KNOWN:
        owner = int(np.searchsorted(starts, atom, side="right")) - 1
        _KNOWN[key] = atom_invariants(mols[owner].GetAtomWithIdx(atom - int(starts[owner])))
    return _KNOWN[key]


def atom_invariants(atom: Any) -> Invariants:
    """The seven Daylight invariants of one atom."""
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
    """Matches isotopes, and hydrogens that are atoms."""
    queries = load_rdkit("rdkit.Chem.rdqueries")
    query = queries.IsotopeGreaterQueryAtom(0)
    query.ExpandQuery(queries.AtomNumEqualsQueryAtom(1), chem.CompositeQueryType.COMPOSITE_OR)
    return query


def _roles(mol: Any) -> list[str]:
    """Pharmacophoric roles of each atom, as FCFP knows them."""
    descriptors = load_rdkit("rdkit.Chem.rdMolDescriptors")
    return [_role_names(bits) for bits in descriptors.GetFeatureInvariants(mol)]


@cache
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

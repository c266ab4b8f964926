"""Labels of the atoms of a molecule, by a named recipe or by a function; numbers of whole molecules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels.convert.asking_rdkit import load_rdkit

One = str | Callable[[Any], Any]
Recipe = One | Sequence[One]
RECIPES = ("symbol", "symbol+aromatic", "invariants", "pharmacophore")
VIEWS = ("symbol", "invariants", "pharmacophore")  # coarse and fine labels together
ROLES = ("donor", "acceptor", "aromatic", "halogen", "basic", "acidic")  # of FCFP


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


class FunctionError(ValueError):
    """An error of a function of atoms."""


def atom_labels(mol: Any, recipe: Recipe, stereo: bool) -> list[Any]:
    """Return the label of each atom of a molecule; raises what RDKit raises, or FunctionError.

    Parameters
    ----------
    mol : rdkit.Chem.Mol
    recipe : str, callable, or sequence of these
        With several recipes, a label is the tuple of their labels, or None if one of them is None.
    stereo : bool
        Whether labels distinguish chiral atoms.
    """
    if isinstance(recipe, str) or callable(recipe):
        return _labels_by(recipe, mol, stereo)
    rows = zip(*(_labels_by(one, mol, stereo) for one in recipe), strict=True)
    if all(isinstance(one, str) for one in recipe):
        return list(rows)
    return [None if any(label is None for label in row) else row for row in rows]


def _labels_by(recipe: One, mol: Any, stereo: bool) -> list[Any]:
    labels: list[Any]
    if recipe == "pharmacophore":
        bits = load_rdkit("rdkit.Chem.rdMolDescriptors").GetFeatureInvariants(mol)
        labels = list(map(_role_names, bits))
    elif isinstance(recipe, str):
        labels = list(map(BY_ATOM[recipe], mol.GetAtoms()))
    else:
        try:
            labels = [recipe(atom) for atom in mol.GetAtoms()]
            hash(tuple(labels))
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            kind = f"{type(error).__name__}{': ' if text else ''}{text}"
            raise FunctionError(f"the function node_labels raises {kind}") from None
    for i, atom in enumerate(mol.GetAtoms() if stereo else ()):
        if atom.HasProp("_CIPCode"):
            labels[i] = (labels[i], atom.GetProp("_CIPCode"))
    return labels


@cache
def _role_names(bits: int) -> str:
    return "+".join(name for i, name in enumerate(ROLES) if bits >> i & 1) or "none"


def _symbol_and_ring(atom: Any) -> str:
    symbol: str = atom.GetSymbol()
    return symbol.lower() if atom.GetIsAromatic() else symbol


def _invariants(atom: Any) -> tuple[int, ...]:
    """Return the seven Daylight invariants of an atom (Rogers and Hahn 2010, "Initial assignment")."""
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


BY_ATOM: dict[str, Callable[[Any], Any]] = {
    "symbol": lambda atom: atom.GetSymbol(),
    "symbol+aromatic": _symbol_and_ring,
    "invariants": _invariants,
}


ALL = "rdkit"
Wanted = str | Sequence[str] | None


class Group(NamedTuple):
    """Descriptors that one function of RDKit computes at once."""

    names: tuple[str, ...]
    compute: Callable[[Any], Any]


@cache
def _groups() -> tuple[Group, ...]:
    rdkit = load_rdkit("rdkit.Chem.rdMolDescriptors")
    properties = rdkit.Properties()
    areas = {"SlogP_VSA": rdkit.SlogP_VSA_, "SMR_VSA": rdkit.SMR_VSA_, "PEOE_VSA": rdkit.PEOE_VSA_}
    ethane = load_rdkit().MolFromSmiles("CC")
    vectors = [*areas.items(), ("MQN", rdkit.MQNs_)]
    return (
        Group(tuple(properties.GetPropertyNames()), properties.ComputeProperties),
        *(Group(_numbered(name, len(compute(ethane))), compute) for name, compute in vectors),
    )


def _numbered(name: str, n: int) -> tuple[str, ...]:
    return tuple(f"{name}{i}" for i in range(1, n + 1))


def descriptor_names() -> list[str]:
    """Return the names of all descriptors."""
    return [name for group in _groups() for name in group.names]


def check_wanted(wanted: Any) -> tuple[str, ...] | None:
    """Return the names of the wanted descriptors: None for none, all for "rdkit"."""
    if wanted is None:
        return None
    known = descriptor_names()
    if isinstance(wanted, str) and wanted == ALL:
        return tuple(known)
    names = [] if isinstance(wanted, str) or not isinstance(wanted, Sequence) else list(wanted)
    unknown = [name for name in names if name not in known]
    if not names or unknown:
        given = shown(unknown[0] if unknown else wanted)
        raise ValueError(
            f"descriptors must be None, {ALL!r} or names such as {known[0]!r} and 'tpsa', got {given}"
        )
    return tuple(names)


def compute_descriptors(mols: Sequence[Any], names: Sequence[str]) -> NDArray[np.float64]:
    """Return one row per molecule, one column per name; NaN where RDKit finds no finite number.

    Examples
    --------
    >>> from rdkit import Chem
    >>> compute_descriptors([Chem.MolFromSmiles("CCO")], ["NumHeavyAtoms", "tpsa"]).round(2)
    array([[ 3.  , 20.23]])
    """
    wanted, columns = set(names), []
    known: list[str] = []
    for group in _groups():
        if wanted & set(group.names):
            known += group.names
            columns.append(np.array([_row(group, mol) for mol in mols], dtype=np.float64))
    table = np.hstack(columns).reshape(len(mols), len(known))
    table = table[:, [known.index(name) for name in names]]
    return np.where(np.isfinite(table), table, np.nan)


def _row(group: Group, mol: Any) -> Any:
    """Return the descriptors of one molecule; NaN for a molecule without atoms or one that RDKit refuses."""
    if not mol.GetNumAtoms():
        return [np.nan] * len(group.names)
    try:
        return list(group.compute(mol))
    except (RuntimeError, ValueError):
        return [np.nan] * len(group.names)

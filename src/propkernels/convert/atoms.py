"""Labels of the atoms of a molecule, by a named recipe or by a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

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

"""Standard forms of molecules: largest fragment, neutral atoms, canonical tautomer, by RDKit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from propkernels._utils.checks import shown
from propkernels.convert.bonds import load_rdkit

FRAGMENT, CHARGE, TAUTOMER = STEPS = ("fragment", "charge", "tautomer")


def check_steps(steps: Any) -> tuple[str, ...]:
    """Return the steps of standardization in the order in which they are applied; None: no steps."""
    if steps is None:
        return ()
    several = [steps] if isinstance(steps, str) else list(steps)
    for step in several:
        if not isinstance(step, str) or step not in STEPS:
            names = ", ".join(map(repr, STEPS))
            raise ValueError(f"standardize must be None or some of {names}, got {shown(step)}")
    return tuple(step for step in STEPS if step in several)


def standard_form(mol: Any, steps: Sequence[str], changed: Counter[str]) -> str | None:
    """Return the SMILES of the standard form of a molecule, or None if no step changes it.

    ``changed`` counts the steps that change molecules.

    Examples
    --------
    >>> from rdkit import Chem
    >>> changed = Counter()
    >>> salt = Chem.MolFromSmiles("CC(=O)[O-].[Na+]")
    >>> standard_form(salt, ("fragment", "charge"), changed), dict(changed)
    ('CC(=O)O', {'fragment': 1, 'charge': 1})
    """
    chem = load_rdkit()
    before = first = chem.MolToSmiles(mol)
    for step in steps:
        if step == FRAGMENT and "." not in before:
            continue
        mol = _apply(step, mol)
        after = chem.MolToSmiles(mol)
        changed[step] += after != before
        before = after
    return None if before == first else str(before)


def _apply(step: str, mol: Any) -> Any:
    tools = _tools()
    if step == FRAGMENT:
        return tools[FRAGMENT].choose(mol)
    return tools[CHARGE].uncharge(mol) if step == CHARGE else tools[TAUTOMER].Canonicalize(mol)


@cache
def _tools() -> dict[str, Any]:
    standard = load_rdkit("rdkit.Chem.MolStandardize.rdMolStandardize")
    return {
        FRAGMENT: standard.LargestFragmentChooser(),
        CHARGE: standard.Uncharger(),
        TAUTOMER: standard.TautomerEnumerator(),
    }

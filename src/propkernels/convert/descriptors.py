"""Descriptors of molecules by RDKit: numbers of whole molecules, computed by compiled functions.

Properties, surface areas by logP, refractivity and charge (Labute 2000), and molecular quantum numbers
(Nguyen, Blum, van Deursen and Reymond 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels.convert.asking_rdkit import load_rdkit

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

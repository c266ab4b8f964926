"""Calls of RDKit whose errors become messages about the molecule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from propkernels._utils.checks import reason_of
from propkernels._utils.optional import import_optional


def load_rdkit(module: str = "rdkit.Chem") -> Any:
    """Return a module of RDKit; raise ImportError with the extra to install."""
    return import_optional(module, extra="chem", purpose="molecules need")


def parse_smiles(chem: Any, text: Any, sanitize: bool = True) -> Any:
    """Return the molecule of a SMILES string; None for invalid SMILES and other types."""
    if not isinstance(text, str) or not text.strip():
        return None
    try:
        return chem.MolFromSmiles(text, sanitize=sanitize)
    except Exception:  # such as for a text that is not Unicode
        return None


HYDROGEN_OR_NAME = re.compile(r"\[\d*H|\s")
STEREO = re.compile(r"[@/\\]")


def parse_atoms_and_bonds(chem: Any, text: Any) -> Any:
    """Return the molecule of a SMILES string with what graphs need, in about two thirds of the time.

    Symbols, charges, hydrogens, rings and bond types are those of :func:`parse_smiles`. Conjugation,
    hybridization and stereochemistry are not computed. Texts with hydrogen atoms, which RDKit removes, and
    with names or extensions after the SMILES go through :func:`parse_smiles`, as do texts that are refused.
    """
    if not isinstance(text, str) or not text or HYDROGEN_OR_NAME.search(text):
        return parse_smiles(chem, text)
    settings, steps = _lean(chem)
    try:
        mol = chem.MolFromSmiles(text, settings)
        chem.SanitizeMol(mol, steps)
    except Exception:  # as of atoms with too many bonds
        return parse_smiles(chem, text)
    return mol


@cache
def _lean(chem: Any) -> tuple[Any, Any]:
    """Return settings of a parser that does not sanitize, and the steps of the sanitizer that matter."""
    settings, flags = chem.SmilesParserParams(), chem.SanitizeFlags
    settings.sanitize = settings.removeHs = False
    left_out = (
        flags.SANITIZE_SETCONJUGATION | flags.SANITIZE_SETHYBRIDIZATION | flags.SANITIZE_CLEANUPCHIRALITY
    )
    return settings, flags.SANITIZE_ALL & ~(left_out | flags.SANITIZE_CLEANUPATROPISOMERS)


def molecule_of(source: Any) -> Any:
    """Return the molecule of a SMILES string, or a molecule itself.

    Without stereochemistry, atoms and bonds are all that SMARTS of its parts need.
    """
    if not isinstance(source, str):
        return source
    parse = parse_smiles if STEREO.search(source) else parse_atoms_and_bonds
    mol = parse(load_rdkit(), source)
    if mol is None:
        raise ValueError(f"{source[:60]!r} cannot be read as SMILES")
    return mol


def rdkit_reason(error: Exception) -> str:
    """Return the message of an RDKit error in one line, without the position in RDKit's source.

    Examples
    --------
    >>> rdkit_reason(RuntimeError("Invariant Violation Atomic number not found Violation occurred on line 5"))
    'RDKit refuses it (Atomic number not found)'
    """
    text = " ".join(str(error).split()).split("Violation occurred", maxsplit=1)[0]
    text = text.removeprefix("Invariant Violation").removeprefix("Pre-condition Violation").strip()
    is_told = text and isinstance(error, (RuntimeError, ValueError)) and "Boost.Python" not in text
    return f"RDKit refuses it ({text[:200] if is_told else reason_of(error)})"


@contextmanager
def asking_rdkit(name: str) -> Iterator[None]:
    """Convert RDKit errors to a ValueError that names the molecule."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{name}: {rdkit_reason(error)}") from None


def matched_molecule(mol: Any, n_nodes: int) -> Any:
    """Return a molecule with the given number of atoms, by adding hydrogens if necessary, or None."""
    if mol is None or mol.GetNumAtoms() == n_nodes:
        return mol
    whole = load_rdkit().AddHs(mol)
    return whole if whole.GetNumAtoms() == n_nodes else None


def with_atoms(molecule: Any, n_nodes: int, number: int) -> Any:
    """Return a molecule with one atom per node of its graph, by adding hydrogens if necessary."""
    if molecule is None:
        raise ValueError(f"molecule {number} is None: it could not be read")
    with asking_rdkit(f"molecule {number}"):
        full = matched_molecule(molecule, n_nodes)
    if full is None:
        raise ValueError(
            f"molecules are not those of the graphs: molecule {number} has {molecule.GetNumAtoms()} atoms, "
            f"but its graph has {n_nodes} nodes"
        )
    return full

"""Questions to RDKit: what it raises, whatever it is, becomes one sentence about the molecule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from propkernels._utils.checks import reason_of


def parse_smiles(chem: Any, text: Any, sanitize: bool = True) -> Any:
    """Read a molecule from SMILES; None for what is not a text, or not a molecule."""
    if not isinstance(text, str) or not text.strip():
        return None
    try:
        return chem.MolFromSmiles(text, sanitize=sanitize)
    except Exception:  # a text that is not Unicode, say
        return None


def rdkit_reason(error: Exception) -> str:
    """What RDKit says is wrong, in one line, without the place in its source.

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
    """Let errors of RDKit be a ValueError that names the molecule."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{name}: {rdkit_reason(error)}") from None

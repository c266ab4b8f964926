"""Lists of molecules, from SMILES, RDKit molecules, arrays or columns."""

from __future__ import annotations

from typing import Any

from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import parse_smiles
from propkernels.convert.build import Faults, listed
from propkernels.convert.rdkit import is_mol, why_not


def as_list(molecules: Any) -> list[Any]:
    """Return the SMILES or molecules of a list, an array, or a pandas column or one-column table."""
    if isinstance(molecules, (str, bytes)) or is_mol(molecules):
        raise TypeError("expected a list of molecules; wrap the one molecule: [molecule]")
    shape = getattr(molecules, "shape", None)
    if shape is not None and len(shape) > 1:
        if len(shape) > 2 or shape[1] != 1:
            raise ValueError(f"molecules must be one column, of SMILES or RDKit molecules; got shape {shape}")
        molecules = molecules.iloc[:, 0] if hasattr(molecules, "iloc") else molecules[:, 0]
    items = molecules.tolist() if hasattr(molecules, "tolist") else molecules
    return listed(items, "SMILES strings or RDKit molecules")


def as_molecules(molecules: Any, errors: str = "raise") -> list[Any]:
    """Return RDKit molecules; with ``errors="empty"``, an invalid one becomes a molecule without atoms."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    items = as_list(molecules)
    faults = Faults(errors, len(items), noun="molecule")
    parsed = []
    with base.BlockLogs():
        for i, item in enumerate(items):
            mol = parse_smiles(chem, item) if isinstance(item, str) else item
            if not is_mol(mol):
                faults.add(i, why_not(chem, item))
                mol = chem.Mol()
            parsed.append(mol)
    faults.warn()
    return [mol for mol, kept in zip(parsed, faults.kept, strict=True) if kept or errors == "empty"]

"""scaffolds: group molecules by their ring systems, for cross-validation on new scaffolds."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Molecules
from propkernels.convert.asking_rdkit import rdkit_reason
from propkernels.convert.build import Faults
from propkernels.molecules.read_molecules import as_molecules


def scaffolds(molecules: Molecules, *, errors: Literal["raise", "empty"] = "raise") -> NDArray[np.int64]:
    """Return the number of each molecule's Murcko scaffold: its ring systems and the chains between them.

    Molecules with the same scaffold are often close relatives. Folds that never split a scaffold estimate how
    well a model predicts molecules with new scaffolds.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    errors : {"raise", "empty"}, default="raise"
        "raise": an invalid molecule is an error. "empty": it is treated as a molecule without rings, with a
        warning.

    Returns
    -------
    ndarray of int64 of shape (n,)
        Scaffold numbers 0, 1, ... in order of first appearance. All molecules without rings share one number.

    See Also
    --------
    MoleculesToGraphs : Pipeline step that converts molecules to graphs.

    References
    ----------
    .. [1] G. W. Bemis and M. A. Murcko (1996). The properties of known drugs. 1. Molecular frameworks.
       Journal of Medicinal Chemistry 39 (15), 2887-2893. doi:10.1021/jm9602928.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.molecules.scaffolds(["Cc1ccccc1", "CCO", "Oc1ccccc1", "c1ccncc1", "CC"])
    array([0, 1, 0, 2, 1])
    """
    check_choice(errors, ("raise", "empty"), "errors")
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    mols = as_molecules(molecules, errors)
    faults = Faults(errors, len(mols), noun="molecule")
    names = [""] * len(mols)
    with base.BlockLogs():
        for i, mol in enumerate(mols):
            try:
                names[i] = _scaffold(mol)
            except Exception as error:  # raised by RDKit, for example for molecules that were not sanitized
                faults.add(i, rdkit_reason(error))
    faults.warn()
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _scaffold(mol: Any) -> str:
    """Return the scaffold as SMILES; an empty string for a molecule without rings."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    murcko = import_optional("rdkit.Chem.Scaffolds.MurckoScaffold", extra="chem", purpose="molecules need")
    if not mol.GetRingInfo().NumRings():
        return ""
    return str(chem.MolToSmiles(murcko.GetScaffoldForMol(mol), isomericSmiles=False))

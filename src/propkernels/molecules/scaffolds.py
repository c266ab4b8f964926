"""scaffolds: molecules grouped by their ring systems, for honest cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.molecules.reading import as_molecules
from propkernels.utils.checks import check_choice
from propkernels.utils.optional import import_optional


def scaffolds(molecules: Any, *, generic: bool = False, errors: str = "raise") -> NDArray[np.int64]:
    """Number molecules by their Murcko scaffolds: the ring systems and the chains between them.

    Molecules of one scaffold are often close relatives. Folds that never split a scaffold estimate how well
    a model predicts molecules of new kinds.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    generic : bool, default=False
        Whether all atoms count as carbon and all bonds as single, so that there are fewer scaffolds.
    errors : {"raise", "empty"}, default="raise"
        Whether a molecule that cannot be read is an error, or counts, with a warning, as one without rings.

    Returns
    -------
    ndarray of int64 of shape (n,)
        Numbers from 0 on, in the order in which the scaffolds first occur. All molecules without rings
        have one number.

    See Also
    --------
    MoleculesToGraphs : Molecules as input of a pipeline.

    References
    ----------
    .. [1] G. W. Bemis and M. A. Murcko (1996). The properties of known drugs. 1. Molecular frameworks.
       Journal of Medicinal Chemistry 39 (15), 2887-2893. doi:10.1021/jm9602928.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.scaffolds(["Cc1ccccc1", "CCO", "Oc1ccccc1", "c1ccncc1", "CC"])
    array([0, 1, 0, 2, 1])
    >>> pk.scaffolds(["Cc1ccccc1", "CCO", "c1ccncc1"], generic=True)
    array([0, 1, 0])
    """
    check_choice(errors, ("raise", "empty"), "errors")
    murcko = import_optional("rdkit.Chem.Scaffolds.MurckoScaffold", extra="chem", purpose="molecules need")
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    mols = as_molecules(molecules, errors)
    numbers: dict[str, int] = {}
    with base.BlockLogs():
        names = [_scaffold(murcko, mol, generic) for mol in mols]
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _scaffold(murcko: Any, mol: Any, generic: bool) -> str:
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    core = murcko.GetScaffoldForMol(mol)
    if generic:
        # atoms that double bonds tie to the core are single bonds to carbon by then: cut them off once more
        core = murcko.GetScaffoldForMol(murcko.MakeScaffoldGeneric(core))
    return str(chem.MolToSmiles(core, isomericSmiles=False))

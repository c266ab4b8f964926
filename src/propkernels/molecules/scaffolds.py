"""scaffolds: molecules grouped by their ring systems, for honest cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice
from propkernels._utils.optional import import_optional
from propkernels.convert.asking_rdkit import rdkit_reason
from propkernels.convert.build import Faults
from propkernels.convert.rdkit import ERRORS
from propkernels.molecules.read_molecules import as_molecules

CARBON = 6


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
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    mols = as_molecules(molecules, errors)
    faults = Faults(errors, len(mols), noun="molecule", allowed=ERRORS)
    names = [""] * len(mols)
    with base.BlockLogs():
        for i, mol in enumerate(mols):
            try:
                names[i] = _scaffold(mol, generic)
            except Exception as error:  # RDKit's, such as of a molecule that was not sanitized
                faults.add(i, rdkit_reason(error))
    faults.warn()
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _scaffold(mol: Any, generic: bool) -> str:
    """The scaffold as SMILES; an empty text without rings."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    murcko = import_optional("rdkit.Chem.Scaffolds.MurckoScaffold", extra="chem", purpose="molecules need")
    if not mol.GetRingInfo().NumRings():
        return ""
    core = _core(mol)
    if generic:
        # atoms that double bonds tie to the core are single bonds to carbon by then: cut them off once more
        core = _core(murcko.MakeScaffoldGeneric(core))
    return str(chem.MolToSmiles(core, isomericSmiles=False))


def _core(mol: Any) -> Any:
    """Cut off what is neither in a ring, nor between rings, nor tied to these by a double bond.

    This is RDKit's ``MurckoDecompose``, which looks for paths between all pairs of atoms: its time grows with
    the third power of their number, and a chain of 4,000 atoms takes minutes.
    """
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    around = [[other.GetIdx() for other in atom.GetNeighbors()] for atom in mol.GetAtoms()]
    inside = _without_ends(around)
    core = chem.RWMol(mol)
    core.BeginBatchEdit()
    for i in np.flatnonzero(~inside).tolist():
        kept = [core.GetAtomWithIdx(j) for j in around[i] if inside[j]]
        bonds = [core.GetBondBetweenAtoms(i, atom.GetIdx()).GetBondType() for atom in kept]
        if chem.BondType.DOUBLE in bonds:
            continue
        for atom in kept:
            _close(chem, atom)
        core.RemoveAtom(i)
    core.CommitBatchEdit()
    core.UpdatePropertyCache(strict=False)
    chem.FastFindRings(core)
    return core


def _without_ends(around: list[list[int]]) -> NDArray[np.bool_]:
    """Whether each atom is left when atoms with at most one neighbor are taken away, again and again."""
    inside, degrees = np.ones(len(around), dtype=bool), [len(others) for others in around]
    ends = [i for i, degree in enumerate(degrees) if degree <= 1]
    while ends:
        end = ends.pop()
        inside[end] = False
        for other in around[end]:
            degrees[other] -= 1
            if degrees[other] == 1 and inside[other]:
                ends.append(other)
    return inside


def _close(chem: Any, atom: Any) -> None:
    """Give an atom that has lost a neighbor its hydrogen back, as RDKit does."""
    unspecified = chem.ChiralType.CHI_UNSPECIFIED
    if atom.GetIsAromatic() and atom.GetAtomicNum() != CARBON:
        atom.SetNumExplicitHs(1)
    elif atom.GetNoImplicit() or atom.GetChiralTag() != unspecified:
        atom.SetNoImplicit(False)
        atom.SetNumExplicitHs(0)
        atom.SetChiralTag(unspecified)

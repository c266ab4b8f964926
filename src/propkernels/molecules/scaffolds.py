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

CARBON = 6


def scaffolds(
    molecules: Molecules, *, generic: bool = False, errors: Literal["raise", "empty"] = "raise"
) -> NDArray[np.int64]:
    """Return the number of each molecule's Murcko scaffold: its ring systems and the chains between them.

    Molecules with the same scaffold are often close relatives. Folds that never split a scaffold estimate how
    well a model predicts molecules with new scaffolds.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    generic : bool, default=False
        Whether to treat all atoms as carbon and all bonds as single, which gives fewer scaffolds.
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
    >>> pk.molecules.scaffolds(["Cc1ccccc1", "CCO", "c1ccncc1"], generic=True)
    array([0, 1, 0])
    """
    check_choice(errors, ("raise", "empty"), "errors")
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    mols = as_molecules(molecules, errors)
    faults = Faults(errors, len(mols), noun="molecule")
    names = [""] * len(mols)
    with base.BlockLogs():
        for i, mol in enumerate(mols):
            try:
                names[i] = _scaffold(mol, generic)
            except Exception as error:  # raised by RDKit, for example for molecules that were not sanitized
                faults.add(i, rdkit_reason(error))
    faults.warn()
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _scaffold(mol: Any, generic: bool) -> str:
    """Return the scaffold as SMILES; an empty string for a molecule without rings."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    murcko = import_optional("rdkit.Chem.Scaffolds.MurckoScaffold", extra="chem", purpose="molecules need")
    if not mol.GetRingInfo().NumRings():
        return ""
    core = _core(mol)
    if generic:
        # atoms double-bonded to the core are now single-bonded carbons: remove them as well
        core = _core(murcko.MakeScaffoldGeneric(core))
    return str(chem.MolToSmiles(core, isomericSmiles=False))


def _core(mol: Any) -> Any:
    """Remove all atoms except those in rings, between rings, or double-bonded to one of these.

    The result equals that of RDKit's ``MurckoDecompose``, which searches paths between all pairs of atoms: it
    takes cubic time, minutes for a chain of 4,000 atoms.
    """
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    around = [[other.GetIdx() for other in atom.GetNeighbors()] for atom in mol.GetAtoms()]
    inside = _without_ends(around)
    is_kept, closed = inside.copy(), set[int]()
    for i in np.flatnonzero(~inside).tolist():
        bonds = [(j, mol.GetBondBetweenAtoms(i, j).GetBondType()) for j in around[i] if inside[j]]
        if any(kind == chem.BondType.DOUBLE for _, kind in bonds):
            is_kept[i] = True
        else:
            closed.update(j for j, _ in bonds)
    return _part(chem, mol, np.flatnonzero(is_kept).tolist(), closed)


def _part(chem: Any, mol: Any, kept: list[int], closed: set[int]) -> Any:
    """Return some atoms of a molecule and the bonds between them; ``closed`` atoms have lost a neighbor.

    The atoms are copied, since RDKit takes quadratic time to remove the others.
    """
    part, places = chem.RWMol(), dict[int, int]()
    for i in kept:
        atom = mol.GetAtomWithIdx(i)
        places[i] = part.AddAtom(atom)
        if i in closed:
            _close(chem, part.GetAtomWithIdx(places[i]))
        for bond in atom.GetBonds():
            other = bond.GetOtherAtomIdx(i)
            if other in places:
                part.AddBond(places[other], places[i], bond.GetBondType())
                between = part.GetBondBetweenAtoms(places[other], places[i])
                between.SetIsAromatic(bond.GetIsAromatic())
    part.UpdatePropertyCache(strict=False)
    chem.FastFindRings(part)
    return part


def _without_ends(around: list[list[int]]) -> NDArray[np.bool_]:
    """Return a mask of the atoms that remain after repeated removal of atoms with at most one neighbor."""
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
    """Restore the hydrogen of an atom that has lost a neighbor, as RDKit does."""
    unspecified = chem.ChiralType.CHI_UNSPECIFIED
    if atom.GetIsAromatic() and atom.GetAtomicNum() != CARBON:
        atom.SetNumExplicitHs(1)
    elif atom.GetNoImplicit() or atom.GetChiralTag() != unspecified:
        atom.SetNoImplicit(False)
        atom.SetNumExplicitHs(0)
        atom.SetChiralTag(unspecified)

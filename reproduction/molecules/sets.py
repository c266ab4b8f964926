"""The sets of MoleculeNet, as parsed molecules, targets and folds."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold

import propkernels as pk
from reproduction.extra.records import data_file

ARCHIVE = "moleculenet.zip"
N_FOLDS = 5
SEED = 0
SCAFFOLD, RANDOM = "scaffold", "random"
Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Source:
    """Where a set is, and what is predicted.

    Attributes
    ----------
    file : str
    targets : tuple of str
        Columns; empty: all columns except the SMILES and the names in ``others``.
    others : tuple of str
        Columns that are not targets.
    is_class : bool
    """

    file: str
    targets: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    is_class: bool = True


SOURCES = {  # smallest first; the molecules of BACE once more at the end
    "FreeSolv": Source("FreeSolv_SAMPL.csv", ("expt",), is_class=False),
    "ESOL": Source(
        "ESOL_delaney-processed.csv", ("measured log solubility in mols per litre",), is_class=False
    ),
    "BACE": Source("bace.csv", ("Class",)),
    "ClinTox": Source("clintox.csv", ("FDA_APPROVED", "CT_TOX")),
    "BBBP": Source("BBBP.csv", ("p_np",)),
    "SIDER": Source("sider.csv"),
    "Lipophilicity": Source("Lipophilicity.csv", ("exp",), is_class=False),
    "Tox21": Source("tox21.csv", others=("mol_id",)),
    "HIV": Source("HIV.csv", ("HIV_active",)),
    "BACE pIC50": Source("bace.csv", ("pIC50",), is_class=False),
}
CLASSES = tuple(name for name, source in SOURCES.items() if source.is_class)
NUMBERS = ("FreeSolv", "ESOL", "Lipophilicity")  # those that the comparison is about


@dataclass(frozen=True, eq=False)
class Molecules:
    """A set as it is measured.

    Attributes
    ----------
    name : str
    mols : list of rdkit.Chem.Mol
    target : ndarray of float64, (n, tasks)
        Missing values are NaN.
    is_class : bool
    n_unread : int
        Rows that RDKit cannot read, or that have no SMILES: they are left out.
    """

    name: str
    mols: list[Any]
    target: NDArray[np.float64]
    is_class: bool
    n_unread: int


def load(name: str) -> Molecules:
    """Read a set from the archive in the folder that PROPKERNELS_DATA names."""
    from rdkit import Chem, rdBase

    source, table = SOURCES[name], read_table(SOURCES[name].file)
    unnamed = [column for column in table.columns if str(column).startswith("Unnamed")]
    others = ("smiles", *source.others, *unnamed)
    columns = list(source.targets) or [column for column in table.columns if column not in others]
    with rdBase.BlockLogs():
        mols = [Chem.MolFromSmiles(text) if isinstance(text, str) else None for text in table["smiles"]]
    read = np.array([mol is not None and mol.GetNumAtoms() > 0 for mol in mols])
    target = table[columns].to_numpy(dtype=np.float64)[read]
    kept = [mol for mol, good in zip(mols, read, strict=True) if good]
    return Molecules(name, kept, target, source.is_class, int((~read).sum()))


def read_table(file: str, archive: str = ARCHIVE) -> Any:
    """One table of an archive."""
    import pandas

    with zipfile.ZipFile(data_file(archive)) as archived, archived.open(file) as stream:
        return pandas.read_csv(stream)


def folds(data: Molecules, split: str) -> list[Fold]:
    """Five folds: at random, or such that no Murcko scaffold is in two of them."""
    if split == RANDOM:
        return list(KFold(N_FOLDS, shuffle=True, random_state=SEED).split(data.mols))
    groups = pk.molecules.scaffolds(data.mols)
    return list(GroupKFold(N_FOLDS, shuffle=True, random_state=SEED).split(data.mols, groups=groups))

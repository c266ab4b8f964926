"""From molecules: RDKit's objects, or SMILES.

RDKit answers about one atom or bond at a time, which costs more than all that is done with the answers.
What can be asked of a whole molecule at once is therefore asked so: the matrix of bond orders, and which
atoms are not carbon. Molecules with bonds that this matrix does not tell apart (dative ones, say) are asked
bond by bond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.adapters.build import Faults, FlatGraphs, build, integers, joined, listed, with_target
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.utils.checks import shown
from propkernels.utils.optional import import_optional

ERRORS = ("raise", "skip", "empty")
Recipe = str | Callable[[Any], Any]
Invariants = tuple[int, ...]
RECIPES = ("symbol", "symbol+aromatic", "invariants", "pharmacophore")
ORDERS = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}
FEATURES = ("donor", "acceptor", "aromatic", "halogen", "basic", "acidic")
CARBON = 6
CHUNK = 2000  # molecules that are in memory at once
LARGE = 1000  # atoms, from which on a matrix is larger than the bonds are slow
MANY = 1_000_000


def from_rdkit(
    mols: Any,
    *,
    node_labels: Recipe = "symbol",
    edge_labels: bool = True,
    explicit_hydrogens: bool = False,
    stereo: bool = False,
    target: str | None = None,
    ids: Any = None,
    errors: str = "raise",
) -> Any:
    """Convert RDKit molecules to a GraphDatabase: atoms are nodes, bonds are edges.

    Parameters
    ----------
    mols : sequence of rdkit.Chem.Mol
        Molecules, which are not changed. Parts that no bond joins, as of a salt, are one graph. None, which
        is what RDKit gives for what it cannot read, is a fault.
    node_labels : {"symbol", "symbol+aromatic", "invariants", "pharmacophore"} or callable, default="symbol"
        Label of an atom: its symbol ("C"); the symbol in small letters where it is aromatic ("c"); the seven
        Daylight invariants that ECFP starts from (heavy neighbors, valence without hydrogens, atomic
        number, isotope or 0, charge, hydrogens, 1 if in a ring); its roles ("donor+acceptor"), as in FCFP; or
        what a function of the atom returns.
    edge_labels : bool, default=True
        Whether edges are labeled by the type of the bond: "single", "double", "triple", "aromatic", ...
    explicit_hydrogens : bool, default=False
        Whether hydrogens are added as nodes.
    stereo : bool, default=False
        Whether labels tell stereoisomers apart: a label becomes a pair with "R" or "S" for such an atom, and
        "double E" or "double Z" for such a bond.
    target : str, optional
        Name of the molecules' property that is to be predicted.
    ids : sequence, optional
        What the molecules are called.
    errors : {"raise", "skip", "empty"}, default="raise"
        Whether a faulty molecule is an error, or left out, or a graph without nodes ("empty");
        ``graphs.skipped`` then says why, and with "skip" ``graphs.ids`` which are left.

    Returns
    -------
    GraphDatabase, or (GraphDatabase, ndarray) with ``target``

    See Also
    --------
    from_smiles : From texts.

    References
    ----------
    D. Rogers, M. Hahn, *Extended-connectivity fingerprints*, Journal of Chemical Information and Modeling 50,
    2010 (the invariants and roles of atoms).

    Examples
    --------
    >>> import propkernels as pk
    >>> from rdkit import Chem
    >>> pk.from_rdkit([Chem.MolFromSmiles("CCO"), Chem.MolFromSmiles("c1ccccc1")])
    GraphDatabase(2 graphs, 9 nodes, 8 edges, 2 node labels, 2 edge labels)
    """
    if is_mol(mols):
        raise TypeError("from_rdkit takes a list of molecules; wrap the one molecule: [mol]")
    several = listed(mols, "molecules")
    faults = Faults(errors, len(several), ids, noun="molecule", allowed=ERRORS)
    options = _Options(check_recipe(node_labels), edge_labels, explicit_hydrogens, stereo)
    database = convert(several, faults, options)
    if target is None:
        return database
    values = [
        _property(mol, target) if kept else np.nan for mol, kept in zip(several, faults.kept, strict=True)
    ]
    return with_target(database, values, faults)


def from_smiles(
    smiles: Any,
    *,
    node_labels: Recipe = "symbol",
    edge_labels: bool = True,
    explicit_hydrogens: bool = False,
    stereo: bool = False,
    ids: Any = None,
    errors: str = "raise",
    n_jobs: int | None = None,
) -> GraphDatabase:
    """Read molecules from SMILES.

    Parameters
    ----------
    smiles : sequence of str, such as a column of a pandas table
    node_labels, edge_labels, explicit_hydrogens, stereo
        As for :func:`from_rdkit`.
    ids : sequence, optional
        What the molecules are called.
    errors : {"raise", "skip", "empty"}, default="raise"
        Whether a text that is not a molecule is an error, or left out, or a graph without nodes ("empty");
        ``graphs.skipped`` then says why, and with "skip" ``graphs.ids`` which are left.
    n_jobs : int, optional
        Processes that read at once; -1: one per core. However many molecules there are, only a few thousand
        are in memory as RDKit's objects.

    Returns
    -------
    GraphDatabase

    See Also
    --------
    from_rdkit : From molecules of RDKit.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.from_smiles(["CCO", "c1ccccc1"])
    GraphDatabase(2 graphs, 9 nodes, 8 edges, 2 node labels, 2 edge labels)
    """
    if isinstance(smiles, (str, bytes)):
        raise TypeError("from_smiles takes a list of strings; wrap the one string: [smiles]")
    texts = listed(smiles.tolist() if hasattr(smiles, "tolist") else smiles, "SMILES strings")
    faults = Faults(errors, len(texts), ids, noun="molecule", allowed=ERRORS)
    options = _Options(check_recipe(node_labels), edge_labels, explicit_hydrogens, stereo)
    parts = list(_read_chunks(texts, options, n_jobs))
    return _assembled(parts, options, faults)


def is_mol(thing: Any) -> bool:
    """Tell a molecule of RDKit without importing it."""
    kind: Any = type(thing)
    return _is_mol_type(kind)


@cache
def _is_mol_type(kind: Any) -> bool:
    is_rdkit = any(base.__module__.startswith("rdkit.Chem") for base in kind.__mro__)
    return is_rdkit and hasattr(kind, "GetNumAtoms")


@dataclass(frozen=True)
class _Options:
    node_labels: Recipe = "symbol"
    edge_labels: bool = True
    explicit_hydrogens: bool = False
    stereo: bool = False


@dataclass
class _Part:
    """Some molecules as flat arrays; what is wrong with some of them, by position."""

    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    labels: LabelColumn
    bonds: LabelColumn | None
    faults: dict[int, str]


def check_recipe(recipe: Any) -> Recipe:
    """Return a recipe of labels, if it is one."""
    if callable(recipe) or recipe in RECIPES:
        return recipe
    raise ValueError(
        f"node_labels must be one of {', '.join(map(repr, RECIPES))} or a function, got {shown(recipe)}"
    )


def convert(mols: list[Any], faults: Faults, options: _Options | None = None) -> GraphDatabase:
    """Convert a list of molecules."""
    options = options or _Options()
    parts = [_extract(mols[i : i + CHUNK], options) for i in range(0, len(mols), CHUNK)]
    return _assembled(parts, options, faults)


def _assembled(parts: list[_Part], options: _Options, faults: Faults) -> GraphDatabase:
    start = 0
    for part in parts:
        for position, reason in part.faults.items():
            faults.add(start + position, reason)
        start += len(part.sizes)
    none = integers([])
    flat = FlatGraphs(
        joined([part.sizes for part in parts], none),
        joined([part.counts for part in parts], none),
        joined([part.source for part in parts], none),
        joined([part.target for part in parts], none),
        True,  # both directions of each bond are listed
        None,
        LabelColumn.concat([part.labels for part in parts]),
        edge_labels=LabelColumn.concat([part.bonds for part in parts if part.bonds is not None])
        if options.edge_labels
        else None,
    )
    return build(flat, faults)


def _read_chunks(texts: list[Any], options: _Options, n_jobs: int | None) -> Iterator[_Part]:
    """Parts of the list in order, each read in one go."""
    chunks = [texts[i : i + CHUNK] for i in range(0, len(texts), CHUNK)]
    if n_jobs in (None, 1) or len(chunks) < 2:
        yield from (_read(chunk, options) for chunk in chunks)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_read)(chunk, options) for chunk in chunks
    )


def _read(texts: Sequence[Any], options: _Options) -> _Part:
    chem, base = _chem(), import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    with base.BlockLogs():
        mols = [
            chem.MolFromSmiles(text) if isinstance(text, str) and text.strip() else None for text in texts
        ]
        reasons = {i: why_not(chem, texts[i]) for i, mol in enumerate(mols) if mol is None}
    part = _extract(mols, options)
    part.faults |= reasons
    return part


def _chem() -> Any:
    return import_optional("rdkit.Chem", extra="chem", purpose="molecules need")


def why_not(chem: Any, text: Any) -> str:
    """Say what is wrong with a text that is not a molecule."""
    if not isinstance(text, str):
        return f"{shown(text)} is not a SMILES string"
    if not text.strip():
        return "the SMILES string is empty"
    short = text if len(text) <= 60 else text[:57] + "..."
    mol = chem.MolFromSmiles(text, sanitize=False)
    problems = [] if mol is None else chem.DetectChemistryProblems(mol)
    if problems:
        return f"{short!r} is not a possible molecule: {problems[0].Message()}"
    return f"{short!r} cannot be read as SMILES"


def _extract(mols: Sequence[Any], options: _Options) -> _Part:
    """Atoms and bonds of some molecules."""
    chem = _chem()
    faults: dict[int, str] = {}
    usable: list[Any] = []
    for i, mol in enumerate(mols):
        if not is_mol(mol):
            faults[i] = "is None: RDKit could not read it" if mol is None else f"is a {type(mol).__name__}"
            mol = _nothing(chem)
        elif options.explicit_hydrogens:
            mol = chem.AddHs(mol)
        usable.append(mol)
    if options.stereo:
        usable = [chem.Mol(mol) for mol in usable]
        for mol in usable:
            chem.AssignStereochemistry(mol, cleanIt=True, force=True)
    sizes = integers(list(map(chem.Mol.GetNumAtoms, usable)))
    labels = _atom_labels(chem, usable, sizes, options, faults)
    counts, source, target, bonds = _bonds(chem, usable, sizes, options)
    return _Part(sizes, counts, source, target, labels, bonds, faults)


@cache
def _nothing(chem: Any) -> Any:
    return chem.Mol()


# atoms


def _atom_labels(
    chem: Any, mols: list[Any], sizes: NDArray[np.int64], options: _Options, faults: dict[int, str]
) -> LabelColumn:
    recipe = options.node_labels
    if callable(recipe) or recipe in ("invariants", "pharmacophore"):
        known: dict[Any, Callable[[Any], list[Any]]] = {"invariants": _invariants, "pharmacophore": _roles}
        per_mol = _by(recipe) if callable(recipe) else known[recipe]
        values: list[Any] = []
        for i, mol in enumerate(mols):
            try:
                values += per_mol(mol)
            except (RuntimeError, ValueError) as error:  # a molecule that was not sanitized
                faults.setdefault(i, " ".join(str(error).split())[:200])
                values += [None] * int(sizes[i])
        column = LabelColumn.from_values(_objects(values))
    else:
        column = _symbols(chem, mols, sizes, recipe == "symbol+aromatic")
    return _with_chirality(column, mols, sizes) if options.stereo else column


def _objects(values: list[Any]) -> NDArray[Any]:
    """An object array, in which -1 is a label as any other."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _by(function: Any) -> Callable[[Any], list[Any]]:
    return lambda mol: [function(atom) for atom in mol.GetAtoms()]


def _symbols(chem: Any, mols: list[Any], sizes: NDArray[np.int64], aromatic: bool) -> LabelColumn:
    """Symbols of atoms; only those that are not carbon are asked for their number."""
    other, ring = _queries(chem)
    number_of = chem.Atom.GetAtomicNum
    at: list[int] = []
    numbers: list[int] = []
    counts, rings, ring_counts = [], [], []
    for mol in mols:
        found = list(chain.from_iterable(mol.GetSubstructMatches(other, False, False, MANY)))
        at += found
        numbers += map(number_of, map(mol.GetAtomWithIdx, found))
        counts.append(len(found))
        if aromatic:
            inside = list(chain.from_iterable(mol.GetSubstructMatches(ring, False, False, MANY)))
            rings += inside
            ring_counts.append(len(inside))
    starts = np.cumsum(sizes) - sizes
    codes = np.full(int(sizes.sum()), CARBON)
    codes[integers(at) + np.repeat(starts, integers(counts))] = numbers
    if aromatic:
        codes[integers(rings) + np.repeat(starts, integers(ring_counts))] += 1000
    present = np.bincount(codes, minlength=1) > 0
    distinct, ids = np.flatnonzero(present), (np.cumsum(present) - 1)[codes]
    table = chem.GetPeriodicTable()
    names = [table.GetElementSymbol(int(code) % 1000) for code in distinct]
    values = [name.lower() if code >= 1000 else name for name, code in zip(names, distinct, strict=True)]
    return LabelColumn(ids.astype(np.int32), tuple(values))


@cache
def _queries(chem: Any) -> tuple[Any, Any]:
    return chem.MolFromSmarts("[!#6]"), chem.MolFromSmarts("a")


def _invariants(mol: Any) -> list[Invariants]:
    """The seven Daylight invariants of each atom (Rogers and Hahn 2010, "Initial assignment").

    RDKit's own invariants of all atoms at once, and the sums of their bond orders, say which atoms have the
    same seven: only one of each kind is asked. Isotopes and dative bonds are not in these, nor are hydrogens
    that are atoms.
    """
    chem = _chem()
    if mol.HasSubstructMatch(_unusual(chem)):
        return [atom_invariants(atom) for atom in mol.GetAtoms()]
    descriptors = import_optional("rdkit.Chem.rdMolDescriptors", extra="chem", purpose="molecules need")
    hashes = descriptors.GetConnectivityInvariants(mol)
    orders = chem.GetAdjacencyMatrix(mol, True).sum(axis=0).tolist()
    mol.ClearProp("AdjacencyMatrixBO")
    found: list[Invariants] = []
    for i, key in enumerate(zip(hashes, orders, strict=True)):
        if key not in _KNOWN:
            _KNOWN[key] = atom_invariants(mol.GetAtomWithIdx(i))
        found.append(_KNOWN[key])
    return found


_KNOWN: dict[tuple[int, float], Invariants] = {}  # a few hundred kinds of atoms


def atom_invariants(atom: Any) -> Invariants:
    """The seven Daylight invariants of one atom."""
    hydrogens = atom.GetTotalNumHs(includeNeighbors=True)
    return (
        atom.GetTotalDegree() - hydrogens,
        atom.GetTotalValence() - hydrogens,
        atom.GetAtomicNum(),
        atom.GetIsotope(),
        atom.GetFormalCharge(),
        hydrogens,
        int(atom.IsInRing()),
    )


@cache
def _unusual(chem: Any) -> Any:
    return chem.MolFromSmarts("[!0*,#1,$(*->*),$(*<-*)]")


def _roles(mol: Any) -> list[str]:
    """Pharmacophoric roles of each atom, as FCFP knows them."""
    descriptors = import_optional("rdkit.Chem.rdMolDescriptors", extra="chem", purpose="molecules need")
    return [_role_names(bits) for bits in descriptors.GetFeatureInvariants(mol)]


@cache
def _role_names(bits: int) -> str:
    return "+".join(name for i, name in enumerate(FEATURES) if bits >> i & 1) or "none"


def _with_chirality(column: LabelColumn, mols: list[Any], sizes: NDArray[np.int64]) -> LabelColumn:
    labels = column.to_array().astype(object)
    starts = np.cumsum(sizes) - sizes
    for start, mol in zip(starts.tolist(), mols, strict=True):
        for atom in mol.GetAtoms():
            if atom.HasProp("_CIPCode"):
                at = start + atom.GetIdx()
                labels[at] = (labels[at], atom.GetProp("_CIPCode"))
    return LabelColumn.from_values(labels)


# bonds


def _bonds(
    chem: Any, mols: list[Any], sizes: NDArray[np.int64], options: _Options
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], LabelColumn | None]:
    """Number of entries of each molecule's adjacency, two per bond; rows, columns and types, in row order."""
    counts = 2 * integers(list(map(chem.Mol.GetNumBonds, mols)))
    fast = (counts > 0) & (sizes < LARGE) & (not options.stereo)
    owner, rows, cols, codes = _from_matrices(chem, mols, sizes, fast)
    clear = np.bincount(owner, minlength=len(mols)) == counts
    clear[owner[codes < 0]] = False
    names = list(ORDERS.values())
    unclear = np.flatnonzero((counts > 0) & ~(fast & clear)).tolist()
    if unclear:
        known = clear[owner]
        parts = [(owner[known], rows[known], cols[known], codes[known])]
        parts += [_one_by_one(mols[i], i, names, options.stereo) for i in unclear]
        owner, rows, cols, codes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.argsort(owner, kind="stable")
        rows, cols, codes = rows[order], cols[order], codes[order]
    column = LabelColumn(codes.astype(np.int32), tuple(names)) if options.edge_labels else None
    return counts, rows, cols, column


def _from_matrices(
    chem: Any, mols: list[Any], sizes: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Molecule, row, column and type (-1: unknown) of the entries of the matrices of bond orders."""
    where = np.flatnonzero(chosen)
    matrices = []
    for i in where.tolist():
        matrices.append(chem.GetAdjacencyMatrix(mols[i], True))
        mols[i].ClearProp("AdjacencyMatrixBO")  # RDKit would keep the matrix with the molecule
    flat = np.frombuffer(b"".join(matrices), dtype=np.float64)
    entries = np.flatnonzero(flat != 0)
    squares = sizes[where] ** 2
    ends = np.cumsum(squares)
    at = np.repeat(np.arange(len(where)), np.diff(np.searchsorted(entries, ends), prepend=0))
    local = (entries - (ends - squares)[at]).astype(np.int32)
    rows, cols = np.divmod(local, sizes[where][at].astype(np.int32))
    orders = flat[entries]
    codes = np.full(len(orders), -1)
    for code, order in enumerate(ORDERS):
        codes[orders == order] = code
    return where[at], rows, cols, codes


def _one_by_one(
    mol: Any, position: int, names: list[str], stereo: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The same of one molecule, asked bond by bond; types that have no name yet are added to the names."""
    begin, end, kinds = [], [], []
    for bond in mol.GetBonds():
        begin.append(bond.GetBeginAtomIdx())
        end.append(bond.GetEndAtomIdx())
        kind = bond.GetBondType().name.lower()
        side = bond.GetStereo().name.removeprefix("STEREO") if stereo else ""
        side = {"CIS": "Z", "TRANS": "E"}.get(side, side)
        kinds.append(f"{kind} {side}" if side in ("E", "Z") else kind)
    names += sorted(set(kinds) - set(names))
    codes = integers([names.index(kind) for kind in kinds] * 2)
    rows, cols = integers(begin + end), integers(end + begin)
    order = np.lexsort((cols, rows))
    return np.full(len(rows), position), rows[order], cols[order], codes[order]


def _property(mol: Any, name: str) -> Any:
    """A property as a number where it is one."""
    if not mol.HasProp(name):
        return np.nan
    value = mol.GetPropsAsDict().get(name)
    return mol.GetProp(name) if value is None else value

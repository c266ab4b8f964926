"""Converters of RDKit molecules and SMILES: labels of atoms by recipes, standard forms, descriptors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import object_array
from propkernels._utils.checks import shown
from propkernels._utils.parallel import check_n_jobs
from propkernels._utils.typing import Column
from propkernels.convert.asking_rdkit import load_rdkit, parse_atoms_and_bonds, parse_smiles, rdkit_reason
from propkernels.convert.build import Faults, FlatGraphs, build, comes_from, integers, joined, listed
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

if TYPE_CHECKING:
    from rdkit.Chem import Mol

CHUNK = 2000  # molecules in memory at once
SIDES = {"STEREOE": "E", "STEREOTRANS": "E", "STEREOZ": "Z", "STEREOCIS": "Z"}  # of double bonds
FRAGMENT, CHARGE, TAUTOMER = STEPS = ("fragment", "charge", "tautomer")
One = str | Callable[[Any], Any]
Recipe = One | Sequence[One]
RECIPES = ("symbol", "symbol+aromatic", "invariants", "pharmacophore")
VIEWS = ("symbol", "invariants", "pharmacophore")  # coarse and fine labels together
ROLES = ("donor", "acceptor", "aromatic", "halogen", "basic", "acidic")  # of FCFP
ALL = "rdkit"
Wanted = str | Sequence[str] | None


def from_rdkit(
    mols: Iterable[Mol],
    *,
    node_labels: Recipe = VIEWS,
    edge_labels: bool = True,
    explicit_hydrogens: bool = False,
    stereo: bool = False,
    standardize: str | Sequence[str] | None = None,
    descriptors: Wanted = None,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert RDKit molecules to a GraphDatabase: atoms are nodes, bonds are edges.

    Parameters
    ----------
    mols : sequence of rdkit.Chem.Mol
        Molecules, which are not changed. All fragments of a molecule, as of a salt, are one graph. None,
        RDKit's result for unreadable input, is a fault.
    node_labels : {"symbol", "symbol+aromatic", "invariants", "pharmacophore"}, callable or sequence of these
        Label of an atom: its symbol ("C"); the symbol in small letters where it is aromatic ("c"); the seven
        Daylight invariants that ECFP starts from (heavy neighbors, valence without hydrogens, atomic
        number, isotope or 0, charge, hydrogens, 1 if in a ring); its roles ("donor+acceptor"), as in FCFP; or
        what a function of the atom returns. Several: the tuple of these labels, which models and
        ``WeisfeilerLehman(labels="entries")`` refine side by side. By default ("symbol", "invariants",
        "pharmacophore"), as in :class:`MoleculesToGraphs`.
    edge_labels : bool, default=True
        Whether edges are labeled by the type of the bond: "single", "double", "triple", "aromatic", ...
    explicit_hydrogens : bool, default=False
        Whether hydrogens are added as nodes.
    stereo : bool, default=False
        Whether labels tell stereoisomers apart: a label becomes a pair with "R" or "S" for such an atom, and
        "double E" or "double Z" for such a bond.
    standardize : {"fragment", "charge", "tautomer"}, sequence of these, or None, default=None
        Steps of RDKit's standardizer, in this order: keep only the largest fragment, as of a salt; neutralize
        charged atoms where possible; take the canonical tautomer. ``graphs.standardized`` says how many
        molecules each step changed, and ``graphs.sources`` holds the SMILES of changed molecules.
    descriptors : {None, "rdkit"} or sequence of str, default=None
        Numbers of whole molecules, kept as ``graphs.descriptors``: none, all that RDKit computes by compiled
        functions (properties, surface areas, quantum numbers), or some of them by name, as "tpsa".
    ids : sequence, optional
        Ids of the molecules.
    errors : {"raise", "skip", "empty"}, default="raise"
        Whether a faulty molecule is an error, or left out, or a graph without nodes ("empty");
        ``graphs.skipped`` then says why, and with "skip" ``graphs.ids`` which are left.

    Returns
    -------
    GraphDatabase

    See Also
    --------
    from_smiles : From SMILES strings.

    References
    ----------
    D. Rogers, M. Hahn, *Extended-connectivity fingerprints*, Journal of Chemical Information and Modeling 50,
    2010 (the invariants and roles of atoms).

    Examples
    --------
    >>> import propkernels as pk
    >>> from rdkit import Chem
    >>> pk.from_rdkit([Chem.MolFromSmiles("CCO"), Chem.MolFromSmiles("c1ccccc1")])
    GraphDatabase(2 graphs, 9 nodes, 8 edges, 4 node labels, 2 edge labels)
    """
    if is_mol(mols):
        raise TypeError("from_rdkit takes a list of molecules; wrap the one molecule: [mol]")
    several = listed(mols, "molecules")
    faults = Faults(errors, len(several), ids, noun="molecule")
    steps, names = check_steps(standardize), check_wanted(descriptors)
    options = _Options(check_recipe(node_labels), edge_labels, explicit_hydrogens, stereo, steps, names)
    return convert(several, faults, options)


def from_smiles(
    smiles: Iterable[str | None],
    *,
    node_labels: Recipe = VIEWS,
    edge_labels: bool = True,
    explicit_hydrogens: bool = False,
    stereo: bool = False,
    standardize: str | Sequence[str] | None = None,
    descriptors: Wanted = None,
    ids: Column | None = None,
    errors: str = "raise",
    n_jobs: int | None = None,
) -> GraphDatabase:
    """Convert SMILES to a GraphDatabase.

    Parameters
    ----------
    smiles : sequence of str, such as a column of a pandas table
    node_labels, edge_labels, explicit_hydrogens, stereo, standardize, descriptors
        As for :func:`from_rdkit`.
    ids : sequence, optional
        Ids of the molecules.
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
    GraphDatabase(2 graphs, 9 nodes, 8 edges, 4 node labels, 2 edge labels)
    """
    if isinstance(smiles, (str, bytes)):
        raise TypeError("from_smiles takes a list of strings; wrap the one string: [smiles]")
    if hasattr(smiles, "columns"):
        raise TypeError(f"from_smiles takes one column, table[name], not a table of {list(smiles.columns)}")
    texts = listed(smiles.tolist() if hasattr(smiles, "tolist") else smiles, "SMILES strings")
    faults = Faults(errors, len(texts), ids, noun="molecule")
    steps, names = check_steps(standardize), check_wanted(descriptors)
    options = _Options(check_recipe(node_labels), edge_labels, explicit_hydrogens, stereo, steps, names)
    parts = list(_read_chunks(texts, options, n_jobs))
    return _assembled(texts, parts, options, faults)


def convert_smiles(smiles: list[Any], faults: Faults) -> GraphDatabase:
    """Return the database of a list of SMILES."""
    return _assembled(smiles, list(_read_chunks(smiles, _Options(), None)), _Options(), faults)


def is_mol(thing: Any) -> bool:
    """Return whether an object is an RDKit molecule, without importing RDKit."""
    return comes_from(thing, "rdkit.Chem") and hasattr(thing, "GetNumAtoms")


@dataclass(frozen=True)
class _Options:
    node_labels: Recipe = VIEWS
    edge_labels: bool = True
    explicit_hydrogens: bool = False
    stereo: bool = False
    steps: tuple[str, ...] = ()
    descriptors: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("edge_labels", "explicit_hydrogens", "stereo"):
            if not isinstance(value := getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name} must be True or False, got {shown(value)}")

    @property
    def needs_little(self) -> bool:
        """Whether atoms and bonds are enough: no stereochemistry, descriptors or function of atoms."""
        labels = self.node_labels if isinstance(self.node_labels, (tuple, list)) else (self.node_labels,)
        more = self.stereo or self.steps or self.descriptors or self.explicit_hydrogens
        return not more and all(isinstance(one, str) for one in labels)


@dataclass
class _Part:
    """Molecules as flat arrays; reasons for invalid molecules and SMILES of changed ones by position."""

    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    ends: NDArray[np.int64]  # of each bond, listed once
    labels: LabelColumn
    bonds: LabelColumn | None
    faults: dict[int, str]
    descriptors: NDArray[np.float64] | None
    forms: dict[int, str]
    changed: Counter[str]


def convert(mols: list[Any], faults: Faults, options: _Options | None = None) -> GraphDatabase:
    """Return the database of a list of molecules."""
    options = options or _Options()
    parts = [_extract(mols[i : i + CHUNK], options) for i in range(0, len(mols), CHUNK)]
    return _assembled(mols, parts, options, faults)


def _assembled(sources: list[Any], parts: list[_Part], options: _Options, faults: Faults) -> GraphDatabase:
    """Return the database of all parts, with the molecules or SMILES as ``sources``."""
    start, sources = 0, list(sources)
    for part in parts:
        for position, reason in part.faults.items():
            faults.add(start + position, reason)
        for position, smiles in part.forms.items():
            sources[start + position] = smiles
        start += len(part.sizes)
    ends = joined([part.ends for part in parts], np.empty((0, 2), dtype=np.int64))
    flat = FlatGraphs(
        joined([part.sizes for part in parts], integers([])),
        joined([part.counts for part in parts], integers([])),
        ends[:, 0].copy(),
        ends[:, 1].copy(),
        node_labels=LabelColumn.concat([part.labels for part in parts]),
        edge_labels=LabelColumn.concat([part.bonds for part in parts if part.bonds is not None])
        if options.edge_labels
        else None,
    )
    graphs = build(flat, faults)
    if options.descriptors is not None:
        rows = joined([part.descriptors for part in parts], np.zeros((0, len(options.descriptors))))
        skipped, graphs = graphs.skipped, graphs.with_descriptors(rows[faults.present], options.descriptors)
        graphs.skipped = skipped
    graphs.sources = [source for source, kept in zip(sources, faults.present.tolist(), strict=True) if kept]
    total: Counter[str] = sum((part.changed for part in parts), Counter())
    graphs.standardized = {step: total[step] for step in options.steps}
    return graphs


def _read_chunks(texts: list[Any], options: _Options, n_jobs: int | None) -> Iterator[_Part]:
    """Yield the parts of the list in order."""
    chunks = [texts[i : i + CHUNK] for i in range(0, len(texts), CHUNK)]
    n_jobs = check_n_jobs(n_jobs)
    if n_jobs in (None, 1) or len(chunks) < 2:
        yield from (_read(chunk, options) for chunk in chunks)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_read)(chunk, options) for chunk in chunks
    )


def _read(texts: Sequence[Any], options: _Options) -> _Part:
    chem, base = load_rdkit(), load_rdkit("rdkit.rdBase")
    with base.BlockLogs():
        parse = parse_atoms_and_bonds if options.needs_little else parse_smiles
        mols = [parse(chem, text) for text in texts]
        reasons = {i: why_not(chem, texts[i]) for i, mol in enumerate(mols) if mol is None}
    part = _extract(mols, options)
    part.faults |= reasons
    return part


def why_not(chem: Any, text: Any) -> str:
    """Return the reason why a text is not a valid molecule."""
    if text is None:
        return "the SMILES string is missing"
    if not isinstance(text, str):
        return f"{shown(text)} is not a SMILES string"
    if not text.strip():
        return "the SMILES string is empty"
    short = text if len(text) <= 60 else text[:57] + "..."
    mol = parse_smiles(chem, text, sanitize=False)
    try:
        problems = [] if mol is None else chem.DetectChemistryProblems(mol)
    except Exception as error:
        return f"{short!r} is not a possible molecule: {rdkit_reason(error)}"
    if problems:
        return f"{short!r} is not a possible molecule: {problems[0].Message()}"
    return f"{short!r} cannot be read as SMILES"


def _extract(mols: Sequence[Any], options: _Options) -> _Part:
    """Return atoms and bonds of molecules; molecules that cause an RDKit error are faults without atoms."""
    faults: dict[int, str] = {}
    forms: dict[int, str] = {}
    changed: Counter[str] = Counter()
    usable, labels, bonds, counts = [], [], [], []
    with load_rdkit("rdkit.rdBase").BlockLogs():
        for i, mol in enumerate(mols):
            own: tuple[Any, list[Any], list[Any]] = load_rdkit().Mol(), [], []
            try:
                if is_mol(mol):
                    own = _read_molecule(mol, i, options, forms, changed)
                else:
                    kind = f"is a {type(mol).__name__}"
                    faults[i] = "is None: RDKit could not read it" if mol is None else kind
            except MemoryError:
                raise
            except FunctionError as error:
                faults[i] = str(error)
            except Exception as error:
                faults[i] = rdkit_reason(error)
            usable.append(own[0])
            labels += own[1]
            bonds += own[2]
            counts.append((len(own[1]), len(own[2])))
        rows = None if options.descriptors is None else compute_descriptors(usable, options.descriptors)
    sizes, n_bonds = np.array(counts, dtype=np.int64).reshape(-1, 2).T
    ends = np.array([bond[:2] for bond in bonds], dtype=np.int64).reshape(-1, 2)
    types = LabelColumn.from_values([kind for *_, kind in bonds]) if options.edge_labels else None
    kinds: dict[Any, int] = {}
    ids = np.array([kinds.setdefault(label, len(kinds)) for label in labels], dtype=np.int64)
    column = LabelColumn.from_values(object_array(list(kinds))).take(ids)
    return _Part(sizes, n_bonds, ends, column, types, faults, rows, forms, changed)


def _read_molecule(
    mol: Any, position: int, options: _Options, forms: dict[int, str], changed: Counter[str]
) -> tuple[Any, list[Any], list[Any]]:
    """Return a molecule as it is read, the label of each atom, and (begin, end, type) of each bond."""
    chem = load_rdkit()
    form = standard_form(mol, options.steps, changed) if options.steps else None
    if form is not None:
        forms[position], mol = form, chem.MolFromSmiles(form)
    if options.explicit_hydrogens:
        mol = chem.AddHs(mol)
    if options.stereo:
        mol = chem.Mol(mol)
        chem.AssignStereochemistry(mol, cleanIt=True, force=True)
    labels = atom_labels(mol, options.node_labels, options.stereo)
    every = _bonds_of(mol)
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), _bond_name(b.GetBondType())) for b in every]
    for i, bond in enumerate(every if options.stereo else ()):
        side = SIDES.get(bond.GetStereo().name)
        if side is not None:
            bonds[i] = (*bonds[i][:2], f"{bonds[i][2]} {side}")
    return mol, labels, bonds


def _bonds_of(mol: Any) -> list[Any]:
    """Return the bonds of a molecule in order; RDKit finds one by its number by counting from the first."""
    if mol.GetNumBonds() < 1000:
        return list(mol.GetBonds())
    by_number = {bond.GetIdx(): bond for atom in mol.GetAtoms() for bond in atom.GetBonds()}
    return [by_number[number] for number in range(len(by_number))]


@cache
def _bond_name(kind: Any) -> str:
    return str(kind.name.lower())


def check_steps(steps: Any) -> tuple[str, ...]:
    """Return the steps of standardization in the order in which they are applied; None: no steps."""
    if steps is None:
        return ()
    several = list(steps) if isinstance(steps, Iterable) and not isinstance(steps, str) else [steps]
    for step in several:
        if not isinstance(step, str) or step not in STEPS:
            names = ", ".join(map(repr, STEPS))
            raise ValueError(f"standardize must be None or some of {names}, got {shown(step)}")
    return tuple(step for step in STEPS if step in several)


def standard_form(mol: Any, steps: Sequence[str], changed: Counter[str]) -> str | None:
    """Return the SMILES of the standard form of a molecule, or None if no step changes it.

    ``changed`` counts the steps that change molecules.

    Examples
    --------
    >>> from rdkit import Chem
    >>> changed = Counter()
    >>> salt = Chem.MolFromSmiles("CC(=O)[O-].[Na+]")
    >>> standard_form(salt, ("fragment", "charge"), changed), dict(changed)
    ('CC(=O)O', {'fragment': 1, 'charge': 1})
    """
    chem, apply = load_rdkit(), _standardizers()
    before = first = chem.MolToSmiles(mol)
    for step in steps:
        if step == FRAGMENT and "." not in before:
            continue
        mol = apply[step](mol)
        after = chem.MolToSmiles(mol)
        changed[step] += after != before
        before = after
    return None if before == first else str(before)


@cache
def _standardizers() -> dict[str, Callable[[Any], Any]]:
    """Return the function of each step."""
    standard = load_rdkit("rdkit.Chem.MolStandardize.rdMolStandardize")
    return {
        FRAGMENT: standard.LargestFragmentChooser().choose,
        CHARGE: standard.Uncharger().uncharge,
        TAUTOMER: standard.TautomerEnumerator().Canonicalize,
    }


def check_recipe(recipe: Any) -> Recipe:
    """Return a validated recipe of labels, or several."""
    several = list(recipe) if isinstance(recipe, (tuple, list)) else [recipe]
    for one in several:
        if not (callable(one) or (isinstance(one, str) and one in RECIPES)):
            names = ", ".join(map(repr, RECIPES))
            raise ValueError(f"node_labels must be one of {names}, a function, or several, got {shown(one)}")
    if not several:
        raise ValueError("node_labels must name at least one recipe, got none")
    return recipe


class FunctionError(ValueError):
    """An error of a function of atoms."""


def atom_labels(mol: Any, recipe: Recipe, stereo: bool) -> list[Any]:
    """Return the label of each atom of a molecule; raises what RDKit raises, or FunctionError.

    Parameters
    ----------
    mol : rdkit.Chem.Mol
    recipe : str, callable, or sequence of these
        With several recipes, a label is the tuple of their labels, or None if one of them is None.
    stereo : bool
        Whether labels distinguish chiral atoms.
    """
    if isinstance(recipe, str) or callable(recipe):
        return _labels_by(recipe, mol, stereo)
    rows = zip(*(_labels_by(one, mol, stereo) for one in recipe), strict=True)
    if all(isinstance(one, str) for one in recipe):
        return list(rows)
    return [None if any(label is None for label in row) else row for row in rows]


def _labels_by(recipe: One, mol: Any, stereo: bool) -> list[Any]:
    labels: list[Any]
    if recipe == "pharmacophore":
        bits = load_rdkit("rdkit.Chem.rdMolDescriptors").GetFeatureInvariants(mol)
        labels = list(map(_role_names, bits))
    elif isinstance(recipe, str):
        labels = list(map(BY_ATOM[recipe], mol.GetAtoms()))
    else:
        try:
            labels = [recipe(atom) for atom in mol.GetAtoms()]
            hash(tuple(labels))
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            kind = f"{type(error).__name__}{': ' if text else ''}{text}"
            raise FunctionError(f"the function node_labels raises {kind}") from None
    for i, atom in enumerate(mol.GetAtoms() if stereo else ()):
        if atom.HasProp("_CIPCode"):
            labels[i] = (labels[i], atom.GetProp("_CIPCode"))
    return labels


@cache
def _role_names(bits: int) -> str:
    return "+".join(name for i, name in enumerate(ROLES) if bits >> i & 1) or "none"


def _symbol_and_ring(atom: Any) -> str:
    symbol: str = atom.GetSymbol()
    return symbol.lower() if atom.GetIsAromatic() else symbol


def _invariants(atom: Any) -> tuple[int, ...]:
    """Return the seven Daylight invariants of an atom (Rogers and Hahn 2010, "Initial assignment")."""
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


BY_ATOM: dict[str, Callable[[Any], Any]] = {
    "symbol": lambda atom: atom.GetSymbol(),
    "symbol+aromatic": _symbol_and_ring,
    "invariants": _invariants,
}


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
    several = [Group(tuple(properties.GetPropertyNames()), properties.ComputeProperties)]
    for name, compute in [*areas.items(), ("MQN", rdkit.MQNs_)]:
        names = tuple(f"{name}{i + 1}" for i in range(len(compute(ethane))))
        several.append(Group(names, compute))
    return tuple(several)


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
    with suppress(RuntimeError, ValueError):
        if mol.GetNumAtoms():
            return list(group.compute(mol))
    return [np.nan] * len(group.names)

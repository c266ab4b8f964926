"""Crystals: known coordination numbers, and graphs that do not depend on how a cell is described."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.crystals import Crystal, neighbors

PERIODIC = np.ones(3, dtype=bool)
FCC = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2
BCC = np.array([[-1, 1, 1], [1, -1, 1], [1, 1, -1]]) / 2
# lattice, places, symbols, coordination numbers
KNOWN = {
    "copper": (FCC, [[0, 0, 0]], ["Cu"], [12]),
    "iron": (BCC, [[0, 0, 0]], ["Fe"], [8]),
    "polonium": (np.eye(3), [[0, 0, 0]], ["Po"], [6]),
    "diamond": (FCC, [[0, 0, 0], [0.25, 0.25, 0.25]], ["C", "C"], [4, 4]),
    "rock salt": (FCC, [[0, 0, 0], [0.5, 0.5, 0.5]], ["Na", "Cl"], [6, 6]),
    "cesium chloride": (np.eye(3), [[0, 0, 0], [0.5, 0.5, 0.5]], ["Cs", "Cl"], [8, 8]),
}


class Site(SimpleNamespace):
    is_ordered = True


class Structure(list):
    """As much of a structure of pymatgen as is read."""

    def __init__(self, lattice, places, symbols):
        super().__init__(Site(specie=SimpleNamespace(symbol=symbol)) for symbol in symbols)
        self.lattice = SimpleNamespace(matrix=np.asarray(lattice, dtype=float))
        self.frac_coords = np.asarray(places, dtype=float)


def naive_pairs(crystal, tolerance):
    """Numbers of neighbors of each pair of atoms, from all images in seven cells each way."""
    points = crystal.places @ crystal.lattice
    steps = np.arange(-3, 4)
    shifts = [np.array([a, b, c]) * crystal.is_periodic for a in steps for b in steps for c in steps]
    shifts = np.unique(shifts, axis=0) @ crystal.lattice
    distances = np.linalg.norm(points[None, None] + shifts[:, None, None] - points[None, :, None], axis=3)
    nearest = np.where(distances > 1e-9, distances, np.inf).min(axis=(0, 2))
    limit = (1 + tolerance) * np.maximum(nearest[:, None], nearest[None]) * (1 + 1e-9)
    return ((distances <= limit) & (distances > 1e-9)).sum(axis=0)


@pytest.mark.parametrize("name", KNOWN)
def test_coordination_numbers(name):
    lattice, places, symbols, expected = KNOWN[name]
    graphs = pk.from_pymatgen([Structure(3.7 * lattice, places, symbols)])
    assert graphs.degrees.tolist() == expected
    assert list(graphs.node_labels) == symbols


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("periodic", [(True, True, True), (True, False, True), (False, False, False)])
def test_neighbors_are_those_of_all_images(seed, periodic):
    rng = np.random.default_rng(seed)
    lattice = np.diag(rng.uniform(2, 4, 3)) + rng.normal(0, 0.4, (3, 3))
    crystal = Crystal(lattice, rng.random((5, 3)), np.array(periodic), ["X"] * 5)
    found = np.zeros((5, 5))
    pairs = neighbors(crystal, 0.2, None)
    found[pairs.source, pairs.target] = pairs.number
    np.testing.assert_array_equal(found, naive_pairs(crystal, 0.2))


def test_cutoff_replaces_the_tolerance():
    crystal = Crystal(np.eye(3), np.zeros((1, 3)), PERIODIC, ["Po"])
    assert neighbors(crystal, 0.1, 1.01).number.tolist() == [6]
    assert neighbors(crystal, 0.1, 1.5).number.tolist() == [18]
    assert len(neighbors(crystal, 0.1, 0.5).number) == 0


def test_descriptions_of_one_crystal_have_one_hash():
    rng = np.random.default_rng(0)
    lattice, places = np.diag([3.0, 4.1, 5.3]), rng.random((6, 3))
    symbols = ["A", "B", "A", "C", "B", "B"]
    order = rng.permutation(6)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    same = [
        Structure(lattice, places, symbols),
        Structure(2.5 * lattice @ turn, places + [0.3, -0.7, 5.0], symbols),
        Structure(lattice, places[order], [symbols[i] for i in order]),
        Structure(
            np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]]) @ lattice,
            places @ [[1, 0, 0], [-1, 1, 0], [0, 0, 1]],
            symbols,
        ),
    ]
    graphs = pk.from_pymatgen([*same, Structure(lattice, places, symbols[::-1])])
    hashes = pk.graph_hash(graphs)
    assert len(set(hashes[:4])) == 1
    assert len(set(hashes)) == 2
    assert len(pk.unique(graphs)) == 2


def test_invalid_structures_are_named():
    good = Structure(np.eye(3), [[0, 0, 0]], ["Po"])
    flat = Structure(np.zeros((3, 3)), [[0, 0, 0]], ["Po"])
    with pytest.raises(ValueError, match="structure 1 is not a structure of pymatgen"):
        pk.from_pymatgen([good, flat])
    twice = Structure(np.eye(3), [[0, 0, 0], [1, 0, 0]], ["Po", "Po"])
    with pytest.raises(ValueError, match="same place"):
        pk.from_pymatgen([twice])
    with pytest.warns(UserWarning, match="skipped 2 of 3 structures"):
        kept = pk.from_pymatgen([flat, good, object()], errors="skip")
    assert len(kept) == 1
    assert "no volume" in kept.skipped[0]
    with pytest.raises(TypeError, match="wrap the one structure"):
        pk.from_pymatgen(good)
    with pytest.raises(ValueError, match="cutoff"):
        pk.from_pymatgen([good], cutoff=0)


def test_atoms_of_ase():
    build = pytest.importorskip("ase.build")
    ase = pytest.importorskip("ase")
    graphs = pk.from_ase(
        [build.bulk("Cu"), build.bulk("NaCl", "rocksalt", a=5.64, cubic=True), build.molecule("CH4")]
    )
    assert graphs.degrees.tolist() == [12, *[6] * 8, 4, 1, 1, 1, 1]
    chain = ase.Atoms("H2", positions=[[0, 0, 0], [1, 0, 0]], cell=[2, 0, 0], pbc=[True, False, False])
    assert pk.from_ase([chain]).degrees.tolist() == [2, 2]


@pytest.mark.slow
def test_prototypes_of_pymatgen_and_their_copies():
    """Every prototype has the hash of its strained, shifted and reordered copy."""
    prototypes = pytest.importorskip("pymatgen.analysis.prototypes")
    structures = [one["snl"].structure for one in prototypes.AFLOW_PROTOTYPE_LIBRARY]
    rng = np.random.default_rng(0)
    copies = []
    for structure in structures:
        copy = structure.copy()
        copy.apply_strain(0.01)
        copy.translate_sites(range(len(copy)), rng.random(3))
        copies.append(type(copy).from_sites([copy[int(i)] for i in rng.permutation(len(copy))]))
    graphs = pk.from_pymatgen(structures)
    hashes = pk.graph_hash(graphs)
    assert hashes == pk.graph_hash(pk.from_pymatgen(copies))
    assert len(set(hashes)) > 0.9 * len(hashes)


@pytest.mark.parametrize("is_periodic", [True, False])
def test_memory_is_in_proportion_to_the_atoms(is_periodic):
    """A search within the length of the cell would find all pairs of atoms."""
    n = 4000
    places = np.random.default_rng(0).random((n, 3))
    crystal = Crystal(np.eye(3) * 16, places, np.full(3, is_periodic), ["X"] * n)
    tracemalloc.start()
    pairs = neighbors(crystal, 0.1, None)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n <= len(pairs.source) <= 4 * n
    assert most < n * n * 8


def test_an_atom_far_away_has_the_nearest_as_neighbor():
    places = np.array([[0.0, 0, 0], [1, 0, 0], [500, 0, 0]])
    pairs = neighbors(Crystal(np.eye(3), places, np.zeros(3, dtype=bool), ["X"] * 3), 0.0, None)
    assert list(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 2),
        (2, 1),
    ]


@pytest.mark.parametrize("value", [1e200, np.inf, np.nan])
def test_coordinates_that_cannot_be_squared_are_refused(value):
    with pytest.raises(ValueError, match="coordinates must be finite, and at most 1e"):
        pk.from_pymatgen([Structure(np.eye(3), [[0, 0, 0], [value, 0, 0]], ["A", "B"])])


@pytest.mark.parametrize("options", [{"cutoff": 1e308}, {"tolerance": 1e308}])
def test_a_reach_without_bound_is_refused(options):
    with pytest.raises(MemoryError, match="use a smaller cutoff"):
        pk.from_pymatgen([Structure(np.eye(3), [[0, 0, 0]], ["A"])], **options)

"""Plans and their parts: the graphs, targets and ids of the whole, from nothing but the files."""

import pickle
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import propkernels as pk
from propkernels.datasets import open_source
from propkernels.datasets.tables import Reading
from propkernels.scale import readers
from propkernels.scale.partition import iter_part, plan_sources
from tests.kinds_of_input import CLASSES, N_GRAPHS, SMILES, save, write_kind

from .conftest import graphs_of


def is_missing(value):
    return isinstance(value, float) and np.isnan(value)


def write_table_of_parquet(folder):
    """Molecules whose targets have gaps, with a column of codes and one that is not read."""
    codes = pa.array([f"m{i % 3}" for i in range(N_GRAPHS)]).dictionary_encode()
    targets = [None if i == 4 else i / 2 for i in range(N_GRAPHS)]
    table = pa.table({"smiles": SMILES, "active": targets, "code": codes, "more": [[1]] * N_GRAPHS})
    pq.write_table(table, folder / "drugs.parquet", row_group_size=3)
    return folder / "drugs.parquet"


def write(kind, folder):
    pytest.importorskip("rdkit")
    return write_table_of_parquet(folder) if kind == "parquet table" else write_kind(kind, folder)


KINDS = ("tu", "zip", "parquet", "csv", "tsv", "sdf", "smi", "parquet table")


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_of_every_kind_of_source_are_the_whole(kind, tmp_path):
    path, how = write(kind, tmp_path), {"target_required": False}
    whole, plan = open_source(path, **how), pk.scale.partition(path, nodes_per_part=15)
    assert len(plan) > 2
    blocks = [block for part in plan for block in iter_part(part)]
    joined = pk.GraphDatabase.concat([block.graphs for block in blocks])
    assert joined.with_ids(None) == whole.graphs.with_ids(None)
    assert np.concatenate([block.ids for block in blocks]).tolist() == list(range(N_GRAPHS))
    if whole.target.size:
        found = [y for block in blocks for y in block.target]
        assert found == [None if is_missing(y) else y for y in whole.target.tolist()]
    assert sum(part.n_nodes for part in plan) >= whole.graphs.n_nodes or kind == "parquet table"
    assert all(part.n_nodes <= 15 or len(part) == 1 for part in plan) or kind in ("parquet", "parquet table")
    spans = [row for part in plan for row in range(part.first, part.last)]
    assert len(spans) == len(set(spans)) >= N_GRAPHS


@pytest.mark.parametrize("kind", ["csv", "sdf", "parquet table"])
def test_names_are_those_of_a_column_or_property(kind, tmp_path):
    path = write(kind, tmp_path)
    how = Reading(id_column="active" if kind == "sdf" else "code", target_required=False)
    plan = plan_sources(path, 15, how)
    found = [name for part in plan for block in iter_part(part) for name in block.names]
    assert found == open_source(path, id_column=how.id_column, target_required=False).graphs.ids.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_source_is_noticed(kind, tmp_path):
    path = write(kind, tmp_path)
    plan = pk.scale.partition(path, nodes_per_part=15)
    assert sum(len(block.graphs) for block in iter_part(plan.parts[-1])) == len(plan.parts[-1])
    changed = path / "SMALL_graph_labels.txt" if kind == "tu" else path
    data = changed.read_bytes()
    changed.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ValueError, match=f"{path.name} has changed since the plan was made"):
        list(iter_part(plan.parts[-1]))
    if path.is_file():
        path.unlink()
        with pytest.raises(FileNotFoundError, match="is missing: restore it"):
            list(iter_part(plan.parts[0]))


@pytest.mark.parametrize("kind", ["csv", "smi", "sdf"])
def test_faulty_molecules_are_left_out_or_named(kind, tmp_path):
    path = write(kind, tmp_path)
    if kind == "sdf":
        records = path.read_bytes().split(b"$$$$\n")
        records[2] = b"broken\n\n\n nonsense\nM  END\n"
        path.write_bytes(b"$$$$\n".join(records))
    else:
        path.write_text(path.read_text().replace(SMILES[2], "not", 1))
    with pytest.warns(UserWarning, match="skipped 1 of 12"):
        ((graphs, _, ids),) = graphs_of(pk.scale.partition(path, errors="skip"))[0]
    assert (len(graphs), ids.tolist()) == (11, [0, 1, *range(3, 12)])
    with pytest.raises(ValueError, match="molecule 2"):
        graphs_of(pk.scale.partition(path))


@pytest.mark.slow
@pytest.mark.parametrize("nodes_per_part", [1, 30, 260, 10**9])
@pytest.mark.parametrize("row_group_size", [1, 7, 100])
def test_parts_of_any_size(molecules, tmp_path, nodes_per_part, row_group_size):
    path = tmp_path / "graphs.parquet"
    molecules.graphs.to_parquet(path, target=molecules.target, row_group_size=row_group_size)
    plan = pk.scale.partition(path, nodes_per_part)
    assert all(len(part) for part in plan)
    blocks = [block for part in graphs_of(plan) for block in part]
    assert pk.GraphDatabase.concat([graphs for graphs, _, _ in blocks]) == molecules.graphs
    assert [y for _, target, _ in blocks for y in target] == molecules.target.tolist()
    assert np.concatenate([ids for _, _, ids in blocks]).tolist() == list(range(60))


@pytest.mark.parametrize("kind", ["graphs", "molecules"])
@pytest.mark.parametrize("row_group_size", [3, 100])
def test_rows_without_nodes_are_cut_and_read_by_their_number(monkeypatch, tmp_path, kind, row_group_size):
    monkeypatch.setattr(readers, "MOST_ROWS", 8)
    monkeypatch.setattr(readers, "BLOCK_NODES", 5)
    nothing = pa.array([[]] * 20, pa.list_(pa.int64()))
    graphs = {"n_nodes": np.zeros(20, dtype=int), "source": nothing, "target": nothing}
    table = pa.table(graphs if kind == "graphs" else {"smiles": [""] * 20})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=row_group_size)
    plan = pk.scale.partition(tmp_path / "x.parquet", errors="empty")
    sizes = [len(part) for part in plan]
    assert (max(sizes), sum(sizes)) == (8, 20)
    if kind == "graphs":
        assert max(len(block.graphs) for part in plan for block in iter_part(part)) <= 5


def test_folders_are_sorted_lists_are_not_and_results_are_no_graphs(molecules, features, tmp_path):
    for name in ("b", "a"):
        molecules.graphs.to_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "README.txt").write_text("not graphs")
    before = pk.scale.partition(tmp_path)
    assert [part.path.rpartition("/")[2] for part in before] == ["a.parquet", "b.parquet"]
    plan = pk.scale.partition([tmp_path / "b.parquet", tmp_path / "a.parquet"])
    assert [part.path.rpartition("/")[2] for part in plan] == ["b.parquet", "a.parquet"]
    assert [part.first_id for part in plan] == [0, 60]
    pk.featurize(before, features, tmp_path / "features")
    assert pk.scale.partition(tmp_path) == before


TYPES = [
    (["0", "1"], "int64", [0, 1]),
    (["0.5", "1"], "double", [0.5, 1.0]),
    (["0", ""], "double", [0.0, None]),
    (["a", "1"], "string", ["a", "1"]),
    (["nan", "1"], "double", [None, 1.0]),
]


@pytest.mark.parametrize(("cells", "kind", "values"), TYPES)
def test_types_of_targets_are_those_of_the_whole_table(tmp_path, cells, kind, values):
    pytest.importorskip("rdkit")
    path = tmp_path / "drugs.tsv"
    path.write_text(f"smiles\ttarget\nCC\t{cells[0]}\nCO\t{cells[1]}\n")
    plan = pk.scale.partition(path, nodes_per_part=1)
    assert [part.target for part in plan] == [kind, kind]
    assert [block[1] for part in graphs_of(plan) for block in part] == [[value] for value in values]


def test_the_usual_name_of_the_target_is_that_of_the_whole_file(tmp_path):
    """A molecule without it has no target, also if it has another property with a usual name."""
    path = write("sdf", tmp_path)
    records = path.read_bytes().split(b"$$$$\n")
    records[1] = records[1].replace(b"<active>", b"<Label>").replace(CLASSES[1].encode(), b"text")
    path.write_bytes(b"$$$$\n".join(records))
    plan = pk.scale.partition(path, nodes_per_part=8)
    found = [y for part in plan for block in iter_part(part) for y in block.target]
    assert found == open_source(path).target.tolist() == [None, "text", *[None] * 10]
    chosen = pk.scale.partition(path, nodes_per_part=8, target_column="active")
    found = [y for part in chosen for block in iter_part(part) for y in block.target]
    assert found[:3] == [CLASSES[0], None, CLASSES[0]]


def test_targets_of_several_files_have_one_type(molecules, tmp_path):
    for name, target in (("a", molecules.target), ("b", molecules.target / 2), ("c", None)):
        molecules.graphs.to_parquet(tmp_path / f"{name}.parquet", target=target)
    assert {part.target for part in pk.scale.partition(tmp_path)} == {"double"}
    pairs = np.stack([molecules.target, molecules.target], axis=1)
    molecules.graphs.to_parquet(tmp_path / "d.parquet", target=pairs)
    with pytest.raises(ValueError, match="one target per graph and others several"):
        pk.scale.partition(tmp_path)
    molecules.graphs.to_parquet(tmp_path / "d.parquet", target=molecules.target.astype(str))
    assert {part.target for part in pk.scale.partition(tmp_path)} == {"string"}


def test_sets_of_the_data_folder_and_files_that_are_hidden(molecules, tmp_path, monkeypatch):
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    pairs = np.stack([molecules.target, molecules.target / 2], axis=1)
    save(replace(molecules, name="PAIRS", target=pairs), tmp_path / "PAIRS")
    plan = pk.scale.partition("PAIRS", nodes_per_part=500)
    assert [y for part in graphs_of(plan) for block in part for y in block[1]] == pairs.tolist()
    (tmp_path / ".hidden.parquet").write_text("not a Parquet file")
    assert pk.scale.partition(tmp_path, nodes_per_part=500) == plan


WHOLE = {"n_nodes": [2], "source": [[0, 1]], "target": [[1, 0]]}
COLUMNS = [
    ({"n_nodes": [2.5]}, "'n_nodes' must hold non-negative integers"),
    ({"n_nodes": [None]}, "'n_nodes' must hold non-negative integers"),
    ({name: pa.array([], pa.int64()) for name in WHOLE}, r"no graphs were found in .*x\.parquet"),
    ({"y": [b"x"]}, "must hold numbers, strings or lists of numbers, not binary"),
]


@pytest.mark.parametrize(("changed", "message"), COLUMNS)
def test_columns_of_the_wrong_kind(tmp_path, changed, message):
    pq.write_table(pa.table(WHOLE | changed), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=message):
        pk.scale.partition(tmp_path / "x.parquet")


def test_a_plan_is_the_same_again(database, plan):
    again = pk.scale.partition(str(database), nodes_per_part=500)
    assert again == plan == pickle.loads(pickle.dumps(plan))
    assert repr(plan) == f"Plan(1 file, {len(plan)} parts, 60 graphs, {plan.n_nodes:,} nodes)"


def test_digests_do_not_depend_on_the_place_but_on_all_else(database, plan, tmp_path):
    moved = pk.scale.partition(shutil.copy(database, tmp_path / "moved.parquet"), nodes_per_part=500)
    assert moved != plan
    assert [part.digest({}) for part in moved] == [part.digest({}) for part in plan]
    part = plan.parts[0]
    others = [replace(part, last=3), replace(part, sha256="0" * 64), replace(part, reading=Reading())]
    found = {one.digest({}) for one in (part, *others)} | {part.digest({"t_max": 3})}
    assert len(found) == 5


REFUSED = [
    ("a.csv", "name,y\nx,1\n", {}, "no column of SMILES"),
    ("a.csv", "source,target\n0,1\n", {}, "no column of SMILES"),
    ("a.csv", "smiles,y\n", {}, "has no molecules"),
    ("a.csv", 'smiles\n"CC\n', {}, "never closed"),
    ("a.csv", "y,smiles\n1\n", {}, "instead of 2"),
    ("a.csv", b"smiles\n\xff\n", {}, "cannot be read as a table"),
    ("a.csv", "smiles,y\nCC,1\n", {"target_columns": ("z",)}, "has no column 'z'"),
    ("a.csv", "smiles,y,z\nCC,1,2\n", {"target_columns": ("y", "z")}, "one --target is possible"),
    ("a.csv", "smiles,y,z\nCC,1,2\n", {"edge_labels": "y"}, "--edge-labels does not apply"),
    ("a.smi", b"\xff\n", {}, "cannot be read as text"),
    ("a.smi", "", {}, "has no molecules"),
    ("a.sdf", "\n", {}, "has no molecules"),
    ("a.sdf", "M  END\n$$$$\n", {"target_columns": ("ki",)}, "has no column 'ki'"),
    ("a.parquet", "text", {}, "not a Parquet file"),
    ("a.zip", "text", {}, "not a zip file"),
    ("a.docx", "text", {}, r"a\.docx is not read part by part, only \.parquet, "),
]


@pytest.mark.parametrize(("name", "text", "options", "message"), REFUSED)
def test_files_that_cannot_be_read(tmp_path, name, text, options, message):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ValueError, match=message):
        plan_sources(path, 100, Reading(**{"target_required": False} | options))


def test_sources_that_are_not_there(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"missing\.parquet does not exist"):
        pk.scale.partition(tmp_path / "missing.parquet")
    with pytest.raises(ValueError, match="has no files that can be read"):
        pk.scale.partition(tmp_path)
    with pytest.raises(ValueError, match="empty list"):
        pk.scale.partition([])
    with pytest.raises(TypeError, match=r"partition reads files, got .*: write it to a Parquet file first"):
        pk.scale.partition({"smiles": SMILES})
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"smiles": pa.array([], pa.string())}), path)
    for read, message in ((pk.scale.partition, "has no molecules"), (open_source, "has no rows")):
        with pytest.raises(ValueError, match=message):
            read(path)
    monkeypatch.setattr("propkernels.datasets.tables.LONGEST_MOLECULE", 100)
    with pytest.raises(ValueError, match="record of over 100 bytes at byte 0"):
        pk.scale.partition(write("sdf", tmp_path))

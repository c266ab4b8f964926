"""Plans: what they hold, and that they depend on nothing but the files."""

import csv
import json
import shutil

import numpy as np
import pytest

import propkernels as pk
from propkernels.scale.reading_parts import SourceChangedError, iter_part


def graphs_of(plan):
    """All graphs of a plan, targets and ids, part by part."""
    return [[(b.graphs, b.target, b.ids) for b in iter_part(part)] for part in plan]


def test_parts_cover_all_rows_in_order(plan, molecules):
    assert [part.first for part in plan][1:] == [part.last for part in plan][:-1]
    assert (plan.parts[0].first, plan.parts[-1].last) == (0, 60)
    assert plan.n_graphs == 60
    assert plan.n_nodes == molecules.graphs.n_nodes
    assert all(part.n_nodes <= 500 for part in plan)
    assert len(plan) > 3


@pytest.mark.slow
@pytest.mark.parametrize("nodes_per_part", [1, 30, 100, 260, 10**9])
@pytest.mark.parametrize("row_group_size", [1, 7, 100])
def test_reading_the_parts_gives_the_database(molecules, tmp_path, nodes_per_part, row_group_size):
    path = tmp_path / "graphs.parquet"
    molecules.graphs.to_parquet(path, target=molecules.target, row_group_size=row_group_size)
    blocks = [block for part in graphs_of(pk.partition(path, nodes_per_part)) for block in part]
    ids = np.concatenate([ids for _, _, ids in blocks])
    assert ids.tolist() == list(range(60))
    assert [y for _, target, _ in blocks for y in target] == molecules.target.tolist()
    start = 0
    for graphs, _, _ in blocks:
        assert graphs == molecules.graphs[start : start + len(graphs)]
        start += len(graphs)
    assert start == 60


def test_a_plan_is_the_same_again_and_from_json(database, plan, tmp_path):
    assert pk.partition(str(database), nodes_per_part=500) == plan
    plan.save(tmp_path / "plan.json")
    again = pk.scale.Plan.load(tmp_path / "plan.json")
    assert again == plan
    assert again.digest == plan.digest
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plan.json").read_bytes()


def test_the_digest_does_not_depend_on_the_place(database, plan, tmp_path):
    moved = pk.partition(shutil.copy(database, tmp_path / "moved.parquet"), nodes_per_part=500)
    assert moved != plan
    assert moved.digest == plan.digest


def test_a_plan_is_printed_as_a_table(plan):
    assert repr(plan) == f"Plan(1 file, {len(plan)} parts, 60 graphs, {plan.n_nodes:,} nodes)"
    lines = str(plan).splitlines()
    assert lines[1].split() == ["part", "file", "rows", "nodes", "sha256"]
    assert len(lines) == len(plan) + 2


def test_folders_are_sorted_and_lists_are_not(molecules, tmp_path):
    for name in ("b", "a"):
        molecules.graphs.to_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "README.txt").write_text("not graphs")
    names = [part.path.rpartition("/")[2] for part in pk.partition(tmp_path)]
    assert names == ["a.parquet", "b.parquet"]
    plan = pk.partition([tmp_path / "b.parquet", tmp_path / "a.parquet"])
    assert [part.path.rpartition("/")[2] for part in plan] == ["b.parquet", "a.parquet"]
    assert [part.first_id for part in plan] == [0, 60]


def test_results_in_a_folder_are_not_graphs(molecules, features, tmp_path):
    molecules.graphs.to_parquet(tmp_path / "graphs.parquet")
    before = pk.partition(tmp_path)
    pk.featurize(before, features, tmp_path / "features")
    assert pk.partition(tmp_path) == before


@pytest.mark.parametrize("suffix", ["", ".zip"])
def test_tu_folders_and_zips(molecules, tmp_path, suffix):
    path = tmp_path / f"MINE{suffix}"
    pk.datasets.write_tu(molecules, path, "MINE")
    plan = pk.partition(path, nodes_per_part=500)
    assert {part.kind for part in plan} == {"tu"}
    assert len(plan) > 2
    blocks = [block for part in graphs_of(plan) for block in part]
    assert sum(len(graphs) for graphs, _, _ in blocks) == 60
    assert [y for _, target, _ in blocks for y in target] == molecules.target.tolist()
    data = pk.datasets.read_tu(path)
    assert blocks[1][0] == data.graphs[len(blocks[0][0]) : len(blocks[0][0]) + len(blocks[1][0])]


SMILES = ["CCO", "c1ccccc1", "C[NH3+]", "ClCCBr", "O=C(O)c1ccccc1", "N#N", "[Na+].[Cl-]"]


def test_tables_of_molecules(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "drugs.csv"
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "smiles", "active"])
        for i, smiles in enumerate(SMILES):
            writer.writerow([f'a "name",\nof {i}', smiles, i % 2])
    plan = pk.partition(path, nodes_per_part=8)
    assert len(plan) > 2
    blocks = [block for part in graphs_of(plan) for block in part]
    expected = pk.from_smiles(SMILES)
    assert [y for _, target, _ in blocks for y in target] == [0, 1, 0, 1, 0, 1, 0]
    assert np.concatenate([g.graph_sizes for g, _, _ in blocks]).tolist() == expected.graph_sizes.tolist()
    assert np.concatenate([ids for _, _, ids in blocks]).tolist() == list(range(7))


def test_smi_files_and_faulty_molecules(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "drugs.smi"
    path.write_text("CCO ethanol\n\nnot-a-molecule x\nCC ethane\n")
    plan = pk.partition(path, errors="skip")
    with pytest.warns(UserWarning, match="skipped 1 of 3"):
        ((graphs, target, ids),) = graphs_of(plan)[0]
    assert (len(graphs), target, ids.tolist()) == (2, None, [0, 2])
    with pytest.raises(ValueError, match="molecule 1"):
        graphs_of(pk.partition(path))


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["0", "1"], "int64", [0, 1]),
        (["0.5", "1"], "double", [0.5, 1.0]),
        (["0", ""], "double", [0.0, None]),
        (["a", "1"], "string", ["a", "1"]),
        (["nan", "1"], "double", [None, 1.0]),
    ],
)
def test_types_of_targets_are_those_of_the_whole_table(tmp_path, cells, kind, values):
    pytest.importorskip("rdkit")
    path = tmp_path / "drugs.tsv"
    path.write_text(
        "".join(f"{a}\t{b}\n" for a, b in [("smiles", "target"), ("CC", cells[0]), ("CO", cells[1])])
    )
    plan = pk.partition(path, nodes_per_part=1)
    assert [part.target for part in plan] == [kind, kind]
    assert [block[1] for part in graphs_of(plan) for block in part] == [[value] for value in values]


def test_targets_of_several_files_have_one_type(molecules, tmp_path):
    for name, target in (("a", molecules.target), ("b", molecules.target / 2), ("c", None)):
        molecules.graphs.to_parquet(tmp_path / f"{name}.parquet", target=target)
    assert {part.target for part in pk.partition(tmp_path)} == {"double"}
    pairs = np.stack([molecules.target, molecules.target], axis=1)
    molecules.graphs.to_parquet(tmp_path / "d.parquet", target=pairs)
    with pytest.raises(ValueError, match="one target per graph and others several"):
        pk.partition(tmp_path)


def test_a_changed_file_is_noticed(molecules, tmp_path):
    path = tmp_path / "graphs.parquet"
    molecules.graphs.to_parquet(path, row_group_size=10)
    plan = pk.partition(path, nodes_per_part=300)
    data = bytearray(path.read_bytes())
    data[40] ^= 1  # in the first row group: parts of others are as they were
    path.write_bytes(data)
    with pytest.raises(SourceChangedError, match=r"graphs.parquet has changed since the plan"):
        list(iter_part(plan.parts[0]))
    assert sum(len(block.graphs) for block in iter_part(plan.parts[-1])) == len(plan.parts[-1])
    molecules.graphs[:10].to_parquet(path)
    for part in plan:
        with pytest.raises(SourceChangedError):
            list(iter_part(part))
    path.unlink()
    with pytest.raises(FileNotFoundError, match="is missing: restore it"):
        list(iter_part(plan.parts[0]))


def test_a_changed_table_is_noticed(tmp_path):
    path = tmp_path / "drugs.smi"
    path.write_text("CCO\nCCN\n")
    plan = pk.partition(path)
    path.write_text("CCO\nCCC\n")
    with pytest.raises(SourceChangedError):
        list(iter_part(plan.parts[0]))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "name,y\nx,1\n", "no column of SMILES"),
        ("a.csv", "smiles,y\n", "has no molecules"),
        ("a.csv", 'smiles\n"CC\n', "never closed"),
        ("a.csv", "y,smiles\n1\n", "instead of 2"),
        ("a.csv", b"smiles\n\xff\n", "cannot be read as a table"),
        ("a.smi", b"\xff\n", "cannot be read as text"),
        ("a.smi", "", "has no molecules"),
        ("a.parquet", "text", "not a Parquet file"),
        ("a.zip", "text", "not a zip file"),
        ("a.docx", "text", "has an unsupported format"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ValueError, match=message):
        pk.partition(path)


def test_sources_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.parquet does not exist"):
        pk.partition(tmp_path / "missing.parquet")
    with pytest.raises(ValueError, match="holds no files of graphs"):
        pk.partition(tmp_path)
    with pytest.raises(ValueError, match="empty list"):
        pk.partition([])
    (tmp_path / "a.csv").write_text("smiles,y\nCC,1\n")
    with pytest.raises(ValueError, match="has no column 'z'"):
        pk.partition(tmp_path, target_column="z")


@pytest.mark.parametrize(
    "change",
    [
        lambda known: known.update(version=2),
        lambda known: known.update(format="other"),
        lambda known: known.pop("parts"),
        lambda known: known["parts"][0].update(first=-1),
        lambda known: known["parts"][0].update(last="x"),
        lambda known: known["parts"][0].update(path=7),
        lambda known: known["parts"][0].update(extra=7),
        lambda known: known["parts"][0].update(target="object"),
        lambda known: known["parts"][0].update(span=[1]),
    ],
)
def test_a_damaged_plan_is_refused(plan, tmp_path, change):
    plan.save(tmp_path / "plan.json")
    known = json.loads((tmp_path / "plan.json").read_text())
    change(known)
    (tmp_path / "plan.json").write_text(json.dumps(known))
    with pytest.raises(ValueError, match="not a plan of propkernels, or it is damaged"):
        pk.scale.Plan.load(tmp_path / "plan.json")


@pytest.mark.parametrize("name", ["path", "reading"])
def test_places_before_the_first_are_not_the_last(plan, tmp_path, name):
    plan.save(tmp_path / "plan.json")
    known = json.loads((tmp_path / "plan.json").read_text())
    known["parts"][0][name] = -1
    (tmp_path / "plan.json").write_text(json.dumps(known))
    with pytest.raises(ValueError, match="-1 is not an integer"):
        pk.scale.Plan.load(tmp_path / "plan.json")

"""Plans: what they hold, and that they depend on nothing but the files."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.scale.partition import SourceChangedError, iter_part

from .conftest import graphs_of


@pytest.mark.slow
@pytest.mark.parametrize("nodes_per_part", [1, 30, 100, 260, 10**9])
@pytest.mark.parametrize("row_group_size", [1, 7, 100])
def test_reading_the_parts_gives_the_database(molecules, tmp_path, nodes_per_part, row_group_size):
    path = tmp_path / "graphs.parquet"
    molecules.graphs.to_parquet(path, target=molecules.target, row_group_size=row_group_size)
    blocks = [block for part in graphs_of(pk.scale.partition(path, nodes_per_part)) for block in part]
    ids = np.concatenate([ids for _, _, ids in blocks])
    assert ids.tolist() == list(range(60))
    assert [y for _, target, _ in blocks for y in target] == molecules.target.tolist()
    start = 0
    for graphs, _, _ in blocks:
        assert graphs == molecules.graphs[start : start + len(graphs)]
        start += len(graphs)
    assert start == 60


def test_folders_are_sorted_and_lists_are_not(molecules, tmp_path):
    for name in ("b", "a"):
        molecules.graphs.to_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "README.txt").write_text("not graphs")
    names = [part.path.rpartition("/")[2] for part in pk.scale.partition(tmp_path)]
    assert names == ["a.parquet", "b.parquet"]
    plan = pk.scale.partition([tmp_path / "b.parquet", tmp_path / "a.parquet"])
    assert [part.path.rpartition("/")[2] for part in plan] == ["b.parquet", "a.parquet"]
    assert [part.first_id for part in plan] == [0, 60]


def test_results_in_a_folder_are_not_graphs(molecules, features, tmp_path):
    molecules.graphs.to_parquet(tmp_path / "graphs.parquet")
    before = pk.scale.partition(tmp_path)
    pk.featurize(before, features, tmp_path / "features")
    assert pk.scale.partition(tmp_path) == before


@pytest.mark.parametrize("suffix", ["", ".zip"])
def test_tu_folders_and_zips(molecules, tmp_path, suffix):
    path = tmp_path / f"MINE{suffix}"
    pk.datasets.write_tu(molecules, path, "MINE")
    plan = pk.scale.partition(path, nodes_per_part=500)
    assert {part.kind for part in plan} == {"tu"}
    assert len(plan) > 2
    assert all(part.n_nodes <= 500 or len(part) == 1 for part in plan)
    blocks = [block for part in graphs_of(plan) for block in part]
    assert sum(len(graphs) for graphs, _, _ in blocks) == 60
    assert [y for _, target, _ in blocks for y in target] == molecules.target.tolist()
    data = pk.datasets.read_tu(path)
    assert blocks[1][0] == data.graphs[len(blocks[0][0]) : len(blocks[0][0]) + len(blocks[1][0])]


def test_targets_of_several_files_have_one_type(molecules, tmp_path):
    for name, target in (("a", molecules.target), ("b", molecules.target / 2), ("c", None)):
        molecules.graphs.to_parquet(tmp_path / f"{name}.parquet", target=target)
    assert {part.target for part in pk.scale.partition(tmp_path)} == {"double"}
    pairs = np.stack([molecules.target, molecules.target], axis=1)
    molecules.graphs.to_parquet(tmp_path / "d.parquet", target=pairs)
    with pytest.raises(ValueError, match="one target per graph and others several"):
        pk.scale.partition(tmp_path)


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
        ("a.docx", "text", r"a\.docx is not read part by part, only \.parquet, "),
        ("a.csv", "source,target\n0,1\n", "no column of SMILES"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ValueError, match=message):
        pk.scale.partition(path)


def test_sources_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.parquet does not exist"):
        pk.scale.partition(tmp_path / "missing.parquet")
    with pytest.raises(ValueError, match="has no files that can be read"):
        pk.scale.partition(tmp_path)
    with pytest.raises(ValueError, match="empty list"):
        pk.scale.partition([])
    (tmp_path / "a.csv").write_text("smiles,y\nCC,1\n")
    with pytest.raises(ValueError, match="has no column 'z'"):
        pk.scale.partition(tmp_path, target_column="z")


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_changed_source_is_noticed(molecules, tmp_path, kind):
    path = tmp_path / "graphs.parquet"
    if kind == "file":
        molecules.graphs.to_parquet(path, row_group_size=10)
    else:
        path = tmp_path / "MINE"
        pk.datasets.write_tu(molecules, path, "MINE")
    plan = pk.scale.partition(path, nodes_per_part=300)
    assert sum(len(block.graphs) for block in iter_part(plan.parts[-1])) == len(plan.parts[-1])
    changed = path if kind == "file" else path / "MINE_graph_labels.txt"
    data = changed.read_bytes()
    changed.write_bytes(data.replace(b"1", b"2", 1))
    for part in plan:
        with pytest.raises(SourceChangedError, match=f"{path.name} has changed since the plan was made"):
            list(iter_part(part))
    other = pk.scale.partition(path, nodes_per_part=300) if kind == "folder" else plan
    assert other.parts[0].sha256 != plan.parts[0].sha256 or kind == "file"
    if kind == "file":
        path.unlink()
        with pytest.raises(FileNotFoundError, match="is missing: restore it"):
            list(iter_part(plan.parts[0]))


def test_options_that_cannot_be_used_part_by_part(tmp_path):
    from propkernels.datasets.tables import Reading
    from propkernels.scale.partition import plan_sources

    (tmp_path / "a.csv").write_text("smiles,y,z\nCC,1,2\n")
    for how, message in [
        (Reading(target_columns=("y", "z")), "one --target is possible"),
        (Reading(edge_labels="y"), "--edge-labels does not apply"),
    ]:
        with pytest.raises(ValueError, match=message):
            plan_sources(tmp_path / "a.csv", 100, how)

"""Folders of features, read back."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

import propkernels as pk
from propkernels.scale.opened import MANIFEST
from tests.kinds_of_input import write_kind

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def opened(plan, features, tmp_path):
    pk.featurize(plan, features, tmp_path / "out")
    return pk.scale.open_features(tmp_path / "out")


def test_blocks_come_in_the_order_of_the_plan(opened, plan, molecules):
    blocks = list(opened)
    assert [len(block.ids) for block in blocks] == [len(part) for part in plan] == opened.part_sizes
    assert np.concatenate([block.ids for block in blocks]).tolist() == list(range(60))
    assert np.concatenate([block.target for block in blocks]).tolist() == molecules.target.tolist()
    assert all(isinstance(block.features, csr_array) for block in blocks)
    assert (vstack([block.features for block in blocks]) != opened.to_scipy()).nnz == 0
    assert repr(opened) == f"FeatureFolder(60 graphs, 1,024 columns, {len(plan)} parts)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (["a", "b"] * 30, ["a", "b"] * 30),
        (np.arange(60) / 2, (np.arange(60) / 2).tolist()),
        (np.arange(120).reshape(60, 2), np.arange(120).reshape(60, 2).tolist()),
        (None, None),
    ],
)
def test_targets_of_all_kinds(molecules, features, tmp_path, target, expected):
    molecules.graphs.to_parquet(tmp_path / "graphs.parquet", target=target, row_group_size=20)
    opened = pk.featurize(pk.scale.partition(tmp_path / "graphs.parquet", 500), features, tmp_path / "out")
    found = opened.target
    assert (found if found is None else found.tolist()) == expected


def test_every_flipped_bit_of_a_part_is_refused_or_changes_nothing(opened):
    path, expected = opened.path(0), opened.block(0).features
    data = path.read_bytes()
    for at in range(4, len(data), 97):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        try:
            found = opened.block(0).features
        except ValueError:
            continue
        assert (found != expected).nnz == 0


def test_names_of_molecules_stay_with_their_features(features, tmp_path):
    """Names are kept part by part; without a column of names there are none."""
    table = write_kind("csv", tmp_path)
    named = pk.featurize(pk.scale.partition(table, 15, id_column="code"), features, tmp_path / "named")
    assert named.n_parts > 1
    assert named.names == pk.scale.open_features(tmp_path / "named").names == [f"m{i}" for i in range(12)]
    plain = pk.featurize(pk.scale.partition(table, nodes_per_part=15), features, tmp_path / "plain")
    assert plain.names is None
    assert (plain.to_scipy() != named.to_scipy()).nnz == 0


def test_a_part_without_a_target_among_others_is_named(molecules, features, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name in "ab":
        molecules.graphs[:20].to_parquet(source / f"{name}.parquet", target=molecules.target[:20])
    opened = pk.featurize(source, features, tmp_path / "out")
    pq.write_table(pq.read_table(opened.path(1)).drop_columns(["target"]), opened.path(1))
    with pytest.raises(ValueError, match="have targets of different types: remove them and run again"):
        opened.target  # noqa: B018


def test_folders_and_parts_that_are_not_there(opened, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        pk.scale.open_features(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"has no features\.json: featurize did not write into it"):
        pk.scale.open_features(tmp_path)
    opened.path(1).unlink()
    with pytest.raises(ValueError, match=f"1 of {opened.n_parts} parts of .* are missing: run featurize"):
        pk.scale.open_features(opened.folder)
    with pytest.raises(FileNotFoundError, match="is missing: run again to compute it"):
        opened.block(1)
    opened.path(1).write_bytes(b"text")
    with pytest.raises(ValueError, match=r"is damaged .* remove it and run again"):
        pk.scale.open_features(opened.folder)


FORGED = {
    "text": lambda stored: "text",
    "format": lambda stored: stored | {"format": "other"},
    "no parts": lambda stored: {"format": stored["format"], "parameters": stored["parameters"]},
    "a path": lambda stored: stored | {"parts": ["../part-00000-0123456789abcdef.parquet"]},
    "a number": lambda stored: stored | {"parts": 7},
    "parameters": lambda stored: stored | {"parameters": 7},
    "columns": lambda stored: stored | {"parameters": {"n_features": 2**63}},
    "no columns": lambda stored: stored | {"parameters": {"n_features": -1}},
}


@pytest.mark.parametrize("fault", FORGED)
def test_a_forged_manifest_is_refused_in_one_sentence(opened, fault):
    path = opened.folder / MANIFEST
    path.write_text(json.dumps(FORGED[fault](json.loads(path.read_text()))))
    with pytest.raises(ValueError, match=r"features\.json is damaged|n_features of the folder") as caught:
        pk.scale.open_features(opened.folder)
    assert "\n" not in str(caught.value)


def lists_of(column, values):
    """The lists of a column, with other values."""
    chunk = column.combine_chunks()
    return pa.ListArray.from_arrays(chunk.offsets, pa.array(values, type=column.type.value_type))


def infinite(column):
    chunk = column.combine_chunks()
    return pa.ListArray.from_arrays(chunk.offsets, pa.array(np.full(len(chunk.flatten()), np.inf)))


PARTS = {
    "negative ids": ("graph_id", lambda c: pa.array(np.arange(len(c)) - 5)),
    "missing ids": ("graph_id", lambda c: pa.array([None] * len(c), type=pa.int64())),
    "columns outside": ("indices", lambda c: lists_of(c, np.asarray(c.combine_chunks().flatten()) + 2**31)),
    "infinite counts": ("counts", infinite),
    "counts that are no numbers": ("counts", lambda c: pa.array([None] * len(c), type=c.type)),
}


@pytest.mark.parametrize("fault", PARTS)
def test_forged_parts_are_refused(opened, fault):
    name, change = PARTS[fault]
    path = opened.path(0)
    table = pq.read_table(path)
    place = table.column_names.index(name)
    pq.write_table(table.set_column(place, name, change(table.column(name))), path)
    with pytest.raises(ValueError, match=path.name) as caught:
        opened.block(0)
    assert "\n" not in str(caught.value)

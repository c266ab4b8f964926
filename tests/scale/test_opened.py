"""Folders of features, read back."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

import propkernels as pk
from propkernels.scale.pure import rebuilt


@pytest.fixture
def opened(plan, features, tmp_path):
    pk.featurize(plan, features, tmp_path / "out")
    return pk.open_features(tmp_path / "out")


def test_blocks_come_in_the_order_of_the_plan(opened, plan, molecules):
    blocks = list(opened)
    assert [len(block.ids) for block in blocks] == [len(part) for part in plan] == opened.part_sizes
    assert np.concatenate([block.ids for block in blocks]).tolist() == list(range(60))
    assert np.concatenate([block.target for block in blocks]).tolist() == molecules.target.tolist()
    assert all(isinstance(block.features, csr_array) for block in blocks)
    assert (vstack([block.features for block in blocks]) != opened.to_scipy()).nnz == 0
    assert repr(opened) == f"FeatureFolder(60 graphs, 1,024 columns, {len(plan)} parts)"


def test_a_folder_can_be_pickled(opened):
    again = pickle.loads(pickle.dumps(opened))
    assert (again.to_scipy() != opened.to_scipy()).nnz == 0


def test_blocks_that_are_not_there(opened):
    with pytest.raises(ValueError, match="part must be"):
        opened.block(99)


@pytest.mark.slow
def test_dask_arrays(opened):
    pytest.importorskip("dask.array")
    array = opened.to_dask()
    assert array.shape == opened.shape
    assert array.chunks[0] == tuple(opened.part_sizes)
    found = array.compute(scheduler="synchronous")
    assert (found != opened.to_scipy()).nnz == 0


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
    opened = pk.featurize(pk.partition(tmp_path / "graphs.parquet", 500), features, tmp_path / "out")
    found = opened.target
    assert (found if found is None else found.tolist()) == expected


def test_missing_targets_are_nan(molecules, features, tmp_path):
    molecules.graphs.to_parquet(tmp_path / "a.parquet", target=molecules.target)
    molecules.graphs.to_parquet(tmp_path / "b.parquet")
    opened = pk.featurize(pk.partition(tmp_path), features, tmp_path / "out")
    assert np.isnan(opened.target).sum() == 60
    assert opened.target[:60].tolist() == molecules.target.tolist()


def test_a_folder_that_does_not_say_its_parameters(opened):
    for changed in ({"t_maximum": 2}, None, {"propagation": {"class": "Diffusion"}}):
        description = {"estimator": "PropagationFeatures", "parameters": changed}
        with pytest.raises(ValueError, match=r"parameters|cannot be rebuilt"):
            rebuilt(description)


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


def test_a_part_without_a_target_among_others_is_named(molecules, features, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    source = tmp_path / "source"
    source.mkdir()
    for name in "ab":
        molecules.graphs[:20].to_parquet(source / f"{name}.parquet", target=molecules.target[:20])
    opened = pk.featurize(source, features, tmp_path / "out")
    pq.write_table(pq.read_table(opened.path(1)).drop_columns(["target"]), opened.path(1))
    with pytest.raises(ValueError, match="have targets of different types: verify the folder"):
        opened.target  # noqa: B018

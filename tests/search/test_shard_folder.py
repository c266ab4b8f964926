"""The index on disk: the answers of the index in memory, to the bit; built, added to and resumed."""

import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels._utils.safe_files import locked
from propkernels.search import shard_folder

KERNEL = pk.PropagationKernel(t_max=2, random_state=0)


@cache
def graphs(n=90, seed=0):
    return pk.datasets.make_molecules(n, random_state=seed, mean_nodes=7).graphs


def files(folder, n=90, seed=0, name="graphs"):
    folder.mkdir(exist_ok=True)
    graphs(n, seed).to_parquet(folder / f"{name}.parquet", row_group_size=15)
    return pk.partition(folder / f"{name}.parquet", nodes_per_part=150)


@pytest.fixture
def plan(tmp_path):
    return files(tmp_path / "source")


def same(found, expected):
    assert np.array_equal(found.similarities, expected.similarities)
    assert np.array_equal(found.ids, expected.ids)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        None,
        KERNEL,
        pk.PropagationKernel(t_max=2, n_hashes=3, normalize=True, random_state=1),
        pk.PropagationKernel(t_max=1, base_kernel="intersection", random_state=1),
        pk.PropagationKernel(
            t_max=2, propagation=pk.Diffusion(laziness=0.5), labels="degree", random_state=1
        ),
        pk.WeisfeilerLehman(t_max=2),
        pk.ShortestPath(),
        pk.LabelHistogram(),
    ],
    ids=lambda kernel: "default" if kernel is None else repr(kernel),
)
@pytest.mark.parametrize("k", [1, 7, 500])
def test_answers_are_those_of_the_index_in_memory(plan, tmp_path, kernel, k):
    seed = 5 if kernel is None else None
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=kernel, random_state=seed)
    assert index.n_shards > 3
    memory = pk.GraphIndex(kernel=kernel, random_state=seed).fit(graphs())
    for queries in (graphs(9, 3), graphs()[:5], graphs()[4]):
        same(index.query(queries, k=k), memory.query(queries, k=k))


@pytest.mark.slow
def test_equal_graphs_come_in_the_order_of_their_numbers(tmp_path):
    twice = pk.GraphDatabase.concat([graphs(20), graphs(20), graphs(20)])
    twice.to_parquet(tmp_path / "graphs.parquet", row_group_size=10)
    plan = pk.partition(tmp_path / "graphs.parquet", nodes_per_part=100)
    memory = pk.GraphIndex(kernel=KERNEL).fit(twice)
    for n_jobs in (None, 2, 3):
        index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL, n_jobs=n_jobs)
        for k in (2, 3, 4, 60):
            same(index.query(graphs(20), k=k), memory.query(graphs(20), k=k))


@pytest.mark.slow
def test_any_executor_writes_the_same_files(plan, tmp_path):
    one = pk.GraphIndex.build(plan, tmp_path / "one", kernel=KERNEL)
    with ProcessPoolExecutor(2) as pool:
        two = pk.GraphIndex.build(plan, tmp_path / "two", kernel=KERNEL, executor=pool)
    for (left, _, _), (right, _, _) in zip(one._file.shards, two._file.shards, strict=True):
        assert left.path.name == right.path.name
        assert left.path.read_bytes() == right.path.read_bytes()


def test_a_part_of_several_blocks_is_one_shard(plan, tmp_path, monkeypatch):
    reference = pk.GraphIndex.build(plan, tmp_path / "one", kernel=KERNEL)
    from propkernels.scale.pieces import GraphBlock

    whole = shard_folder.iter_part

    def in_pieces(part):
        for block in whole(part):
            for first in range(0, len(block.ids), 4):
                rows = slice(first, first + 4)
                yield GraphBlock(block.graphs[rows], None, block.ids[rows])

    monkeypatch.setattr(shard_folder, "iter_part", in_pieces)
    pieces = pk.GraphIndex.build(plan, tmp_path / "two", kernel=KERNEL)
    for (left, _, _), (right, _, _) in zip(reference._file.shards, pieces._file.shards, strict=True):
        assert left.path.read_bytes() == right.path.read_bytes()


def test_shards_are_added_later_and_nothing_twice(plan, tmp_path):
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    before = {shard.path: shard.path.read_bytes() for shard, _, _ in index._file.shards}
    more, still_more = (files(tmp_path / "more", 40, 1), files(tmp_path / "more", 30, 2, "third"))
    index.add(more).add(still_more).add(more)
    assert len(index) == 160
    for path, data in before.items():
        assert path.read_bytes() == data
    memory = pk.GraphIndex(kernel=KERNEL).fit(graphs()).add(graphs(40, 1)).add(graphs(30, 2))
    for opened in (
        index,
        pk.GraphIndex.open(tmp_path / "index"),
        pk.GraphIndex.open(tmp_path / "index", n_jobs=2),
    ):
        same(opened.query(graphs(9, 3), k=11), memory.query(graphs(9, 3), k=11))
    assert repr(index).startswith("GraphIndex(160 graphs, ")
    assert index.parameters["estimator"] == "PropagationFeatures"


def test_building_goes_on_where_it_was_stopped(plan, tmp_path):
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    whole = {shard.path: shard.path.read_bytes() for shard, _, _ in index._file.shards}
    lost = index._file.shards[2][0].path
    del index
    lost.unlink()
    with pytest.raises(FileNotFoundError, match="is missing: build it again"):
        pk.GraphIndex.open(tmp_path / "index")
    pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    assert {path: path.read_bytes() for path in whole} == whole


def test_what_cannot_be_indexed_on_the_disk_is_refused(plan, tmp_path):
    out = tmp_path / "index"
    for kernel in (pk.GraphHopper(), pk.SumKernel(), "x"):
        with pytest.raises(ValueError, match="needs a kernel that learns nothing from graphs"):
            pk.GraphIndex.build(plan, out, kernel=kernel)
    with pytest.raises(ValueError, match="random_state must be an integer"):
        pk.GraphIndex.build(plan, out)
    with pytest.raises(ValueError, match="learns their scale"):
        pk.GraphIndex.build(plan, out, kernel=pk.PropagationKernel(attributes="sum", random_state=0))
    with pytest.raises(ValueError, match="tanimoto"):
        pk.GraphIndex.build(plan, out, kernel=pk.PropagationKernel(base_kernel="tanimoto", random_state=0))
    assert not out.exists()


def test_other_plans_kernels_and_folders_are_refused(plan, tmp_path):
    out = tmp_path / "index"
    index = pk.GraphIndex.build(plan, out, kernel=KERNEL)
    with pytest.raises(ValueError, match="another plan"):
        pk.GraphIndex.build(files(tmp_path / "more", 40, 1), out, kernel=KERNEL)
    with pytest.raises(ValueError, match="t_max is 2, not 3"):
        pk.GraphIndex.build(plan, out, kernel=pk.PropagationKernel(t_max=3, random_state=0))
    with pytest.raises(ValueError, match="does not contain an index"):
        pk.GraphIndex.open(tmp_path / "source")
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        pk.GraphIndex.open(tmp_path / "nowhere")
    pk.GraphIndex.build(plan, tmp_path / "other", kernel=pk.PropagationKernel(t_max=3, random_state=0))
    os.rename(tmp_path / "other" / "plan00000", out / "plan00001")
    with pytest.raises(ValueError, match="was built with another kernel"):
        pk.GraphIndex.open(out)
    with pytest.raises(ValueError, match="k must be"):
        index.query(graphs()[:1], k=0)
    with pytest.raises(ValueError, match="no node labels"):
        index.query([np.array([[0, 1], [1, 0]])])


def test_an_index_is_not_written_through_links(plan, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "plan00000").symlink_to(outside)
    with pytest.raises(OSError, match="plan00000 is a link or a file instead of a folder"):
        pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    assert os.listdir(outside) == []
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "index" / "plan00000").unlink()
    (tmp_path / "index" / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="is a symbolic link"):
        pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    assert (tmp_path / "precious").read_text() == "mine"


def test_one_run_at_a_time_adds_to_an_index(plan, tmp_path):
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    more = files(tmp_path / "more", 40, 1)
    with locked(tmp_path / "index"), pytest.raises(BlockingIOError, match="another run"):
        index.add(more)
    assert len(index.add(more)) == 130
    assert not (tmp_path / "index" / ".lock").exists()


def test_a_plan_that_cannot_be_added_leaves_no_folder(plan, tmp_path):
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    more = files(tmp_path / "more", 40, 1)
    (tmp_path / "more" / "graphs.parquet").unlink()
    with pytest.raises(ValueError, match="no part of the plan can be read"):
        index.add(more)
    assert len(pk.GraphIndex.open(tmp_path / "index")) == 90


# one class for memory and disk


@pytest.fixture
def index(plan, tmp_path):
    return pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)


def test_an_index_on_disk_is_a_graph_index(index, tmp_path):
    opened = pk.GraphIndex.open(tmp_path / "index", n_jobs=2)
    assert type(index) is type(opened) is pk.GraphIndex
    assert opened.n_jobs == 2
    assert len(opened) == len(opened.ids_) == 90
    assert opened.ids_.tolist() == list(range(90))
    memory = pk.GraphIndex(kernel=KERNEL).fit(graphs())
    same(clone(opened).fit(graphs()).query(graphs(5, 3)), memory.query(graphs(5, 3)))
    expected = pk.similar_because(memory, graphs()[0], graphs()[1])
    assert pk.similar_because(opened, graphs()[0], graphs()[1]).value == expected.value
    assert np.array_equal(opened.graph(7).adjacency.toarray(), graphs()[7].adjacency.toarray())


@pytest.mark.filterwarnings("ignore:skipped 1 of 3 molecules")
def test_ids_leave_out_rows_that_are_no_molecules(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "molecules.csv").write_text("smiles\nCCO\nnot one\nCCN\n")
    plan = pk.partition(tmp_path / "molecules.csv", errors="skip")
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    assert index.ids_.tolist() == [0, 2]
    assert sorted(index.query(index.graph(2)).ids.tolist()) == [0, 2]
    with pytest.raises(ValueError, match="graph 1 was skipped"):
        index.graph(1)
    with pytest.raises(ValueError, match="has the graphs 0 to 2, not 3"):
        index.graph(3)


def test_copies_of_an_index_on_disk_answer_as_it_does(index):
    expected = index.query(graphs(5, 3), k=4)
    for copied in (deepcopy(index), pickle.loads(pickle.dumps(index))):
        same(copied.query(graphs(5, 3), k=4), expected)


def test_fit_leaves_the_folder_as_it_is(index, tmp_path):
    assert len(index.fit(graphs(5, 3))) == 5
    assert len(pk.GraphIndex.open(tmp_path / "index")) == 90


def test_what_an_index_on_disk_does_not_do_is_refused(index, tmp_path):
    with pytest.raises(ValueError, match="graphs of an index on disk cannot be removed: build one without"):
        index.remove([3])
    with pytest.raises(ValueError, match=r"is already on disk: open it by GraphIndex.open\("):
        pk.save_model(index, tmp_path / "index.pk")
    assert not (tmp_path / "index.pk").exists()
    with pytest.raises(ValueError, match="are numbered: omit ids"):
        index.add(tmp_path / "source", ids=["a"])
    for given in (graphs(5, 3), list(graphs(5, 3)), 7):
        with pytest.raises(TypeError, match="an index on disk needs a plan or files of graphs"):
            index.add(given)
    same(index.query(graphs()[:3]), pk.GraphIndex.open(tmp_path / "index").query(graphs()[:3]))


def test_what_an_index_in_memory_does_not_have_is_refused():
    index = pk.GraphIndex(kernel=KERNEL).fit(graphs(5, 3))
    for name in ("groups", "parameters", "n_shards"):
        with pytest.raises(AttributeError, match="an index in memory does not store graphs"):
            getattr(index, name)
    with pytest.raises(AttributeError, match="an index in memory does not store graphs"):
        index.graph(0)
    with pytest.raises(ValueError, match="executor is only for an index on disk"):
        index.add(graphs(5, 3), executor=2)


class OwnScheme(pk.Diffusion):
    """A scheme that this library cannot rebuild by its name."""


def test_what_could_not_be_opened_again_is_not_built(plan, tmp_path):
    fitted = pk.PropagationFeatures(t_max=2, n_features=64, random_state=0).fit(graphs())
    own = pk.PropagationKernel(t_max=2, propagation=OwnScheme(), random_state=0)
    for kernel in (fitted, own):
        with pytest.raises(ValueError, match=r"stores only its hash|cannot be rebuilt from the folder"):
            pk.GraphIndex.build(plan, tmp_path / "index", kernel=kernel)
    assert not (tmp_path / "index").exists()

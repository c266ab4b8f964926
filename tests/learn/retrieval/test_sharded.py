"""The index on the disk: the answers of the index in memory, to the bit; added to, resumed and checked."""

import hashlib
import json
import os
import subprocess
import sys
import weakref
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np
import pytest
from scipy.sparse import lil_array

import propkernels as pk
from propkernels.learn.retrieval import shard_file, shard_search
from propkernels.learn.retrieval.nearest_rows import candidates
from propkernels.learn.retrieval.shard_file import Shard
from propkernels.scale.verifying import DamagedFolderError
from propkernels.utils.files import locked

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
        pk.WeisfeilerLehman(n_iter=2),
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


def test_the_first_values_among_equals():
    values = np.array([0.5, 0.9, 0.5, 0.1, 0.5])
    assert candidates(values, 3, -1.0).tolist() == [1, 0, 2]
    assert candidates(values, 3, 0.5).tolist() == [1]
    assert candidates(values, 3, 0.9).tolist() == []


@pytest.mark.slow
def test_any_executor_writes_the_same_files(plan, tmp_path):
    one = pk.GraphIndex.build(plan, tmp_path / "one", kernel=KERNEL)
    with ProcessPoolExecutor(2) as pool:
        two = pk.GraphIndex.build(plan, tmp_path / "two", kernel=KERNEL, executor=pool)
    for (left, _, _), (right, _, _) in zip(one.shards, two.shards, strict=True):
        assert left.path.name == right.path.name
        assert left.path.read_bytes() == right.path.read_bytes()


def test_a_part_of_several_blocks_is_one_shard(plan, tmp_path, monkeypatch):
    reference = pk.GraphIndex.build(plan, tmp_path / "one", kernel=KERNEL)
    from propkernels.learn.retrieval import shard_work
    from propkernels.scale.sources.pieces import GraphBlock

    whole = shard_work.iter_part

    def in_pieces(part):
        for block in whole(part):
            for first in range(0, len(block.ids), 4):
                rows = slice(first, first + 4)
                yield GraphBlock(block.graphs[rows], None, block.ids[rows])

    monkeypatch.setattr(shard_work, "iter_part", in_pieces)
    pieces = pk.GraphIndex.build(plan, tmp_path / "two", kernel=KERNEL)
    for (left, _, _), (right, _, _) in zip(reference.shards, pieces.shards, strict=True):
        assert left.path.read_bytes() == right.path.read_bytes()


def test_shards_are_added_later_and_nothing_twice(plan, tmp_path):
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    before = {shard.path: shard.path.read_bytes() for shard, _, _ in index.shards}
    more, still_more = (files(tmp_path / "more", 40, 1), files(tmp_path / "more", 30, 2, "third"))
    index.add(more).add(still_more).add(more)
    assert len(index) == 160
    for path, data in before.items():
        assert path.read_bytes() == data
    memory = pk.GraphIndex(kernel=KERNEL).fit(graphs()).add(graphs(40, 1)).add(graphs(30, 2))
    for opened in (
        index,
        pk.open_index(tmp_path / "index"),
        pk.GraphIndex.open(tmp_path / "index", n_jobs=2),
    ):
        same(opened.query(graphs(9, 3), k=11), memory.query(graphs(9, 3), k=11))
    assert repr(index).startswith("ShardedIndex(160 graphs, ")
    assert index.parameters["estimator"] == "PropagationFeatures"


def test_building_goes_on_where_it_was_stopped(plan, tmp_path):
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    whole = {shard.path: shard.path.read_bytes() for shard, _, _ in index.shards}
    lost = index.shards[2][0].path
    del index
    lost.unlink()
    with pytest.raises(FileNotFoundError, match="is missing: build it again"):
        pk.open_index(tmp_path / "index")
    pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    assert {path: path.read_bytes() for path in whole} == whole


def test_what_cannot_be_indexed_on_the_disk_is_refused(plan, tmp_path):
    out = tmp_path / "index"
    for kernel in (pk.GraphHopper(), pk.SumKernel(), pk.WeisfeilerLehman(exact=True), "x"):
        with pytest.raises(ValueError, match="needs a kernel that counts each graph by itself"):
            pk.GraphIndex.build(plan, out, kernel=kernel)
    with pytest.raises(ValueError, match="random_state must be a whole number"):
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
    with pytest.raises(ValueError, match="does not hold an index"):
        pk.open_index(tmp_path / "source")
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        pk.open_index(tmp_path / "nowhere")
    pk.GraphIndex.build(plan, tmp_path / "other", kernel=pk.PropagationKernel(t_max=3, random_state=0))
    os.rename(tmp_path / "other" / "plan00000", out / "plan00001")
    with pytest.raises(ValueError, match="was built with another kernel"):
        pk.open_index(out)
    with pytest.raises(ValueError, match="k must be"):
        index.query(graphs()[:1], k=0)
    with pytest.raises(ValueError, match="no node labels"):
        index.query([np.array([[0, 1], [1, 0]])])


# a file that nobody vouches for


@pytest.fixture
def shard(plan, tmp_path):
    return pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL).shards[0][0].path


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:100],
        lambda data: data[:-1000],
        lambda data: b"x" + data[1:],
        lambda data: data.replace(b'"<i8"', b'"<O8"', 1),
        lambda data: data.replace(b'"fences"', b'"fEnces"', 1),
    ],
)
def test_damaged_shards_are_refused(shard, damage):
    data = damage(shard.read_bytes())
    shard.unlink()
    shard.write_bytes(data)
    with pytest.raises(ValueError, match="is not a shard of an index, or it is damaged"):
        _ = Shard(shard).arrays


def test_lengths_that_do_not_fit_are_refused(shard):
    data = shard.read_bytes()
    head = data[len(shard_file.MAGIC) :].split(b"\n")[0]
    for name in shard_file.KINDS:
        known = json.loads(head)
        less = 16 if name == "postings" else 1  # as many as lie between two places where arrays may begin
        for length in (known[name][1] - less, -1, 10**15, "7"):
            changed = json.dumps({**known, name: [known[name][0], length]}).encode()
            text = shard_file.MAGIC + changed + b"\n"
            shard.unlink()
            shard.write_bytes(
                shard_file._padded(text) + data[len(shard_file._padded(shard_file.MAGIC + head + b"\n")) :]
            )
            with pytest.raises(ValueError, match="is not a shard of an index, or it is damaged"):
                _ = Shard(shard).arrays


def forge(shard, arrays):
    """Put other arrays in the place of those in the file."""
    shard_file.MAPPINGS._known[weakref.ref(shard)] = shard.mapped._replace(arrays=arrays)


@pytest.mark.parametrize(
    ("name", "value"), [("postings", 2**32 - 1), ("directory", -1), ("directory", 2**40), ("directory", None)]
)
def test_numbers_that_point_elsewhere_are_refused(shard, tmp_path, name, value):
    index = pk.open_index(tmp_path / "index")
    changed = {key: array.copy() for key, array in Shard(shard).arrays.items()}
    if name == "postings":
        changed[name][:] = value
    else:
        changed[name][:, 1] = np.arange(len(changed[name]))[::-1] if value is None else value
    opened = index.shards[0][0]
    forge(opened, changed)
    with pytest.raises(ValueError, match="is damaged: remove it"):
        index.query(graphs()[:5])


def test_a_file_of_another_size_than_the_manifest_says(shard, tmp_path):
    with shard.open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(ValueError, match="bytes instead of"):
        pk.open_index(tmp_path / "index")


def large_and_small(size):
    """Stars of one label, among them one of so many nodes."""
    star = lil_array((size, size))
    star[0, 1:] = star[1:, 0] = 1
    star = star.tocsr()
    return [(star[:n, :n], ["C"] * n) for n in (size, 3, 4, 5)]


@pytest.mark.parametrize(("size", "kind"), [(10, "<u4"), (300, "<u4"), (9000, "<f4")])
def test_postings_are_as_short_as_they_can_be(tmp_path, size, kind):
    found = pk.check_graphs(large_and_small(size))
    found.to_parquet(tmp_path / "graphs.parquet")
    index = pk.GraphIndex.build(tmp_path / "graphs.parquet", tmp_path / "index", kernel=KERNEL)
    assert index.shards[0][0].arrays["postings"].dtype.str == kind
    memory = pk.GraphIndex(kernel=KERNEL).fit(found)
    same(index.query(found, k=4), memory.query(found, k=4))
    assert index.groups[0].manifest.total("n_entries") == sum(
        stream.counts.nnz for stream in KERNEL.fit(found).counts_
    )


def test_pairs_that_point_elsewhere_are_refused(tmp_path):
    found = pk.check_graphs(large_and_small(9000))
    found.to_parquet(tmp_path / "graphs.parquet")
    index = pk.GraphIndex.build(tmp_path / "graphs.parquet", tmp_path / "index", kernel=KERNEL)
    shard = index.shards[0][0]
    for value in (-1.0, 4.0, np.nan, np.inf):
        changed = {key: array.copy() for key, array in Shard(shard.path).arrays.items()}
        changed["postings"][::2] = value
        forge(shard, changed)
        with pytest.raises(ValueError, match="is damaged: remove it"):
            index.query(found)


def test_common_bins_are_rows(shard):
    arrays = Shard(shard).arrays
    assert len(arrays["dense_bins"]) > 0
    assert (4 * np.count_nonzero(arrays["dense"], axis=1) > arrays["dense"].shape[1]).all()
    lengths = np.diff(arrays["directory"][:, 1])
    assert not lengths[arrays["dense_bins"]].any()
    assert (4 * lengths <= arrays["dense"].shape[1]).all()


# reading ahead


def test_answers_do_not_depend_on_what_is_read_ahead(plan, tmp_path, monkeypatch):
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    answers = []
    for calm in (0, 10**9):
        monkeypatch.setattr(shard_search, "CALM", calm)
        answers.append(index.query(graphs(9, 3), k=7))
    same(*answers)


def test_pages_are_asked_for_while_the_disk_is_read(monkeypatch):
    reads = iter([5, *[6] * (shard_search.CALM + 1), 7])
    monkeypatch.setattr(shard_search, "n_reads", lambda: next(reads))
    ahead = shard_search.ReadAhead()
    needed = []
    for _ in range(shard_search.CALM + 2):
        ahead.look()
        needed.append(ahead.is_needed)
    assert needed == [True] * shard_search.CALM + [False, True]


# numbers in a shard whose checksum is right


def rewritten(path, name, values):
    """Write other numbers into an array of a shard, and its new hash into manifest and checksum."""
    mapped = Shard(path).mapped
    data = bytearray(path.read_bytes())
    raw = np.asarray(values, dtype=mapped.arrays[name].dtype).tobytes()
    data[mapped.places[name] : mapped.places[name] + len(raw)] = raw
    path.unlink()  # the old file may be mapped still
    path.write_bytes(data)
    manifest = path.parent / "manifest.json"
    known = json.loads(manifest.read_text())
    receipt = next(part for part in known["parts"] if part["name"] == path.name)
    receipt["sha256"] = hashlib.sha256(data).hexdigest()
    manifest.write_text(json.dumps(known))


WRONG_NUMBERS = {
    "stream_ptr that wraps around": ("stream_ptr", lambda a: [0, 2**63 - 1, -(2**63), *a[3:]]),
    "directory that falls": ("directory", lambda a: np.c_[a[:, 0], a[::-1, 1]]),
    "directory that wraps around": ("directory", lambda a: np.c_[a[:, 0], [0, 2**63 - 1, *a[2:, 1]]]),
    "codes that fall": ("directory", lambda a: np.c_[a[::-1, 0], a[:, 1]]),
    "fences elsewhere": ("fences", lambda a: a + 1),
    "dense bins outside": ("dense_bins", lambda a: a + 2**40),
    "dense bins that fall": ("dense_bins", lambda a: a[::-1]),
    "postings of other graphs": ("postings", lambda a: a | np.uint32(2**31)),
    "ids of other graphs": ("ids", lambda a: a + 2**40),
    "negative ids": ("ids", lambda a: a - 2**40),
    "weights that are not numbers": ("weights", lambda a: a * np.nan),
}


@pytest.mark.parametrize("fault", WRONG_NUMBERS)
def test_verify_looks_at_every_number_of_a_shard(shard, fault):
    name, change = WRONG_NUMBERS[fault]
    pk.verify(shard.parent)
    rewritten(shard, name, change(Shard(shard).arrays[name]))
    with pytest.raises(DamagedFolderError, match=shard.name):
        pk.verify(shard.parent)


def test_offsets_of_a_shard_that_wrap_around_are_refused_when_it_is_opened(shard, tmp_path):
    name, change = WRONG_NUMBERS["stream_ptr that wraps around"]
    rewritten(shard, name, change(Shard(shard).arrays[name]))
    with pytest.raises(ValueError, match="stream_ptr falls from 9223372036854775807"):
        pk.open_index(tmp_path / "index").query(graphs()[:1])


def test_ids_of_a_shard_that_cannot_be_are_refused(shard, tmp_path):
    rewritten(shard, "ids", -1 - Shard(shard).arrays["ids"])
    with pytest.raises(ValueError, match="is damaged: remove it"):
        pk.open_index(tmp_path / "index").query(graphs()[:1])


# files


MANY = """
import os, resource, sys
import numpy as np
import propkernels as pk
from propkernels.learn.retrieval import shard_file
queries = pk.datasets.make_molecules(4, random_state=3, mean_nodes=7).graphs
expected = pk.open_index(sys.argv[1]).query(queries, k=5)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
for n_jobs in (None, 2):
    index = pk.open_index(sys.argv[1], n_jobs=n_jobs)
    assert index.n_shards >= 80
    found = index.query(queries, k=5)
    assert np.array_equal(found.similarities, expected.similarities)
    assert np.array_equal(found.ids, expected.ids)
    assert len(shard_file.MAPPINGS._known) <= 16
    del index
    assert not shard_file.MAPPINGS._known
held = [os.dup(0) for _ in range(64 - len(os.listdir("/proc/self/fd")) + 1)]
try:
    pk.open_index
    shard_file.Shard(next(p for p in shard_file.Path(sys.argv[1]).rglob("*.shard"))).arrays
except OSError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts descriptors")
def test_more_shards_than_files_may_be_open(tmp_path):
    graphs(90).to_parquet(tmp_path / "graphs.parquet", row_group_size=1)
    plan = pk.partition(tmp_path / "graphs.parquet", nodes_per_part=1)
    pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    command = [sys.executable, "-c", MANY, str(tmp_path / "index")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Too many open files" in done.stdout


def test_shards_that_were_let_go_are_mapped_again(plan, tmp_path, monkeypatch):
    index = pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)
    reference = index.query(graphs(5, 3), k=4)
    monkeypatch.setattr(shard_file, "most_mapped", lambda: 1)
    for n_jobs in (None, 3):
        index.n_jobs = n_jobs
        same(index.query(graphs(5, 3), k=4), reference)
    assert len(shard_file.MAPPINGS._known) <= 1


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
    assert len(pk.open_index(tmp_path / "index")) == 90

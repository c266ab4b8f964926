"""Shards: files that nobody vouches for, read ahead and mapped a few at a time."""

import hashlib
import json
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
from scipy.sparse import lil_array

import propkernels as pk
from propkernels.scale.verifying import DamagedFolderError
from propkernels.search import shard as shard_module
from propkernels.search.shard import Shard
from tests.search.test_shard_folder import KERNEL, files, graphs, same


@pytest.fixture
def plan(tmp_path):
    return files(tmp_path / "source")


# a file that nobody vouches for


@pytest.fixture
def shard(plan, tmp_path):
    return pk.GraphIndex.build(plan, tmp_path / "index", kernel=KERNEL)._file.shards[0][0].path


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
    head = data[len(shard_module.MAGIC) :].split(b"\n")[0]
    for name in shard_module.KINDS:
        known = json.loads(head)
        less = 16 if name == "postings" else 1  # as many as lie between two places where arrays may begin
        for length in (known[name][1] - less, -1, 10**15, "7"):
            changed = json.dumps({**known, name: [known[name][0], length]}).encode()
            text = shard_module.MAGIC + changed + b"\n"
            shard.unlink()
            shard.write_bytes(
                shard_module._padded(text)
                + data[len(shard_module._padded(shard_module.MAGIC + head + b"\n")) :]
            )
            with pytest.raises(ValueError, match="is not a shard of an index, or it is damaged"):
                _ = Shard(shard).arrays


def forge(shard, arrays):
    """Put other arrays in the place of those in the file."""
    shard_module.MAPPINGS._known[weakref.ref(shard)] = shard.mapped._replace(arrays=arrays)


@pytest.mark.parametrize(
    ("name", "value"), [("postings", 2**32 - 1), ("directory", -1), ("directory", 2**40), ("directory", None)]
)
def test_numbers_that_point_elsewhere_are_refused(shard, tmp_path, name, value):
    index = pk.GraphIndex.open(tmp_path / "index")
    changed = {key: array.copy() for key, array in Shard(shard).arrays.items()}
    if name == "postings":
        changed[name][:] = value
    else:
        changed[name][:, 1] = np.arange(len(changed[name]))[::-1] if value is None else value
    opened = index._file.shards[0][0]
    forge(opened, changed)
    with pytest.raises(ValueError, match="is damaged: remove it"):
        index.query(graphs()[:5])


def test_a_file_of_another_size_than_the_manifest_says(shard, tmp_path):
    with shard.open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(ValueError, match="bytes instead of"):
        pk.GraphIndex.open(tmp_path / "index")


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
    assert index._file.shards[0][0].arrays["postings"].dtype.str == kind
    memory = pk.GraphIndex(kernel=KERNEL).fit(found)
    same(index.query(found, k=4), memory.query(found, k=4))
    assert index.groups[0].manifest.total("n_entries") == sum(
        stream.counts.nnz for stream in KERNEL.fit(found)._counts
    )


def test_pairs_that_point_elsewhere_are_refused(tmp_path):
    found = pk.check_graphs(large_and_small(9000))
    found.to_parquet(tmp_path / "graphs.parquet")
    index = pk.GraphIndex.build(tmp_path / "graphs.parquet", tmp_path / "index", kernel=KERNEL)
    shard = index._file.shards[0][0]
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
        monkeypatch.setattr(shard_module, "CALM", calm)
        answers.append(index.query(graphs(9, 3), k=7))
    same(*answers)


def test_pages_are_asked_for_while_the_disk_is_read(monkeypatch):
    reads = iter([5, *[6] * (shard_module.CALM + 1), 7])
    monkeypatch.setattr(shard_module, "n_reads", lambda: next(reads))
    ahead = shard_module.ReadAhead()
    needed = []
    for _ in range(shard_module.CALM + 2):
        ahead.look()
        needed.append(ahead.is_needed)
    assert needed == [True] * shard_module.CALM + [False, True]


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


def test_verify_takes_the_folder_of_an_index(shard):
    found = pk.verify(shard.parents[1])
    assert found == pk.verify(shard.parent)
    more = shard.parents[2] / "more.parquet"
    pk.datasets.make_molecules(7, random_state=9).graphs.to_parquet(more)
    pk.GraphIndex.open(shard.parents[1]).add(more)
    assert pk.verify(shard.parents[1]).n_graphs == found.n_graphs + 7
    rewritten(shard, "weights", Shard(shard).arrays["weights"] * np.nan)
    with pytest.raises(DamagedFolderError, match=shard.name):
        pk.verify(shard.parents[1])


def test_offsets_of_a_shard_that_wrap_around_are_refused_when_it_is_opened(shard, tmp_path):
    name, change = WRONG_NUMBERS["stream_ptr that wraps around"]
    rewritten(shard, name, change(Shard(shard).arrays[name]))
    with pytest.raises(ValueError, match="stream_ptr falls from 9223372036854775807"):
        pk.GraphIndex.open(tmp_path / "index").query(graphs()[:1])


def test_ids_of_a_shard_that_cannot_be_are_refused(shard, tmp_path):
    rewritten(shard, "ids", -1 - Shard(shard).arrays["ids"])
    with pytest.raises(ValueError, match="is damaged: remove it"):
        pk.GraphIndex.open(tmp_path / "index").query(graphs()[:1])


# files


MANY = """
import os, resource, sys
import numpy as np
import propkernels as pk
from propkernels.search import shard as shard_module
queries = pk.datasets.make_molecules(4, random_state=3, mean_nodes=7).graphs
expected = pk.GraphIndex.open(sys.argv[1]).query(queries, k=5)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
for n_jobs in (None, 2):
    index = pk.GraphIndex.open(sys.argv[1], n_jobs=n_jobs)
    assert index.n_shards >= 80
    found = index.query(queries, k=5)
    assert np.array_equal(found.similarities, expected.similarities)
    assert np.array_equal(found.ids, expected.ids)
    assert len(shard_module.MAPPINGS._known) <= 16
    del index
    assert not shard_module.MAPPINGS._known
held = [os.dup(0) for _ in range(64 - len(os.listdir("/proc/self/fd")) + 1)]
try:
    shard_module.Shard(next(p for p in shard_module.Path(sys.argv[1]).rglob("*.shard"))).arrays
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
    monkeypatch.setattr(shard_module, "most_mapped", lambda: 1)
    for n_jobs in (None, 3):
        index.n_jobs = n_jobs
        same(index.query(graphs(5, 3), k=4), reference)
    assert len(shard_module.MAPPINGS._known) <= 1

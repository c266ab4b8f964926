"""Checkpoints: what is believed, what is refused in one sentence, and what tells two kernels apart."""

import errno
import os
import subprocess
import sys
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels.checkpoint import fingerprint
from propkernels.kernels.pairwise_kernel import NOT_IN_THE_KERNEL
from tests.utils.test_safe_files import KILLED, posix
from tests.zoo import labelled_zoo

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
GRAPHS = pk.check_graphs([(PATH, [0, 1, 2], [[0.0], [0.5], [1.0]]), (PATH, [0, 1, 2], [[0.0], [0.4], [1.0]])])


def fill(path, **parameters):
    return pk.AttributeKernel(checkpoint=path, **parameters).fit_transform(GRAPHS)


@pytest.fixture
def checkpoint(tmp_path):
    """A whole checkpoint, and the kernel that it holds."""
    path = tmp_path / "kernel.npz"
    return path, fill(path)


def rewritten(path, **arrays):
    with np.load(path) as file:
        found = {name: file[name] for name in file.files}
    np.savez(path, **{**found, **arrays})


UNREADABLE = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("not a checkpoint"),
    "npy": lambda path: np.save(path, np.zeros(3)) or path.with_suffix(".npz.npy").replace(path),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "directory flipped": lambda path: path.write_bytes(
        path.read_bytes()[:-60] + bytes(b ^ 0x44 for b in path.read_bytes()[-60:])
    ),
    "smaller values": lambda path: rewritten(path, values=np.ones((1, 1, 1))),
    "text values": lambda path: rewritten(path, values=np.full((1, 2, 2), "x")),
    "int8 values": lambda path: rewritten(path, values=np.ones((1, 2, 2), dtype=np.int8)),
    "Fortran values": lambda path: rewritten(path, values=np.asfortranarray(np.ones((2, 2, 2)))),
    "long done": lambda path: rewritten(path, done=np.ones(9, dtype=bool)),
    "integer done": lambda path: rewritten(path, done=np.ones(1, dtype=int)),
    "long fingerprint": lambda path: rewritten(path, fingerprint=np.array("x" * 10_000)),
    "objects": lambda path: rewritten(path, done=np.array([None, {}], dtype=object)),
    "nothing in it": lambda path: ZipFile(path, "w").close(),
    "packed": lambda path: repacked(path),
    "huge header": lambda path: forged_header(path),
}


def repacked(path):
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def forged_header(path):
    """An array that says it has more numbers than any memory."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1000000, 1000000), }"
    header += b" " * (117 - len(header)) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, data if name == "values.npy" else content)


@pytest.mark.parametrize("damage", UNREADABLE)
def test_what_is_not_a_whole_checkpoint_is_refused_in_one_sentence(checkpoint, damage):
    path, _ = checkpoint
    UNREADABLE[damage](path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"kernel.npz is not readable: delete it, or name another file$"):
        fill(path)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_flipped_byte_is_refused_or_changes_nothing(checkpoint):
    path, reference = checkpoint
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        try:
            computed = fill(path)
        except ValueError as error:
            computed = reference if "checkpoint" in str(error) else None
        assert np.array_equal(computed, reference)


@posix
def test_what_a_killed_run_left_beside_a_whole_checkpoint_is_removed(checkpoint):
    path, reference = checkpoint
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert len(os.listdir(path.parent)) == 2
    assert np.array_equal(fill(path), reference)
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_and_a_pipe_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ValueError, match="not readable"):
            fill(path)


def test_a_place_where_nothing_can_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("propkernels.kernels.attribute_kernel.MeanOverPairs.tile", None)
    with pytest.raises(FileNotFoundError, match="its folder does not exist"):
        fill(tmp_path / "nowhere" / "kernel.npz")


RUN = """
import sys
import numpy as np
import propkernels as pk
from propkernels.kernels import attribute_kernel
from propkernels.kernels import tiles
tiles.NODES_IN_TILE, tiles.SAVE_EVERY = 3, 0.0
tile = attribute_kernel.MeanOverPairs.tile
def slowly(*arguments):
    print("begun", flush=True)
    sys.stdin.readline()  # until the test goes on
    return tile(*arguments)
attribute_kernel.MeanOverPairs.tile = slowly
graphs = pk.check_graphs([(np.ones((2, 2)) - np.eye(2), [0, 1], [[i / 7], [1.0]]) for i in range(12)])
kernel = pk.AttributeKernel(checkpoint=sys.argv[1], standardize=False)
try:
    np.save(sys.argv[2], kernel.fit_transform(graphs))
except BlockingIOError as error:
    sys.exit(str(error))
"""


def start(checkpoint, result):
    command = [sys.executable, "-c", RUN, str(checkpoint), str(result)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, **pipes, text=True)


@pytest.mark.processes
@pytest.mark.slow
def test_a_second_process_on_one_checkpoint_is_refused_and_nothing_is_lost(tmp_path):
    checkpoint = tmp_path / "kernel.npz"
    with start(checkpoint, tmp_path / "one.npy") as one:
        assert one.stdout.readline() == "begun\n"
        with start(checkpoint, tmp_path / "two.npy") as two:
            text = two.communicate()[1]
        assert two.returncode == 1
        assert f"another run is writing into {checkpoint} (process {one.pid} on" in text
        one.communicate()
    assert one.returncode == 0
    with start(checkpoint, tmp_path / "two.npy") as two:
        begun = two.communicate()[0]
    assert begun == "", "the checkpoint is whole"
    assert np.array_equal(np.load(tmp_path / "one.npy"), np.load(tmp_path / "two.npy"))
    assert sorted(os.listdir(tmp_path)) == ["kernel.npz", "one.npy", "two.npy"]


@pytest.mark.processes
@pytest.mark.slow
def test_a_checkpoint_of_a_killed_process_is_taken_up(tmp_path):
    checkpoint = tmp_path / "kernel.npz"
    with start(checkpoint, tmp_path / "one.npy") as one:
        for _ in range(5):
            assert one.stdout.readline() == "begun\n"
            one.stdin.write("\n")
            one.stdin.flush()
        one.stdout.readline()
        one.kill()
    with start(checkpoint, tmp_path / "two.npy") as two:
        begun = two.communicate()[0].count("begun")
    assert 0 < begun < 12 * 13 // 2


def test_resuming_keeps_the_tiles_that_another_run_added(tmp_path, monkeypatch):
    monkeypatch.setattr("propkernels.kernels.tiles.NODES_IN_TILE", 3)
    path = tmp_path / "kernel.npz"
    stopped = pk.AttributeKernel(checkpoint=path, time_limit=1e-9)
    with pytest.warns(UserWarning, match="time limit reached"):
        stopped.fit_transform(GRAPHS)
    reference = fill(path)  # meanwhile another run completes the file
    monkeypatch.setattr("propkernels.kernels.attribute_kernel.MeanOverPairs.tile", None)
    assert np.array_equal(stopped.resume(), reference)
    assert stopped.completed_ == 1


def test_a_whole_checkpoint_is_read_where_nothing_can_be_written(checkpoint, monkeypatch):
    path, reference = checkpoint
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    monkeypatch.setattr("propkernels.kernels.attribute_kernel.MeanOverPairs.tile", None)
    assert np.array_equal(fill(path), reference)
    assert os.listdir(path.parent) == [path.name]


def test_too_many_open_files_are_not_damage(checkpoint, monkeypatch):
    def fails(place):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(place))

    monkeypatch.setattr("propkernels.kernels.checkpoint.open_regular", fails)
    with pytest.raises(OSError, match="Too many open files"):
        fill(checkpoint[0])


def test_numbers_that_print_alike_are_told_apart(tmp_path):
    """With few printed digits, two arrays of lambdas look the same."""

    def kernel(last):
        lambdas = np.array([1.0, 1.0, last])
        options = {"k": 3, "attributes": "gaussian", "lambdas": lambdas, "checkpoint": tmp_path / "kernel"}
        return pk.SubgraphMatching(**options).fit_transform(GRAPHS)

    with np.printoptions(precision=3):
        kernel(0.1234)
        with pytest.raises(ValueError, match="belongs to other graphs or parameters"):
            kernel(0.1231)
        kernel(0.1234)
    kernel(0.1234)


def mark(graphs=GRAPHS, **parameters):
    return fingerprint(graphs, pk.SubgraphMatching(**parameters), ("checkpoint", "n_jobs"))


def test_equal_options_have_one_fingerprint():
    assert mark(lambdas=[1, 2]) == mark(lambdas=np.array([1.0, 2.0])) == mark(lambdas=(1.0, np.float32(2)))
    assert mark(gamma=1) == mark(gamma=np.float64(1.0))
    assert mark(checkpoint="a", n_jobs=2) == mark()


def test_other_options_and_graphs_have_others():
    options = [
        {},
        {"k": 4},
        {"k": True},
        {"lambdas": [1, 2]},
        {"lambdas": [1, 2.0000000001]},
        {"gamma": 2**-60},
    ]
    options += [{"gamma": 1e-300}, {"labels": None}, {"labels": "None"}, {"edge_labels": True}]
    options += [{"standardize": False}, {"connected": False}, {"attributes": "linear"}, {"lambdas": [[1], 2]}]
    marks = [mark(**option) for option in options]
    other = [
        GRAPHS[:1],
        GRAPHS.with_labels([0, 1, 2, 0, 1, 3]),
        GRAPHS.with_labels(None),
        GRAPHS.with_labels(np.full((6, 2), 0.5)),
        GRAPHS.with_labels(np.tile([0.25, 0.75], (6, 1))),
        GRAPHS.with_attributes(GRAPHS.node_attributes.T.reshape(3, 2).repeat(2, axis=0)),
        GRAPHS.with_attributes(None),
        labelled_zoo(),
    ]
    marks += [mark(graphs) for graphs in other]
    assert len(set(marks)) == len(marks)


def test_a_checkpoint_of_an_earlier_format_is_refused(checkpoint):
    path, _ = checkpoint
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "format.npy"}
    with ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ValueError, match="has the format of another version of propkernels: delete it"):
        fill(path)
    rewritten(path, format=np.array("propkernels checkpoint 9"))
    with pytest.raises(ValueError, match="has the format of another version of propkernels: delete it"):
        fill(path)


def test_the_fingerprint_is_the_same_on_every_machine():
    """Pinned: a checkpoint that was written before must be recognized."""
    known = "afbcd8f13f1b9435211164a9c9275f9c0791579bc59830fee884b99ed3549fb8"
    assert fingerprint(GRAPHS, pk.AttributeKernel(), NOT_IN_THE_KERNEL) == known


def test_a_function_as_a_parameter_is_refused():
    with pytest.raises(TypeError, match="cannot be written down, so results could not be told apart"):
        mark(gamma=len)

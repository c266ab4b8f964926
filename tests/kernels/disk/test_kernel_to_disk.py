"""Kernel matrices on disk: the bits of fit_transform, through kills, and nothing overwritten."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.kernels.disk import kernel_to_disk as module
from propkernels.kernels.training_tiles import CountTiles
from tests.test_contract_discovery import cases, fitted_on_the_zoo, input_of, make, the_zoo

KERNEL = pk.PropagationKernel(t_max=2, normalize=True, random_state=0)


def molecules(n=50):
    return pk.datasets.make_molecules(n, random_state=0, mean_nodes=8).graphs


@pytest.mark.slow
@cases("kernel")
def test_tiles_are_the_bits_of_fit_transform(cls, parameters):
    reference = fitted_on_the_zoo(cls, parameters)[1]
    tiles = make(cls, **parameters).fit(input_of(cls, the_zoo())).training_tiles()
    n = tiles.n_graphs
    cuts = [slice(a, min(a + 15, n)) for a in range(0, n, 15)]
    computed = np.block([[tiles.tile(rows, columns) for columns in cuts] for rows in cuts])
    assert np.array_equal(computed, reference)


def test_slices_of_different_sizes():
    graphs = molecules()
    reference = KERNEL.fit_transform(graphs)
    tiles = clone(KERNEL).fit(graphs).training_tiles()
    assert np.array_equal(tiles.tile(slice(3, 40), slice(20, 21)), reference[3:40, 20:21])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["npy", "zarr"])
@pytest.mark.parametrize("tile", [1, 16, 50, 1000])
def test_the_file_is_fit_transform(tmp_path, kind, tile):
    graphs, path = molecules(20), tmp_path / f"K.{kind}"
    matrix = pk.kernel_to_disk(KERNEL, graphs, path, tile=tile)
    assert np.array_equal(matrix[:], KERNEL.fit_transform(graphs))
    assert os.listdir(tmp_path) == [path.name]


def test_grids(tmp_path):
    grids = pk.GridDatabase([np.arange(12).reshape(3, 4) % 3, np.eye(4, dtype=int)])
    kernel = pk.PropagationKernel(propagation=pk.Convolution(), t_max=1, random_state=0)
    matrix = pk.kernel_to_disk(kernel, grids, tmp_path / "K.npy", tile=1)
    assert np.array_equal(matrix, kernel.fit_transform(grids))


@pytest.fixture
def stopping(monkeypatch):
    """Let the computation of a tile fail once, after some."""

    def after(n):
        left, tile = [n], CountTiles.tile

        def stopped(self, rows, columns):
            left[0] -= 1
            if left[0] == -1:
                raise KeyboardInterrupt
            return tile(self, rows, columns)

        monkeypatch.setattr(CountTiles, "tile", stopped)
        return left

    return after


@pytest.mark.parametrize("kind", ["npy", "zarr"])
def test_it_goes_on_where_it_stopped(tmp_path, stopping, kind):
    graphs, path = molecules(), tmp_path / f"K.{kind}"
    left = stopping(4)
    with pytest.raises(KeyboardInterrupt):
        pk.kernel_to_disk(KERNEL, graphs, path, tile=16)
    assert not path.exists()
    left[0] = 100
    matrix = pk.kernel_to_disk(KERNEL, graphs, path, tile=16)
    assert left[0] == 100 - (10 - 4)  # of 10 tiles on and above the diagonal, 4 were there
    assert np.array_equal(matrix[:], KERNEL.fit_transform(graphs))


KILLED = """
import os, signal, sys
import propkernels as pk
from propkernels.kernels.disk import kernel_to_disk as module
from propkernels.kernels.training_tiles import CountTiles
module.SYNC_EVERY, left, tile = 0.0, [int(sys.argv[2])], CountTiles.tile
def killed(self, rows, columns):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return tile(self, rows, columns)
CountTiles.tile = killed
graphs = pk.datasets.make_molecules(50, random_state=0, mean_nodes=8).graphs
kernel = pk.PropagationKernel(t_max=2, normalize=True, random_state=0)
pk.kernel_to_disk(kernel, graphs, sys.argv[1], tile=16)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_after_every_kill_the_result_is_the_same(tmp_path):
    path = tmp_path / "K.npy"
    for tiles in (3, 4):
        run = subprocess.run([sys.executable, "-c", KILLED, str(path), str(tiles)], check=False)
        assert run.returncode == -signal.SIGKILL
    matrix = pk.kernel_to_disk(KERNEL, molecules(), path, tile=16)
    assert np.array_equal(matrix, KERNEL.fit_transform(molecules()))
    assert os.listdir(tmp_path) == ["K.npy"]


def begun(tmp_path, stopping):
    left = stopping(3)
    with pytest.raises(KeyboardInterrupt):
        pk.kernel_to_disk(KERNEL, molecules(), tmp_path / "K.npy", tile=16)
    left[0] = 1000
    return tmp_path / "K.npy"


def test_a_line_that_was_not_finished_counts_for_nothing(tmp_path, stopping):
    path = begun(tmp_path, stopping)
    with (tmp_path / "K.npy.journal").open("a") as journal:
        journal.write("9")
    matrix = pk.kernel_to_disk(KERNEL, molecules(), path, tile=16)
    assert np.array_equal(matrix, KERNEL.fit_transform(molecules()))


@pytest.mark.parametrize(
    "other",
    [
        (KERNEL, molecules(49), 16),
        (pk.PropagationKernel(t_max=3, normalize=True, random_state=0), molecules(), 16),
        (pk.PropagationKernel(t_max=2, normalize=True, random_state=1), molecules(), 16),
        (KERNEL, molecules(), 17),
    ],
)
def test_work_of_something_else_is_refused(tmp_path, stopping, other):
    path = begun(tmp_path, stopping)
    before = (tmp_path / "K.npy.partial").read_bytes()
    kernel, graphs, tile = other
    with pytest.raises(ValueError, match="belongs to other graphs, parameters or tiles"):
        pk.kernel_to_disk(kernel, graphs, path, tile=tile)
    assert (tmp_path / "K.npy.partial").read_bytes() == before


def test_tiles_that_changed_on_the_disk_are_written_again(tmp_path, stopping):
    path = begun(tmp_path, stopping)
    partial = tmp_path / "K.npy.partial"
    values = np.lib.format.open_memmap(partial, mode="r+")
    values[3, 5] += 1.0
    values.flush()
    lines = (tmp_path / "K.npy.journal").read_text().splitlines()
    forged = [lines[0], "5 " + lines[1].split()[1], *lines[2:]]
    (tmp_path / "K.npy.journal").write_text("\n".join(forged) + "\n")
    matrix = pk.kernel_to_disk(KERNEL, molecules(), path, tile=16)
    assert np.array_equal(matrix, KERNEL.fit_transform(molecules()))


@pytest.mark.parametrize("text", ["", "{", "[1]\n", "{}\n", "head", None])
def test_damaged_journals_are_refused(tmp_path, stopping, text):
    path = begun(tmp_path, stopping)
    journal = tmp_path / "K.npy.journal"
    if text == "head":
        text = journal.read_text().split("\n")[0]
    if text is None:
        about = json.loads(journal.read_text().split("\n")[0])
        text = json.dumps(about) + "\n99 7\n"
    journal.write_text(text)
    with pytest.raises(ValueError, match="remove it"):
        pk.kernel_to_disk(KERNEL, molecules(), path, tile=16)


def test_a_partial_file_of_another_shape_or_without_a_journal_is_refused(tmp_path, stopping):
    path = begun(tmp_path, stopping)
    partial = tmp_path / "K.npy.partial"
    with partial.open("wb") as file:
        np.save(file, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="is not a matrix of 50 x 50"):
        pk.kernel_to_disk(KERNEL, molecules(), path, tile=16)
    (tmp_path / "K.npy.journal").unlink()
    with pytest.raises(ValueError, match="has no journal"):
        pk.kernel_to_disk(KERNEL, molecules(), path, tile=16)


def test_nothing_is_overwritten_and_bad_arguments_are_named(tmp_path, monkeypatch):
    graphs, path = molecules(10), tmp_path / "K.npy"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="left as it is"):
        pk.kernel_to_disk(KERNEL, graphs, path)
    assert path.read_text() == "mine"
    path.unlink()
    with pytest.raises(ValueError, match=r"\.npy file or a \.zarr folder"):
        pk.kernel_to_disk(KERNEL, graphs, tmp_path / "K.txt")
    with pytest.raises(FileNotFoundError, match=r"K.npy cannot be written: .*no is not a folder"):
        pk.kernel_to_disk(KERNEL, graphs, tmp_path / "no" / "K.npy")
    with pytest.raises(TypeError, match="must be a kernel of this library"):
        pk.kernel_to_disk(pk.PropagationFeatures(), graphs, path)
    with pytest.raises(ValueError, match="random_state must be a number"):
        pk.kernel_to_disk(pk.PropagationKernel(), graphs, path)
    with pytest.raises(ValueError, match="kernel0__random_state must be a number"):
        pk.kernel_to_disk(pk.SumKernel([pk.PropagationKernel()]), graphs, path)
    with pytest.raises(ValueError, match="weights that are learned"):
        pk.kernel_to_disk(pk.SumKernel(weights="alignment"), graphs, path)
    with pytest.raises(ValueError, match="tile must be"):
        pk.kernel_to_disk(KERNEL, graphs, path, tile=0)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("usage", (), {"free": 10}))
    with pytest.raises(OSError, match=r"needs 0\.0 GB on the disk"):
        pk.kernel_to_disk(KERNEL, graphs, path)
    assert os.listdir(tmp_path) == []


def test_tiles_are_synced_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SYNC_EVERY", -1.0)
    synced = []
    monkeypatch.setattr(
        module, "_save", lambda file, journal, written: synced.append(list(written)) or written.clear()
    )
    pk.kernel_to_disk(KERNEL, molecules(), tmp_path / "K.npy", tile=25)
    assert synced == [[0], [1], [2], []]

"""Folders of results that are not as they should be: one sentence, and nothing is overwritten."""

import os
import subprocess
import sys
import threading

import pytest

import propkernels as pk
from propkernels._utils.safe_files import locked
from propkernels.scale.verifying import DamagedFolderError
from tests.utils.test_safe_files import posix

from .conftest import contents


def test_a_whole_folder_is_in_order(out, plan):
    found = pk.verify(out, n_jobs=2)
    assert found.n_parts == len(plan)
    assert found.n_graphs == 60
    assert found.n_bytes == sum(path.stat().st_size for path in out.glob("*.parquet"))


def test_a_foreign_file_is_refused(out, plan, features):
    (out / "thesis.docx").write_text("mine")
    before = contents(out)
    with pytest.raises(ValueError, match=r"holds thesis\.docx, not written by such a run"):
        pk.featurize(plan, features, out)
    assert contents(out) == before
    with pytest.raises(DamagedFolderError, match=r"thesis\.docx is not in manifest\.json"):
        pk.verify(out)


def test_results_of_other_parameters_are_refused(out, plan, features, database):
    before = contents(out)
    with pytest.raises(ValueError, match=r"holds other results \(t_max is 2, not 3\)"):
        pk.featurize(plan, features.set_params(t_max=3), out)
    with pytest.raises(ValueError, match="holds results of another plan"):
        pk.featurize(pk.partition(database, nodes_per_part=800), features.set_params(t_max=2), out)
    assert contents(out) == before


@pytest.mark.slow
def test_two_runs_at_once_are_refused(out, plan, features):
    with locked(out), pytest.raises(OSError, match="another run of this process is writing into"):
        pk.featurize(plan, features, out)
    code = (
        "import sys; from pathlib import Path; from propkernels._utils.safe_files import locked\n"
        "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(
            BlockingIOError, match=rf"another run is writing into .* \(process {other.pid} on"
        ):
            pk.featurize(plan, features, out)
        other.kill()
    pk.featurize(plan, features, out)  # the system has released the lock


def test_locks_of_threads_are_told_apart(tmp_path):
    entered, errors = threading.Event(), []

    def second():
        try:
            with locked(tmp_path):
                pass
        except BlockingIOError as error:
            errors.append(error)
        entered.set()

    with locked(tmp_path):
        threading.Thread(target=second).start()
        assert entered.wait(10)
    assert len(errors) == 1
    with locked(tmp_path):
        pass


def test_a_folder_that_is_not_there(tmp_path):
    for run in (pk.verify, pk.open_features):
        with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
            run(tmp_path / "nowhere")


def test_a_changed_source_fails_its_parts_only(molecules, features, tmp_path):
    for name in ("a", "b"):
        molecules.graphs.to_parquet(tmp_path / f"{name}.parquet")
    plan = pk.partition(tmp_path)
    molecules.graphs[:30].to_parquet(tmp_path / "b.parquet")
    with pytest.raises(
        pk.scale.PartsFailedError,
        match=r"part 1 .*b.parquet.* has changed since the plan was made: make a new plan",
    ):
        pk.featurize(plan, features, tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 1


@posix
@pytest.mark.parametrize("name", [".lock", "plan.json", "manifest.json", "part", "checksum"])
@pytest.mark.parametrize("target", ["existing", "missing"])
def test_nothing_is_written_through_a_link(plan, features, tmp_path, name, target):
    """A folder from a stranger may hold links of any name, to files that are there or not."""
    from propkernels.scale.folder import OutputFolder, checksum_path
    from propkernels.scale.pure import pure_features

    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (outside / "existing").write_text("precious")
    work = pure_features(features, pk.datasets.make_molecules(5, random_state=0).graphs).description
    part = out / OutputFolder(out, plan, work, ".parquet").names[0]
    names = {"part": part, "checksum": checksum_path(part)}
    names.get(name, out / name).symlink_to(outside / target)
    if (name, target) == ("checksum", "existing"):
        (out / part.name).unlink(missing_ok=True)
    with pytest.raises((OSError, ValueError), match=r"link.*"):
        pk.featurize(plan, features, out)
    assert os.listdir(outside) == ["existing"]
    assert (outside / "existing").read_text() == "precious"


@posix
@pytest.mark.parametrize("name", ["plan.json", "manifest.json", "part", ".lock"])
def test_pipes_are_refused_without_waiting(out, plan, features, name):
    path = next(out.glob("*.parquet")) if name == "part" else out / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises((OSError, ValueError), match="not a regular file"):
        pk.featurize(plan, features, out)
    if name.endswith(".json"):
        with pytest.raises((OSError, ValueError), match="not a regular file"):
            pk.verify(out)


@posix
def test_a_folder_whose_name_is_not_utf8(plan, features, tmp_path):
    out = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        out.mkdir()
    except OSError:
        pytest.skip("the file system takes names in UTF-8 only")
    opened = pk.featurize(plan, features, out)
    assert pk.verify(out).n_graphs == 60
    assert opened.to_scipy().shape == (60, 1024)
    assert opened.ids.tolist() == list(range(60))


@posix
def test_a_source_whose_name_is_not_utf8(molecules, features, tmp_path):
    source = tmp_path / os.fsdecode(b"caf\xe9.parquet")
    try:
        molecules.graphs.to_parquet(source)
    except OSError:
        pytest.skip("the file system takes names in UTF-8 only")
    assert pk.GraphDatabase.from_parquet(source) == molecules.graphs
    pk.featurize(source, features, tmp_path / "out")
    assert pk.verify(tmp_path / "out").n_graphs == 60


FEW_FILES = """
import resource, sys
import numpy as np
import propkernels as pk
pk.open_features(sys.argv[1]).block(0)  # what is imported on first use
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
opened = pk.open_features(sys.argv[1])
assert opened.n_parts >= 80
assert opened.ids.tolist() == list(range(90))
assert opened.to_scipy().shape[0] == len(opened.target) == 90
assert pk.verify(sys.argv[1]).n_parts == opened.n_parts
"""


@pytest.mark.processes
@pytest.mark.slow
def test_more_parts_than_files_may_be_open(features, tmp_path):
    pytest.importorskip("resource")
    data = pk.datasets.make_molecules(90, random_state=0, mean_nodes=4)
    data.graphs.to_parquet(tmp_path / "graphs.parquet", target=data.target, row_group_size=1)
    plan = pk.partition(tmp_path / "graphs.parquet", nodes_per_part=1)
    pk.featurize(plan, features, tmp_path / "out")
    command = [sys.executable, "-c", FEW_FILES, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

"""Folders of results that are not as they should be: one sentence, and nothing is overwritten."""

import json
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


@pytest.fixture
def out(plan, features, tmp_path):
    pk.featurize(plan, features, tmp_path / "out")
    return tmp_path / "out"


def change_manifest(out, change):
    known = json.loads((out / "manifest.json").read_text())
    change(known)
    (out / "manifest.json").write_text(json.dumps(known))


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


def test_a_missing_file_is_noticed_and_computed_again(out, plan, features):
    before = contents(out)
    victim = next(out.glob("*.parquet"))
    victim.unlink()
    with pytest.raises(FileNotFoundError, match="is missing: run featurize again"):
        pk.open_features(out)
    with pytest.raises(DamagedFolderError, match="is missing: run again to compute it"):
        pk.verify(out)
    pk.featurize(plan, features, out)
    assert contents(out) == before


def test_a_changed_byte_is_noticed(out, plan, features):
    victim = next(out.glob("*.parquet"))
    data = bytearray(victim.read_bytes())
    data[-len(data) // 2] ^= 1  # inside a page, which has a checksum
    victim.write_bytes(data)
    with pytest.raises(DamagedFolderError, match="has changed since it was written: remove it and run again"):
        pk.verify(out)
    (out / "manifest.json").unlink()  # now nobody vouches for the files: they are read again
    with pytest.raises(pk.scale.PartsFailedError, match="remove it and run again"):
        pk.featurize(plan, features, out)
    assert victim.read_bytes() == data
    victim.unlink()
    pk.featurize(plan, features, out)
    pk.verify(out)


def test_every_changed_bit_is_noticed_without_a_manifest(out, plan, features):
    (out / "manifest.json").unlink()
    victim = next(out.glob("*.parquet"))
    data = victim.read_bytes()
    for place in (4, 9, 20, len(data) // 3, len(data) - 9):  # magic, headers of pages, pages, footer
        victim.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(
            pk.scale.PartsFailedError, match="has changed since it was written: remove it and run again"
        ):
            pk.featurize(plan, features, out)
        (out / "manifest.json").unlink()
    victim.write_bytes(data)
    pk.featurize(plan, features, out)
    pk.verify(out)


def test_files_without_checksums_are_read_whole(out, plan, features, monkeypatch):
    from propkernels.scale import featurizing

    read, check = [], featurizing.FeatureWork.check
    spy = staticmethod(lambda path, part, work: read.append(path) or check(path, part, work))
    monkeypatch.setattr(featurizing.FeatureWork, "check", spy)
    first, second, *_ = sorted(out.glob(".*.sha256"))
    first.unlink()
    second.write_bytes(b"\xff")
    (out / "manifest.json").unlink()
    pk.featurize(plan, features, out)
    assert sorted(path.name for path in read) == sorted(name[1:-7] for name in (first.name, second.name))


def test_a_shortened_file_is_noticed(out, plan, features):
    victim = next(out.glob("*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-7])
    for run in (lambda: pk.featurize(plan, features, out), lambda: pk.open_features(out)):
        with pytest.raises(ValueError, match=r"bytes instead of the .* of the manifest: remove it"):
            run()


LIES = {
    "complete": lambda known: known.update(complete=False),
    "n_graphs": lambda known: known.update(n_graphs=61),
    "hash": lambda known: known["parts"][0].update(sha256="0" * 64),
    "count": lambda known: (known["parts"][0]["counts"].update(n_graphs=0), known.update(n_graphs=0)),
    "dropped": lambda known: known["parts"].pop(),
    "name": lambda known: known["parts"][0].update(name="../../elsewhere"),
    "swapped": lambda known: known["parts"].reverse(),
    "work": lambda known: known["work"]["parameters"].update(t_max=7),
    "plan": lambda known: known.update(plan="0" * 64),
    "version": lambda known: known.update(version=2),
    "types": lambda known: known["parts"][0].update(n_bytes="many"),
    "list": lambda known: known.update(parts=7),
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_a_manifest_that_lies_is_noticed(out, plan, features, lie):
    change_manifest(out, LIES[lie])
    before = contents(out)
    with pytest.raises(DamagedFolderError):
        pk.verify(out)
    assert contents(out) == before


def test_a_manifest_that_is_not_json(out, plan, features):
    (out / "manifest.json").write_text("{")
    for run in (lambda: pk.featurize(plan, features, out), lambda: pk.open_features(out)):
        with pytest.raises(
            ValueError, match=r"is damaged .* remove it and run again, complete parts are kept"
        ):
            run()
    (out / "manifest.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no manifest.json"):
        pk.open_features(out)
    pk.featurize(plan, features, out)
    pk.verify(out)


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
model = pk.LinearModel().fit(opened)
assert len(model.predict(opened.to_scipy())) == 90
"""


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


NO_FILES = """
import os, resource, sys
import propkernels as pk
opened = pk.open_features(sys.argv[1])
opened.block(0)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = [os.dup(0) for _ in range(64 - len(os.listdir("/proc/self/fd")) + 1)]
for read in (lambda: opened.block(0), lambda: opened.target, lambda: pk.verify(sys.argv[1])):
    try:
        read()
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts descriptors")
def test_too_many_open_files_are_not_damage(out):
    done = subprocess.run(
        [sys.executable, "-c", NO_FILES, str(out)], capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done.stderr
    for line in lines:
        assert line.startswith("OSError [Errno 24] Too many open files"), line
        assert "remove it" not in line

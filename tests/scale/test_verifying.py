"""verify notices files that are missing, changed or shortened, and manifests that lie."""

import json
import os
import subprocess
import sys

import pytest

import propkernels as pk
from propkernels.scale.verifying import DamagedFolderError

from .conftest import contents


def change_manifest(out, change):
    known = json.loads((out / "manifest.json").read_text())
    change(known)
    (out / "manifest.json").write_text(json.dumps(known))


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


def test_files_without_checksums_are_computed_again(out, plan, features):
    """A byte of a footer, which has no checksum of its own, may be wrong."""
    expected = {path.name: path.read_bytes() for path in out.glob("*.parquet")}
    first, second, *_ = sorted(out.glob(".*.sha256"))
    first.unlink()
    second.write_bytes(b"\xff")
    victim = out / first.name[1:-7]
    data = bytearray(victim.read_bytes())
    data[-900] ^= 2
    victim.write_bytes(data)
    (out / "manifest.json").unlink()
    pk.featurize(plan, features, out)
    assert {path.name: path.read_bytes() for path in out.glob("*.parquet")} == expected
    pk.verify(out)


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

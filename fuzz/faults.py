"""Programs without what they rely on: room on the disk, a home, a terminal, a reader, a usual locale.

    python -m fuzz.faults

Each must end with a sensible exit code and at most one sentence, never a traceback; what was there before is
still there, and nothing half written is left.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fuzz.counts import keep
from fuzz.kill import data_set, temporary

CLOCK = """
import time
import numpy as np
import propkernels as pk
graphs = pk.datasets.make_molecules(30, random_state=0).graphs
graphs = graphs.with_attributes(np.arange(graphs.n_nodes, dtype=float))
before = pk.AttributeKernel().fit_transform(graphs)
moments = iter(range(10**9, 0, -1000))
time.time = lambda: float(next(moments))  # a clock that is put back all the time
path = "checkpoint.npz"
after = pk.AttributeKernel(checkpoint=path, time_limit=600).fit_transform(graphs)
again = pk.AttributeKernel(checkpoint=path, time_limit=600).fit_transform(graphs)
raise SystemExit(0 if (before == after).all() and (after == again).all() else 3)
"""


@contextmanager
def tmpfs(folder: Path, options: str) -> Iterator[bool]:
    """A small file system of its own; False where this process may not mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=False)


class Faults:
    """Runs commands under hard conditions and judges how they end."""

    def __init__(self, root: Path) -> None:
        self.root, self.data = root, root / "SMALL.zip"
        data_set(self.data, copies=60)
        self.results: dict[str, str] = {}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "propkernels.cli", *words]

    def kernel(self, output: Path, *more: str) -> list[str]:
        return self.command("kernel", str(self.data), "-o", str(output), "--t-max", "2", "-j", "1", *more)

    def judge(self, name: str, words: list[str], allowed: tuple[int, ...], **options: Any) -> str:
        """Run a command; write down what is wrong with how it ends."""
        options = {"stdout": subprocess.PIPE, "stdin": subprocess.DEVNULL, "cwd": self.root, **options}
        run = subprocess.run(words, stderr=subprocess.PIPE, timeout=300, check=False, **options)
        said = run.stderr.decode(errors="replace").strip()
        wrong = []
        if run.returncode not in allowed:
            wrong.append(f"exit code {run.returncode}")
        if "Traceback" in said:
            wrong.append("a traceback")
        if len(said.splitlines()) > 4:
            wrong.append(f"{len(said.splitlines())} lines of error")
        self.results[name] = ", ".join(wrong) + (f": {said.splitlines()[-1][:120]}" if wrong and said else "")
        return said

    def expect(self, name: str, right: bool, what: str) -> None:
        if not right:
            self.results[name] = f"{self.results.get(name, '')} {what}".strip()

    def disk_full(self) -> None:
        with tmpfs(self.root / "full", "size=64k") as mounted:
            if not mounted:
                self.results["disk full"] = self.results["read-only folder"] = "skipped: may not mount"
                return
            old = self.root / "full" / "K.npz"
            old.write_bytes(b"old")
            said = self.judge("disk full", self.kernel(old, "--force"), (1, 2))
            self.expect("disk full", old.read_bytes() == b"old", "the old file is gone")
            self.expect("disk full", not temporary(old.parent), "temporary files are left")
            self.expect("disk full", "K.npz" in said, "the file is not named")
            subprocess.run(["mount", "-o", "remount,ro", str(old.parent)], check=False)
            said = self.judge("read-only folder", self.kernel(old, "--force"), (1, 2))
            self.expect("read-only folder", "K.npz" in said, "the file is not named")

    def odd_environments(self) -> None:
        bare = {
            name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ
        }
        nowhere = {"HOME": str(self.data / "home"), "XDG_CACHE_HOME": str(self.data / "cache")}
        environments = {
            "no home": {**bare, **nowhere},
            "empty environment": {"PYTHONPATH": bare.get("PYTHONPATH", "")},
            "locale C": {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            "locale of Turkey": {**os.environ, "LC_ALL": "tr_TR.UTF-8"},
            "output in ASCII": {**os.environ, "PYTHONIOENCODING": "ascii"},
        }
        for name, environment in environments.items():
            target = self.root / f"{name.replace(' ', '_')}.npz"
            self.judge(name, self.kernel(target), (0,), env=environment)
            self.expect(name, target.exists(), "nothing was written")
        self.judge(
            "no terminal",
            self.command("evaluate", str(self.data), "--repeats", "1"),
            (0,),
            start_new_session=True,
        )

    def closed_pipes(self) -> None:
        quoted = " ".join(self.command("datasets"))
        for name, redirect in {
            "closed output": ">&-",
            "reader that leaves": "| head -n 1",
            "output to a full device": "> /dev/full",
            "closed input": "<&-",
            "closed errors": "2>&-",
        }.items():
            self.judge(name, ["bash", "-c", f"{quoted} {redirect}"], (0, 1, 120, 141))

    def clock(self) -> None:
        self.judge("clock put back", [sys.executable, "-c", CLOCK], (0,))


def run() -> dict[str, Any]:
    """Try every fault, and return what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(Path(folder))
        for attempt in (faults.disk_full, faults.odd_environments, faults.closed_pipes, faults.clock):
            attempt()
    return {
        "results": faults.results,
        "n_wrong": sum(bool(r) for r in faults.results.values() if "skip" not in r),
    }


def main() -> None:
    """Run from the command line."""
    counts = run()
    print(keep("faults", counts))
    print(json.dumps(counts, indent=1))
    sys.exit(int(bool(counts["n_wrong"])))


if __name__ == "__main__":
    main()

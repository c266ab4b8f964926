"""Wheels in fresh environments: ``python -m benchmarks.install 0.1.0=OLD.whl 0.2.0=NEW.whl``.

Measures packages, size on disk, and processor time of the import and of the first kernel, with an empty cache
of machine code and with a full one; writes ``docs/measured/results/install.json``. Needs an index of
packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from benchmarks.process import ROOT, run_process

RESULTS = ROOT / "docs" / "measured" / "results" / "install.json"
REPEATS = 5
FIRST_KERNEL = """
import numpy as np
import propkernels as pk
rng = np.random.default_rng(0)
graphs = []
for _ in range(10):
    upper = np.triu(rng.random((8, 8)) < 0.3, 1).astype(float)
    graphs.append((upper + upper.T, rng.integers(0, 3, 8).tolist()))
kernel = pk.PropagationKernel(random_state=0).fit_transform(graphs)
"""


def measure(wheel: Path, folder: Path) -> dict[str, Any]:
    """Install a wheel into a fresh environment, and measure it."""
    python = folder / "bin" / "python"
    venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel.resolve())], check=True)
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True)
    packages = [row["name"] for row in json.loads(listed.stdout) if row["name"] not in ("pip", "setuptools")]
    (library,) = folder.glob("lib/python*/site-packages")
    size = sum(
        path.stat().st_size for path in library.rglob("*") if path.is_file() and "/pip" not in str(path)
    )
    empty, full = str(folder / "empty"), str(folder / "full")
    return {
        "packages": len(packages),
        "megabytes": round(size / 1e6),
        "python_start": _best([str(python), "-c", "pass"]),
        "import": _best([str(python), "-c", "import propkernels"]),
        "first_kernel_empty_cache": _best([str(python), "-c", FIRST_KERNEL], empty, n_fresh=3),
        "first_kernel_full_cache": _best([str(python), "-c", FIRST_KERNEL], full),
    }


def _best(command: list[str], cache: str | None = None, n_fresh: int = 0) -> float:
    """Return the least processor seconds of several processes; with ``n_fresh``, of as many empty caches."""
    times = []
    for number in range(n_fresh or REPEATS):
        place = f"{cache}{number}" if n_fresh else cache
        variables = {"PYTHONPATH": "", **({"NUMBA_CACHE_DIR": place} if place else {})}
        outcome = run_process(command, 600.0, variables)
        if outcome.returncode:
            raise SystemExit(outcome.errors)
        times.append(outcome.processor)
    return round(min(times), 3)


def main() -> None:
    """Measure the wheels that the command line names."""
    measured = {}
    for word in sys.argv[1:]:
        name, wheel = word.split("=", 1)
        with tempfile.TemporaryDirectory() as folder:
            measured[name] = measure(Path(wheel), Path(folder) / "environment")
        print(name, measured[name])
    result = {"python": sys.version.split()[0], "installations": measured}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

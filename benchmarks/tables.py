"""Memory and time of ``propkernels predict`` by the number of rows: ``python -m benchmarks.tables``.

    python -m benchmarks.tables --rows 10000 100000 1000000 --jobs 1 2

Random molecules are written as CSV (or Parquet, SDF); a model is fitted on 500 of them. Each prediction, with
intervals, unseen surroundings, the three strongest substructures and the nearest training molecule, runs
in a process of its own, whose largest resident set is that of itself or of one of its workers.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from propkernels._utils.optional import import_optional
from propkernels._utils.text_tables import format_table

RINGS = ("c1ccccc1", "c1ccncc1", "C1CCCCC1", "C1CCOC1", "c1ccoc1", "C1CCNCC1", "c1ccc2ccccc2c1", "c1ccsc1")
LINKS = ("C", "CC", "O", "N", "C(=O)N", "C(=O)O", "CO", "S(=O)(=O)N", "C#C", "CCO")
ENDS = ("C", "O", "N", "F", "Cl", "C(F)(F)F", "C#N", "OC", "C(=O)O", "N(C)C")
TRAINING = 500
EXTRAS = ("--coverage", "0.9", "--details", "--errors", "skip")
FORMATS = ("csv", "parquet", "sdf")


def molecules(seed: int) -> Iterator[str]:
    """Yield SMILES: an end, and up to four links with rings."""
    rng = np.random.default_rng(seed)
    while True:
        n_rings = int(rng.integers(1, 5))
        text = ENDS[rng.integers(len(ENDS))]
        for _ in range(n_rings):
            text = f"{RINGS[rng.integers(len(RINGS))]}{LINKS[rng.integers(len(LINKS))]}{text}"
        yield text


def write_table(path: Path, n_rows: int, seed: int, has_target: bool = False) -> None:
    """Write molecules with a target, the length of their SMILES, or without; row 7 is not a molecule."""
    chosen = islice(molecules(seed), n_rows)
    if path.suffix == ".sdf":
        chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
        with chem.SDWriter(str(path)) as writer:
            for text in chosen:
                writer.write(chem.MolFromSmiles(text))
        return
    texts = list(chosen)
    if not has_target:
        texts[7] = "not a molecule"
    rows = [(text, len(text)) for text in texts] if has_target else [(text,) for text in texts]
    head = ["smiles", "value"][: len(rows[0])]
    if path.suffix == ".parquet":
        pandas = import_optional("pandas", extra="pandas", purpose="tables need")
        pandas.DataFrame(rows, columns=head).to_parquet(path, index=False)
        return
    with open(path, "w", newline="") as stream:
        csv.writer(stream).writerows([head, *rows])


def run(*words: object) -> tuple[float, float, float]:
    """Run a command; return its peak memory in megabytes, processor seconds and seconds."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "propkernels.cli", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}: {errors[-500:]}")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, time.perf_counter() - start


def main() -> None:
    """Print one line per number of rows and processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1])
    parser.add_argument("--format", choices=FORMATS, default="csv")
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "train.csv", TRAINING, 0, has_target=True)
        run("fit", folder / "train.csv", "--target", "value", "--task", "numbers", "-o", folder / "model.pk")
        for n_rows in options.rows:
            table = folder / f"new{n_rows}.{options.format}"
            write_table(table, n_rows, 1)
            for jobs in options.jobs:
                files = ("-o", folder / "out.csv", "--force", "--skipped", folder / "bad.csv")
                nearest = ("--nearest", folder / "train.csv", "--jobs", jobs)
                peak, processor, took = run("predict", folder / "model.pk", table, *EXTRAS, *nearest, *files)
                rate = f"{1e6 * processor / n_rows:.0f}"
                lines.append(
                    [f"{n_rows:,}", str(jobs), f"{peak:.0f}", f"{processor:.1f}", f"{took:.1f}", rate]
                )
            table.unlink()
    head = ["rows", "processes", "peak MB", "processor s", "s", "microseconds per row"]
    print(format_table(head, lines))


if __name__ == "__main__":
    main()

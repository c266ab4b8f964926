"""Damaged data sets and checkpoints: read as they were, or refused in one sentence."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np

import propkernels as pk
from fuzz.cases import SCRATCH, Case, Wrong, try_to
from fuzz.corpus import remember
from fuzz.forging import changed_archive, damaged, pick
from fuzz.hostile import NUMBERS
from tests.test_contract_discovery import the_zoo

Generator = np.random.Generator
TU = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n3\n0\n7\n3\n9\n",
    "node_attributes": "0.5, 1\n1, 2\n0, 0\n1e3, 5\n-1, 2\n0, 1\n",
    "edge_labels": "0\n0\n1\n1\n2\n2\n",
}


def tu_zip(tables: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for kind, text in tables.items():
            archive.writestr(f"TINY/TINY_{kind}.txt", text)
    return stream.getvalue()


def read_and_use(data: bytes, seed: int) -> None:
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{seed}.zip"
    remember("tu", ".zip", data)
    path.write_bytes(data)
    try:
        found = try_to(lambda: pk.datasets.read_tu(path), OSError)
    finally:
        path.unlink()
    try_to(lambda: pk.PropagationKernel(t_max=1, random_state=0).fit_transform(found.graphs))


def data_set_bytes(rng: Generator, seed: int) -> None:
    read_and_use(damaged(tu_zip({kind: text.encode() for kind, text in TU.items()}), rng), seed)


def data_set_tables(rng: Generator, seed: int) -> None:
    tables = {kind: text.encode() for kind, text in TU.items()}
    for kind in rng.choice(sorted(tables), size=int(rng.integers(1, 3)), replace=False):
        lines = tables[str(kind)].split(b"\n")
        lines[int(rng.integers(len(lines)))] = str(pick(rng, NUMBERS[:-1])).encode()
        tables[str(kind)] = pick(rng, (b"\n".join(lines), damaged(tables[str(kind)], rng)))
    read_and_use(tu_zip(tables), seed)


@cache
def checkpoint() -> tuple[bytes, np.ndarray]:
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}.npz"
    path.unlink(missing_ok=True)
    values = pk.AttributeKernel(checkpoint=path).fit_transform(the_zoo()[3:8])
    data = path.read_bytes()
    path.unlink()
    return data, values


def checkpoint_bytes(rng: Generator, seed: int) -> None:
    data, expected = checkpoint()
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{seed}.npz"
    try:
        changed = changed_archive(data, rng) if rng.random() < 0.3 else damaged(data, rng)
    except (BadZipFile, ValueError):
        return
    path.write_bytes(changed)
    forged = changed != data and _keeps_fingerprint(changed)
    try:
        computed = try_to(lambda: pk.AttributeKernel(checkpoint=path).fit_transform(the_zoo()[3:8]))
    finally:
        path.unlink(missing_ok=True)
    if computed.shape != expected.shape or (not forged and not np.array_equal(computed, expected)):
        raise Wrong("a damaged checkpoint was believed")


def _keeps_fingerprint(data: bytes) -> bool:
    """Whether all checksums are right: whoever forges a file on purpose can have any numbers."""
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            return archive.testzip() is None
    except Exception:
        return False


CHECKS: dict[str, Callable[[Generator, int], None]] = {
    function.__name__: function for function in (data_set_bytes, data_set_tables, checkpoint_bytes)
}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 8])
    names = sorted(CHECKS)
    return Case("files", seed, names[rng.integers(len(names))])


def run(case: Case) -> None:
    CHECKS[case.check](np.random.default_rng([case.seed, 9]), case.seed)


def leftovers() -> list[Path]:
    """Files of this process that a case left behind."""
    return list(SCRATCH.glob(f"*propkernels-fuzz-{os.getpid()}-*"))

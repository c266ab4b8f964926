"""Forged files with right checksums: models of every kind, Parquet, feature parts, shards, plans, manifests.

What is accepted has arrays that fit together and answers when it is used; all else is refused in a sentence.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import SCRATCH, Case, Wrong, try_to
from fuzz.corpus import remember
from fuzz.forging import (
    changed_archive,
    changed_npy,
    changed_shard,
    changed_table,
    changed_tree,
    damaged,
    pick,
    read_table,
    sealed,
    table_bytes,
)
from fuzz.models import file_of, kinds
from fuzz.parts import features, is_part, scratch, whole
from fuzz.valid import check_database, check_sparse
from propkernels.storage.model_files import ModelFileError
from tests.test_contract_discovery import the_zoo

Generator = np.random.Generator


def load_and_use(kind: str, data: bytes, seed: int) -> None:
    """Load a model file; what comes out of it answers as its kind does, or refuses in one sentence."""
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{seed}.pk"
    remember("model", ".pk", data)
    path.write_bytes(data)
    try:
        model = try_to(lambda: pk.load_model(path), ModelFileError)
    finally:
        path.unlink()
    if isinstance(model, pk.GraphDatabase):
        check_database(model)
    try_to(lambda: kinds()[kind].use(model), MemoryError)


def model(rng: Generator, seed: int) -> None:
    """One header or array of a model file changed, or two."""
    kind = pick(rng, sorted(kinds()))
    data = changed_archive(file_of(kind), rng)
    load_and_use(kind, changed_archive(data, rng) if rng.random() < 0.2 else data, seed)


def model_bytes(rng: Generator, seed: int) -> None:
    """A model file damaged anywhere."""
    kind = pick(rng, sorted(kinds()))
    load_and_use(kind, damaged(file_of(kind), rng), seed)


@cache
def base_tables() -> list[Any]:
    """Small Parquet databases: labels of numbers, of texts and as JSON, weights, attributes, targets."""
    found = []
    labels: tuple[Any, ...] = ([0, 1, 2, 1, 0], list("abcab"), [("a", 1), 2.5, "x", 2.5, ("a", 1)])
    for given in labels:
        values = np.empty(5, dtype=object)
        values[:] = given
        matrix = np.zeros((5, 5))
        matrix[0, 1] = matrix[1, 0] = 2.5
        matrix[2, 3] = matrix[3, 4] = 1.0
        graphs = pk.GraphDatabase(matrix, [0, 2, 2, 5], values, np.arange(10.0).reshape(5, 2), list("wxyz"))
        path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-base.parquet"
        graphs.to_parquet(path, target=[0.5, None, 2.0] if len(found) else ["p", "q", "p"])
        found.append(read_table(path.read_bytes()))
        path.unlink()
    return found


def parquet(rng: Generator, seed: int) -> None:
    """Columns of a Parquet database changed: valid graphs, or a sentence."""
    data = table_bytes(changed_table(pick(rng, base_tables()), rng))
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{seed}.parquet"
    remember("parquet", ".parquet", data)
    path.write_bytes(data)
    try:
        check_database(try_to(lambda: pk.GraphDatabase.from_parquet(path), OSError, MemoryError))
    finally:
        path.unlink()


def part(rng: Generator, seed: int) -> None:
    """A part of features with other columns, sealed again: right arrays, or a sentence."""
    files = whole().features
    name = pick(rng, sorted(filter(is_part, files)))
    data = table_bytes(changed_table(read_table(files[name]), rng), write_page_checksum=True)
    changed = sealed(files, name, data)
    remember("features", ".zip", changed)
    with scratch(str(seed), changed) as folder:
        opened = try_to(lambda: pk.open_features(folder), OSError)
        wanted = int(rng.integers(4))
        if wanted == 0:
            check_sparse(try_to(opened.to_scipy, OSError, MemoryError), "features")
        elif wanted == 1:
            try_to(lambda: (opened.target, opened.ids), OSError)
        elif wanted == 2:
            try_to(lambda: pk.verify(folder), OSError)
        else:
            try_to(lambda: [block.features.sum() for block in opened], OSError, MemoryError)


def shard(rng: Generator, seed: int) -> None:
    """A shard with other arrays, sealed again: answers, or a sentence."""
    files = whole().index
    name = pick(rng, sorted(filter(is_part, files)))
    changed = sealed(files, name, changed_shard(files[name], rng))
    remember("index", ".zip", changed)
    with scratch(str(seed), changed) as folder:
        if rng.random() < 0.3:
            try_to(lambda: [pk.verify(own) for own in folder.glob("plan*")], OSError)
        found = try_to(
            lambda: pk.GraphIndex.open(folder).query(whole().graphs[:2], k=3), OSError, MemoryError
        )
        if np.shape(found.ids) != (2, 3):
            raise Wrong(f"{np.shape(found.ids)} answers instead of (2, 3)")


def manifest(rng: Generator, seed: int) -> None:
    """A manifest or plan with another value: features or answers of the right shape, or a sentence."""
    files = dict(pick(rng, (whole().features, whole().index)))
    name = pick(rng, sorted(name for name in files if not is_part(name)))
    files[name] = json.dumps(changed_tree(json.loads(files[name]), rng)).encode()
    is_index = files.keys() >= whole().index.keys()
    remember("index" if is_index else "features", ".zip", files)
    with scratch(str(seed), files) as folder:
        if is_index:
            opened = try_to(lambda: pk.GraphIndex.open(folder), OSError)
            try_to(lambda: opened.query(whole().graphs[:2], k=3), OSError, MemoryError)
        else:
            opened = try_to(lambda: pk.open_features(folder), OSError)
            repr(opened)
            try_to(lambda: (opened.target, opened.ids, opened.to_scipy()), OSError, MemoryError)


def plan(rng: Generator, seed: int) -> None:
    """A plan with another value is refused when it is read, or when it is carried out."""
    data = json.loads(whole().features["plan.json"])
    files = {"plan.json": json.dumps(changed_tree(data, rng)).encode()}
    remember("plan", ".json", files["plan.json"])
    with scratch(str(seed), files) as folder:
        found = try_to(lambda: pk.scale.Plan.load(folder / "plan.json"), OSError)
        repr(found), str(found)
        if rng.random() < 0.2:
            shutil.copy(whole().source, folder)
            try_to(
                lambda: pk.featurize(found, features(), folder / "out"), OSError, RuntimeError, MemoryError
            )


@cache
def checkpoint() -> tuple[dict[str, bytes], np.ndarray]:
    """A checkpoint of a kernel matrix, member by member, and the matrix."""
    import io
    from zipfile import ZipFile

    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}.npz"
    path.unlink(missing_ok=True)
    values = pk.AttributeKernel(checkpoint=path).fit_transform(the_zoo()[3:8])
    with ZipFile(io.BytesIO(path.read_bytes())) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    path.unlink()
    return members, values


def checkpointed(rng: Generator, seed: int) -> None:
    """One array of a checkpoint changed: the shape is right, or a sentence."""
    from zipfile import ZipFile

    members, expected = checkpoint()
    name = pick(rng, sorted(members))
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{seed}.npz"
    with ZipFile(path, "w") as archive:
        for key, content in members.items():
            archive.writestr(key, changed_npy(content, rng) if key == name else content)
    try:
        kernel = pk.AttributeKernel(checkpoint=path)
        found = try_to(lambda: kernel.fit_transform(the_zoo()[3:8]), OSError)
    finally:
        path.unlink(missing_ok=True)
    if found.shape != expected.shape:
        raise Wrong(f"a matrix of shape {found.shape}")


CHECKS: dict[str, tuple[Callable[[Generator, int], None], float]] = {
    "model": (model, 0.40),
    "model_bytes": (model_bytes, 0.10),
    "parquet": (parquet, 0.22),
    "part": (part, 0.07),
    "shard": (shard, 0.10),
    "manifest": (manifest, 0.06),
    "plan": (plan, 0.03),
    "checkpointed": (checkpointed, 0.02),
}
EDGES = np.cumsum([share for _, share in CHECKS.values()])
NAMES = list(CHECKS)


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 22])
    at = int(np.searchsorted(EDGES, rng.random() * EDGES[-1], side="right"))
    return Case("forged", seed, NAMES[at])


def run(case: Case) -> None:
    CHECKS[case.check][0](np.random.default_rng([case.seed, 23]), case.seed)

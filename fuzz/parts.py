"""Damaged and forged folders of parts: Parquet databases, features, manifests, plans and shards of an index.

What was written is read as it was, or refused in one sentence; ``verify`` finds every changed byte, and a run
that goes on either completes the folder to the same bytes or refuses it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import propkernels as pk
from fuzz.cases import SCRATCH, Case, Wrong, same, try_to
from fuzz.forging import changed_tree, damaged, flipped, pick

Generator = np.random.Generator
JSON = ("manifest.json", "plan.json")


def features() -> Any:
    """Features that are not fitted: hashed ones are a function of the graph alone."""
    return pk.PropagationFeatures(n_features=256, t_max=1, random_state=0)


def kernel() -> Any:
    return pk.PropagationKernel(t_max=1, random_state=0)


class Whole(NamedTuple):
    """What undisturbed runs wrote, and what is read from it."""

    source: Path
    graphs: pk.GraphDatabase
    plan: Any
    features: dict[str, bytes]
    index: dict[str, bytes]
    expected: Any


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of all files of a folder that are not hidden."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@contextmanager
def scratch(name: str, files: dict[str, bytes]) -> Iterator[Path]:
    """A folder with these files for as long as a case takes."""
    folder = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{name}"
    for file, data in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def whole() -> Whole:
    """Twelve molecules in a Parquet file, their features and their index, each in three parts."""
    data = pk.datasets.make_molecules(12, random_state=0, mean_nodes=6)
    source = SCRATCH / f"propkernels-fuzz-{os.getpid()}.parquet"
    data.graphs.to_parquet(source, target=data.target, row_group_size=4)
    plan = pk.partition(source, nodes_per_part=30)
    with scratch("whole", {}) as folder:
        pk.featurize(plan, features(), folder / "features")
        pk.GraphIndex.build(plan, folder / "index", kernel=kernel())
        written = [contents(folder / name) for name in ("features", "index")]
    return Whole(source, data.graphs, plan, *written, features().fit_transform(data.graphs))


def one_changed(files: dict[str, bytes], rng: Generator, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The same files, one of them damaged; half of the time it keeps its length, which is checked first."""
    name = pick(rng, sorted(filter(wanted, files)))
    return {**files, name: pick(rng, (damaged, flipped))(files[name], rng)}


def one_forged(files: dict[str, bytes], rng: Generator) -> dict[str, bytes]:
    """The same files, another value at a random place of one JSON file."""
    name = pick(rng, sorted(name for name in files if name.endswith(".json")))
    tree = changed_tree(json.loads(files[name]), rng)
    return {**files, name: json.dumps(tree).encode()}


def told(data: bytes) -> Any:
    """What a manifest or a plan promises: a plan holds wherever its files lie, and however it was cut."""
    tree = json.loads(data)
    free = {"paths", "nodes_per_part"}
    return {key: tree[key] for key in tree if key not in free} if isinstance(tree, dict) else tree


def is_part(name: str) -> bool:
    return not name.endswith(".json")


def verify_finds(folder: Path, is_changed: bool) -> None:
    """Refused in one sentence where something was changed that counts."""
    try_to(lambda: pk.verify(folder), OSError)
    if is_changed:
        raise Wrong("verify believes a changed folder")


def database_bytes(rng: Generator, seed: int) -> None:
    """A damaged Parquet database gives valid graphs, or a sentence."""
    files = {"graphs.parquet": damaged(whole().source.read_bytes(), rng)}
    with scratch(str(seed), files) as folder:
        path = folder / "graphs.parquet"
        graphs = try_to(lambda: pk.GraphDatabase.from_parquet(path), OSError)
        try_to(lambda: pk.PropagationKernel(t_max=1, random_state=0).fit_transform(graphs))


def source_bytes(rng: Generator, seed: int) -> None:
    """A source that changed since the plan was made is not featurized."""
    data = whole().source.read_bytes()
    files = {"graphs.parquet": data}
    with scratch(str(seed), files) as folder:
        plan = pk.partition(folder / "graphs.parquet", nodes_per_part=30)
        changed = damaged(data, rng)
        (folder / "graphs.parquet").write_bytes(changed)
        written = try_to(lambda: pk.featurize(plan, features(), folder / "out"), OSError, RuntimeError)
        same(written.to_scipy(), whole().expected, "features of a changed file", True)


def part_verified(rng: Generator, seed: int) -> None:
    files = one_changed(whole().features, rng, is_part)
    with scratch(str(seed), files) as folder:
        verify_finds(folder, files != whole().features)


def part_read(rng: Generator, seed: int) -> None:
    """Features from a folder with a damaged part: the right ones, or a sentence."""
    with scratch(str(seed), one_changed(whole().features, rng, is_part)) as folder:
        found = try_to(lambda: pk.open_features(folder).to_scipy(), OSError)
        same(found, whole().expected, "features of a damaged part", True)


def part_resumed(rng: Generator, seed: int) -> None:
    """A run goes on in a folder whose manifest is lost and one of whose parts is missing or damaged."""
    files = {name: data for name, data in whole().features.items() if name != "manifest.json"}
    lost = pick(rng, sorted(filter(is_part, files)))
    files = one_changed(files, rng, is_part) if rng.random() < 0.8 else files
    if rng.random() < 0.5:
        del files[lost]
    with scratch(str(seed), files) as folder:
        try_to(lambda: pk.featurize(whole().plan, features(), folder), OSError, RuntimeError)
        if contents(folder) != whole().features:
            raise Wrong("a damaged part was taken for a whole one")


def manifest_forged(rng: Generator, seed: int) -> None:
    """A manifest or plan that lies is refused by verify; what is read despite it is right."""
    files = one_forged(whole().features, rng)
    with scratch(str(seed), files) as folder:
        verify_finds(folder, any(told(files[name]) != told(whole().features[name]) for name in JSON))


def manifest_bytes(rng: Generator, seed: int) -> None:
    """A damaged manifest or plan: a sentence, or features of the right shape."""
    with scratch(str(seed), one_changed(whole().features, rng, lambda name: not is_part(name))) as folder:
        found = try_to(lambda: pk.open_features(folder).to_scipy(), OSError)
        same(found, whole().expected, "features under a damaged manifest", True)


def manifest_resumed(rng: Generator, seed: int) -> None:
    """A run goes on under a damaged manifest or plan: a sentence, or the same bytes as before."""
    files = (
        one_forged(whole().features, rng)
        if rng.random() < 0.5
        else one_changed(whole().features, rng, lambda name: not is_part(name))
    )
    with scratch(str(seed), files) as folder:
        try_to(lambda: pk.featurize(whole().plan, features(), folder), OSError, RuntimeError)
        parts = {name: data for name, data in contents(folder).items() if is_part(name)}
        if parts != {name: data for name, data in whole().features.items() if is_part(name)}:
            raise Wrong("another run changed the parts")


def shard_queried(rng: Generator, seed: int) -> None:
    """A damaged shard, plan or manifest of an index: answers or a sentence, never a crash."""
    files = one_changed(whole().index, rng, lambda name: True)
    with scratch(str(seed), files) as folder:
        graphs = whole().graphs[:2]
        found = try_to(lambda: pk.GraphIndex.open(folder).query(graphs, k=3), OSError)
        if np.shape(found.ids) != (2, 3):
            raise Wrong(f"{np.shape(found.ids)} answers instead of (2, 3)")


CHECKS: dict[str, Callable[[Generator, int], None]] = {
    function.__name__: function
    for function in (
        database_bytes,
        source_bytes,
        part_verified,
        part_read,
        part_resumed,
        manifest_forged,
        manifest_bytes,
        manifest_resumed,
        shard_queried,
    )
}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 18])
    names = sorted(CHECKS)
    return Case("parts", seed, names[rng.integers(len(names))])


def run(case: Case) -> None:
    CHECKS[case.check](np.random.default_rng([case.seed, 19]), case.seed)

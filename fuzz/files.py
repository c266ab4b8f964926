"""Damaged and forged files: data sets, models, indexes and checkpoints. Whole, or refused in one sentence."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

import propkernels as pk
from fuzz.cases import Case, Wrong, try_to
from fuzz.estimators import build, estimators
from fuzz.hostile import NUMBERS, pick
from fuzz.invariances import SCRATCH
from propkernels.storage.files import ModelFileError
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


def damaged(data: bytes, rng: Generator) -> bytes:
    """The same bytes with some flipped, cut off, doubled, or put elsewhere."""
    text = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(text) + 1))
        style = int(rng.integers(5))
        if style == 0 and at < len(text):
            text[at] ^= 1 << int(rng.integers(8))
        elif style == 1:
            del text[at : at + int(rng.integers(1, 40))]
        elif style == 2:
            text[at:at] = text[at : at + int(rng.integers(1, 40))]
        elif style == 3:
            text[at:at] = bytes(rng.integers(0, 256, size=int(rng.integers(1, 6)), dtype=np.uint8))
        else:
            del text[at:]
    return bytes(text)


def tu_zip(tables: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for kind, text in tables.items():
            archive.writestr(f"TINY/TINY_{kind}.txt", text)
    return stream.getvalue()


def read_and_use(data: bytes, seed: int) -> None:
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{seed}.zip"
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
def models() -> list[bytes]:
    """Small model files of every estimator that can be saved, of a classifier and of an index."""
    graphs = the_zoo()[:6]
    fitted = [build(name, {}, t_max=1).fit(graphs) for name in sorted(estimators())]
    fitted += [
        pk.ShortestPath(attributes="gaussian").fit(graphs),
        pk.WeisfeilerLehman(exact=True).fit(graphs),
    ]
    fitted += [pk.GraphIndex(random_state=0).fit(graphs).add(graphs[:1], ids=["x"]).remove([0])]
    data = pk.datasets.make_molecules(20, random_state=0, mean_nodes=6)
    fitted += [pk.PropagationClassifier(t_max=1, C=1.0, random_state=0).fit(data.graphs, data.target)]
    files, path = [], SCRATCH / f"propkernels-fuzz-{os.getpid()}.pk"
    for model in fitted:
        pk.save_model(model, path)
        files.append(path.read_bytes())
    path.unlink()
    return files


def changed_tree(tree: Any, rng: Generator) -> Any:
    """Another value at a random place of nested lists and dictionaries."""
    if isinstance(tree, dict) and tree and rng.random() < 0.9:
        key = pick(rng, sorted(tree))
        return {**tree, key: changed_tree(tree[key], rng)}
    if isinstance(tree, list) and tree and rng.random() < 0.9:
        at = int(rng.integers(len(tree)))
        return [*tree[:at], changed_tree(tree[at], rng), *tree[at + 1 :]]
    values = (None, 0, 1, -1, 2**40, 0.5, "", "tv", [], {}, True, -1e300, {"array": 0}, {"same": 0}, [[0]])
    return pick(rng, values)


def changed_archive(data: bytes, rng: Generator) -> bytes:
    """A model file with another header or another array, and checksums that are right."""
    with ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = pick(rng, sorted(members))
    if name.endswith(".json"):
        header = changed_tree(json.loads(members[name]), rng)
        members[name] = json.dumps(header).encode()
    else:
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        members[name] = _npy(_changed_array(array, rng))
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for key, content in members.items():
            archive.writestr(key, content)
    return stream.getvalue()


def _changed_array(array: np.ndarray, rng: Generator) -> np.ndarray:
    array = array.copy()
    style = int(rng.integers(4))
    if style == 0 and array.size and array.dtype.kind in "iuf":
        array.flat[int(rng.integers(array.size))] = (
            pick(rng, (0, 1, 7, 100))
            if array.dtype.kind == "u"
            else pick(rng, (-1, 10**6, 2**31 - 1, -(2**31)))
        )
    elif style == 1 and array.ndim:
        array = array[: int(rng.integers(len(array) + 1))]
    elif style == 2:
        with np.errstate(invalid="ignore", over="ignore"):
            array = array.astype(pick(rng, ("f4", "f8", "i4", "i8", "u1", "?")))
    else:
        array = array[None]
    return array


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def load_and_use(data: bytes, seed: int) -> None:
    """Load a file; a model that comes out of it answers, or refuses in one sentence."""
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{seed}.pk"
    path.write_bytes(data)
    try:
        model = try_to(lambda: pk.load_model(path), ModelFileError)
    finally:
        path.unlink()
    graphs = the_zoo()[:3]
    if isinstance(model, pk.GraphIndex):
        try_to(lambda: model.query(graphs, k=2))
    elif hasattr(model, "transform"):
        try_to(lambda: model.transform(graphs))
    elif hasattr(model, "predict"):
        try_to(lambda: model.predict(graphs.with_attributes(None)))


def model_bytes(rng: Generator, seed: int) -> None:
    load_and_use(damaged(pick(rng, models()), rng), seed)


def model_contents(rng: Generator, seed: int) -> None:
    load_and_use(changed_archive(pick(rng, models()), rng), seed)


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
    function.__name__: function
    for function in (data_set_bytes, data_set_tables, model_bytes, model_contents, checkpoint_bytes)
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

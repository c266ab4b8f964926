"""Forged and damaged files: models of every kind, Parquet, feature folders, and the kept files.

What is accepted has arrays that fit together and answers when it is used; all else is refused in a sentence.
Files that once led to a wrong answer, a crash or an unclear error lie in ``corpus/DOOR/NAME``.
"""

import io
import json
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import propkernels as pk
from propkernels.storage.model_files import ModelFileError
from tests.fuzz.cases import Refused, pick, run_cases, try_to
from tests.fuzz.forging import changed_archive, changed_table, changed_tree, damaged, read_table, table_bytes
from tests.fuzz.models import NAMES, file_of, use
from tests.fuzz.valid import check_database, check_sparse

CORPUS = Path(__file__).parent / "corpus"


def read(door, name, data):
    """Have a file of these bytes read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        door(path)


def read_model(path):
    """The name of a file begins with that of the model: MODEL--WHAT.pk."""
    model = try_to(lambda: pk.load_model(path), ModelFileError)
    if isinstance(model, pk.GraphDatabase):
        check_database(model)
    try_to(lambda: use(path.stem.partition("--")[0], model), MemoryError)


def read_parquet(path):
    check_database(try_to(lambda: pk.GraphDatabase.from_parquet(path), OSError, MemoryError))


def read_data_set(path):
    check_database(try_to(lambda: pk.datasets.read_tu(path), OSError).graphs)


def read_source(path):
    found = try_to(lambda: pk.datasets.open_source(path, target_required=False), OSError, MemoryError)
    check_database(found.graphs)


def read_features(path):
    folder = path.with_suffix("")
    with ZipFile(path) as archive:
        archive.extractall(folder)
    opened = try_to(lambda: pk.scale.open_features(folder), OSError)
    check_sparse(try_to(opened.to_scipy, OSError, MemoryError), "features")
    try_to(lambda: (opened.target, opened.ids), OSError)


DOORS = {
    "features": read_features,
    "model": read_model,
    "parquet": read_parquet,
    "source": read_source,
    "tu": read_data_set,
}


def model(rng):
    """One header or array of a model file changed, or two."""
    name = pick(rng, NAMES)
    data = changed_archive(file_of(name), rng)
    data = changed_archive(data, rng) if rng.random() < 0.2 else data
    read(read_model, f"{name}--forged.pk", data)


def model_bytes(rng):
    """A model file damaged anywhere."""
    name = pick(rng, NAMES)
    read(read_model, f"{name}--damaged.pk", damaged(file_of(name), rng))


@cache
def parquet_files():
    """Small Parquet databases: labels of numbers, of texts and as JSON, weights, attributes, targets."""
    found = []
    labels = ([0, 1, 2, 1, 0], list("abcab"), [("a", 1), 2.5, "x", 2.5, ("a", 1)])
    for given in labels:
        values = np.empty(5, dtype=object)
        values[:] = given
        matrix = np.zeros((5, 5))
        matrix[0, 1] = matrix[1, 0] = 2.5
        matrix[2, 3] = matrix[3, 4] = 1.0
        graphs = pk.GraphDatabase(matrix, [0, 2, 2, 5], values, np.arange(10.0).reshape(5, 2), list("wxyz"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "g.parquet"
            graphs.to_parquet(path, target=[0.5, None, 2.0] if found else ["p", "q", "p"])
            found.append(path.read_bytes())
    return found


def parquet(rng):
    """Columns of a Parquet database changed."""
    table = changed_table(read_table(pick(rng, parquet_files())), rng)
    read(read_parquet, "g.parquet", table_bytes(table))


def parquet_bytes(rng):
    """A Parquet database damaged anywhere."""
    read(read_parquet, "g.parquet", damaged(pick(rng, parquet_files()), rng))


@cache
def feature_files():
    """The files of a folder of features of twelve molecules in three parts."""
    data = pk.datasets.make_molecules(12, random_state=0, mean_nodes=6)
    features = pk.PropagationFeatures(n_features=256, t_max=1, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "graphs.parquet", Path(folder) / "features"
        data.graphs.to_parquet(source, target=data.target, row_group_size=4)
        pk.scale.featurize(pk.scale.partition(source, nodes_per_part=30), features, out)
        return {path.name: path.read_bytes() for path in out.iterdir() if not path.name.startswith(".")}


def zipped(files):
    """The files of a folder in one file."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, data in sorted(files.items()):
            archive.writestr(name, data)
    return stream.getvalue()


def part(rng):
    """A part of features with other columns."""
    files = feature_files()
    name = pick(rng, sorted(name for name in files if name.endswith(".parquet")))
    data = table_bytes(changed_table(read_table(files[name]), rng), write_page_checksum=True)
    read(read_features, "features.zip", zipped({**files, name: data}))


def manifest(rng):
    """A manifest of a folder of features with another value."""
    files = feature_files()
    changed = json.dumps(changed_tree(json.loads(files["features.json"]), rng)).encode()
    read(read_features, "features.zip", zipped({**files, "features.json": changed}))


CHECKS = (model, model_bytes, parquet, parquet_bytes, part, manifest)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_forged_files_give_valid_answers_or_a_sentence(check):
    run_cases(check, 20)


KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", KEPT, ids=lambda path: str(path.relative_to(CORPUS)))
def test_kept_files(path):
    with suppress(Refused):
        read(DOORS[path.parent.name], path.name, path.read_bytes())

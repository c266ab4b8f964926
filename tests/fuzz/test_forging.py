"""Forged files are whole: only what they say is another."""

import io
import json
from zipfile import ZipFile

import numpy as np

import propkernels as pk
from fuzz.forging import (
    changed_archive,
    changed_table,
    joined_shard,
    read_table,
    sealed,
    split_shard,
    table_bytes,
)
from fuzz.models import file_of
from fuzz.parts import is_part, scratch, whole


def test_an_archive_keeps_its_checksums():
    for seed in range(20):
        data = changed_archive(file_of("PropagationKernel"), np.random.default_rng(seed))
        with ZipFile(io.BytesIO(data)) as archive:
            assert archive.testzip() is None


def test_a_table_is_written_and_read():
    files = whole().features
    name = next(filter(is_part, sorted(files)))
    table = read_table(files[name])
    changed = [changed_table(table, np.random.default_rng(seed)) for seed in range(30)]
    assert any(not found.equals(table) for found in changed)
    assert all(read_table(table_bytes(found)).num_rows == table.num_rows for found in changed if len(found))


def test_a_shard_taken_apart_and_joined_is_the_same():
    for name in filter(is_part, whole().index):
        assert joined_shard(*split_shard(whole().index[name])) == whole().index[name]


def test_a_sealed_part_passes_the_checks_of_bytes():
    files = whole().features
    name = next(filter(is_part, sorted(files)))
    table = read_table(files[name])
    with scratch("sealed", sealed(files, name, table_bytes(table, compression="none"))) as folder:
        assert pk.open_features(folder).shape[0] == len(whole().graphs)
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["n_bytes"] == sum(part["n_bytes"] for part in manifest["parts"])

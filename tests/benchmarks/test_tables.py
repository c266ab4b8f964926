"""Tables of the benchmark: molecules that can be read, and one row that cannot."""

from contextlib import nullcontext
from itertools import islice

import pytest

import propkernels as pk
from benchmarks import tables

pytest.importorskip("rdkit")
pytest.importorskip("pandas")


def test_molecules_can_be_read_and_repeat():
    chosen = list(islice(tables.molecules(1), 200))
    assert len(pk.from_smiles(chosen)) == 200
    assert chosen == list(islice(tables.molecules(1), 200))
    assert len(set(chosen)) > 150


@pytest.mark.parametrize("kind", tables.FORMATS)
def test_tables_of_every_format(tmp_path, kind):
    tables.write_table(tmp_path / f"new.{kind}", 20, 1)
    with pytest.warns(UserWarning, match="skipped 1 of 20") if kind != "sdf" else nullcontext():
        data = pk.datasets.open_source(tmp_path / f"new.{kind}", target_required=False, errors="skip")
    assert len(data.graphs) == (20 if kind == "sdf" else 19)

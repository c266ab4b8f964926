"""Parts of Parquet tables of molecules: the same molecules, targets and ids as read at once."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets.reading import Reading
from propkernels.scale.partition import plan_sources
from propkernels.scale.reading_parts import SourceChangedError, iter_part

pytest.importorskip("rdkit")
pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
SMILES = ["CCO", "c1ccccc1", "C[NH3+]", "ClCCBr", "O=C(O)c1ccccc1", "N#N", "CC(C)C"]
ACTIVE = [0.5, None, 1.0, 2.0, None, 3.5, 4.0]
CODES = [f"m{i % 3}" for i in range(7)]


@pytest.fixture
def path(tmp_path):
    codes = pa.array(CODES).dictionary_encode()
    table = pa.table({"smiles": SMILES, "active": ACTIVE, "code": codes, "more": [[1]] * 7})
    pq.write_table(table, tmp_path / "drugs.parquet", row_group_size=3)
    return tmp_path / "drugs.parquet"


def test_molecules_targets_and_numbers(path):
    plan = pk.partition(path, nodes_per_part=8, node_labels="symbol")
    assert len(plan) > 2
    assert plan.parts[0].kind == "parquet table"
    blocks = [block for part in plan for block in iter_part(part)]
    joined, expected = pk.GraphDatabase.concat([block.graphs for block in blocks]), pk.from_smiles(SMILES)
    assert (abs(joined.adjacency - expected.adjacency)).nnz == 0
    assert [y for block in blocks for y in block.target] == ACTIVE
    assert np.concatenate([block.ids for block in blocks]).tolist() == list(range(7))


def test_a_table_is_read_at_once_too(path):
    data = pk.datasets.open_source(path, id_column="code")
    assert data.graphs.ids.tolist() == CODES
    np.testing.assert_array_equal(data.target, [np.nan if y is None else y for y in ACTIVE])
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(ValueError, match="neither a column of SMILES"):
        pk.datasets.open_source(path)


def test_ids_are_those_of_a_column(path):
    plan = plan_sources(path, 8, Reading(id_column="code", target_required=False), has_names=True)
    assert [name for part in plan for block in iter_part(part) for name in block.names] == CODES


def test_changed_files_and_empty_tables_are_noticed(path):
    plan = pk.partition(path, nodes_per_part=8)
    pq.write_table(pa.table({"smiles": SMILES[::-1]}), path, row_group_size=3)
    with pytest.raises(SourceChangedError):
        list(iter_part(plan.parts[0]))
    pq.write_table(pa.table({"smiles": pa.array([], pa.string())}), path)
    with pytest.raises(ValueError, match="has no molecules"):
        pk.partition(path)
    with pytest.raises(ValueError, match="has no rows"):
        pk.datasets.open_source(path)


def test_more_rows_than_memory_are_refused(path, monkeypatch):
    monkeypatch.setattr("propkernels.datasets.tables.available_memory", lambda: 1000)
    with pytest.raises(ValueError, match="too many for the memory"):
        pk.datasets.open_source(path)

"""Parts of tables and SMI files of molecules."""

import csv

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets.tables import Reading
from propkernels.scale.partition import SourceChangedError, iter_part, plan_sources

from .conftest import graphs_of

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
SMILES = ["CCO", "c1ccccc1", "C[NH3+]", "ClCCBr", "O=C(O)c1ccccc1", "N#N", "[Na+].[Cl-]"]

DRUGS = ["CCO", "c1ccccc1", "C[NH3+]", "ClCCBr", "O=C(O)c1ccccc1", "N#N", "CC(C)C"]
ACTIVE = [0.5, None, 1.0, 2.0, None, 3.5, 4.0]
CODES = [f"m{i % 3}" for i in range(7)]


def test_tables_of_molecules(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "drugs.csv"
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "smiles", "active"])
        for i, smiles in enumerate(SMILES):
            writer.writerow([f'a "name",\nof {i}', smiles, i % 2])
    plan = pk.scale.partition(path, nodes_per_part=8)
    assert len(plan) > 2
    blocks = [block for part in graphs_of(plan) for block in part]
    expected = pk.from_smiles(SMILES)
    assert [y for _, target, _ in blocks for y in target] == [0, 1, 0, 1, 0, 1, 0]
    assert np.concatenate([g.graph_sizes for g, _, _ in blocks]).tolist() == expected.graph_sizes.tolist()
    assert np.concatenate([ids for _, _, ids in blocks]).tolist() == list(range(7))


def test_smi_files_and_faulty_molecules(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "drugs.smi"
    path.write_text("CCO ethanol\n\nnot-a-molecule x\nCC ethane\n")
    plan = pk.scale.partition(path, errors="skip")
    with pytest.warns(UserWarning, match="skipped 1 of 3"):
        ((graphs, target, ids),) = graphs_of(plan)[0]
    assert (len(graphs), target, ids.tolist()) == (2, None, [0, 2])
    with pytest.raises(ValueError, match="molecule 1"):
        graphs_of(pk.scale.partition(path))


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["0", "1"], "int64", [0, 1]),
        (["0.5", "1"], "double", [0.5, 1.0]),
        (["0", ""], "double", [0.0, None]),
        (["a", "1"], "string", ["a", "1"]),
        (["nan", "1"], "double", [None, 1.0]),
    ],
)
def test_types_of_targets_are_those_of_the_whole_table(tmp_path, cells, kind, values):
    pytest.importorskip("rdkit")
    path = tmp_path / "drugs.tsv"
    path.write_text(
        "".join(f"{a}\t{b}\n" for a, b in [("smiles", "target"), ("CC", cells[0]), ("CO", cells[1])])
    )
    plan = pk.scale.partition(path, nodes_per_part=1)
    assert [part.target for part in plan] == [kind, kind]
    assert [block[1] for part in graphs_of(plan) for block in part] == [[value] for value in values]


@pytest.fixture
def table(tmp_path):
    codes = pa.array(CODES).dictionary_encode()
    table = pa.table({"smiles": DRUGS, "active": ACTIVE, "code": codes, "more": [[1]] * 7})
    pq.write_table(table, tmp_path / "drugs.parquet", row_group_size=3)
    return tmp_path / "drugs.parquet"


def test_parquet_tables_of_molecules(table):
    plan = pk.scale.partition(table, nodes_per_part=8, node_labels="symbol")
    assert len(plan) > 2
    assert plan.parts[0].kind == "parquet table"
    blocks = [block for part in plan for block in iter_part(part)]
    joined, expected = pk.GraphDatabase.concat([block.graphs for block in blocks]), pk.from_smiles(DRUGS)
    assert (abs(joined.adjacency - expected.adjacency)).nnz == 0
    assert [y for block in blocks for y in block.target] == ACTIVE
    assert np.concatenate([block.ids for block in blocks]).tolist() == list(range(7))


def test_a_parquet_table_is_read_at_once_too(table):
    data = pk.datasets.open_source(table, id_column="code")
    assert data.graphs.ids.tolist() == CODES
    np.testing.assert_array_equal(data.target, [np.nan if y is None else y for y in ACTIVE])
    pq.write_table(pa.table({"a": [1]}), table)
    with pytest.raises(ValueError, match="neither a column of SMILES"):
        pk.datasets.open_source(table)


def test_ids_are_those_of_a_column_of_a_parquet_table(table):
    plan = plan_sources(table, 8, Reading(id_column="code", target_required=False))
    assert [name for part in plan for block in iter_part(part) for name in block.names] == CODES


def test_changed_and_empty_parquet_tables_are_noticed(table):
    plan = pk.scale.partition(table, nodes_per_part=8)
    pq.write_table(pa.table({"smiles": DRUGS[::-1]}), table, row_group_size=3)
    with pytest.raises(SourceChangedError):
        list(iter_part(plan.parts[0]))
    pq.write_table(pa.table({"smiles": pa.array([], pa.string())}), table)
    with pytest.raises(ValueError, match="has no molecules"):
        pk.scale.partition(table)
    with pytest.raises(ValueError, match="has no rows"):
        pk.datasets.open_source(table)


def test_names_of_molecules_stay_with_their_features(table, tmp_path):
    """Names are kept part by part; without a column of names there are none."""
    features = pk.PropagationFeatures(n_features=64, t_max=1, random_state=0)
    plan = pk.scale.partition(table, nodes_per_part=8, id_column="code")
    opened = pk.featurize(plan, features, tmp_path / "named")
    assert opened.n_parts > 1
    assert opened.names == CODES
    assert pk.scale.open_features(tmp_path / "named").names == CODES
    plain = pk.featurize(pk.scale.partition(table, nodes_per_part=8), features, tmp_path / "plain")
    assert plain.names is None
    assert (plain.to_scipy() != opened.to_scipy()).nnz == 0

"""Parts of tables and SMI files of molecules."""

import csv

import numpy as np
import pytest

import propkernels as pk
from propkernels.scale.reading_parts import SourceChangedError, iter_part

from .conftest import graphs_of

SMILES = ["CCO", "c1ccccc1", "C[NH3+]", "ClCCBr", "O=C(O)c1ccccc1", "N#N", "[Na+].[Cl-]"]


def test_tables_of_molecules(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "drugs.csv"
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "smiles", "active"])
        for i, smiles in enumerate(SMILES):
            writer.writerow([f'a "name",\nof {i}', smiles, i % 2])
    plan = pk.partition(path, nodes_per_part=8)
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
    plan = pk.partition(path, errors="skip")
    with pytest.warns(UserWarning, match="skipped 1 of 3"):
        ((graphs, target, ids),) = graphs_of(plan)[0]
    assert (len(graphs), target, ids.tolist()) == (2, None, [0, 2])
    with pytest.raises(ValueError, match="molecule 1"):
        graphs_of(pk.partition(path))


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
    plan = pk.partition(path, nodes_per_part=1)
    assert [part.target for part in plan] == [kind, kind]
    assert [block[1] for part in graphs_of(plan) for block in part] == [[value] for value in values]


def test_a_changed_table_is_noticed(tmp_path):
    path = tmp_path / "drugs.smi"
    path.write_text("CCO\nCCN\n")
    plan = pk.partition(path)
    path.write_text("CCO\nCCC\n")
    with pytest.raises(SourceChangedError):
        list(iter_part(plan.parts[0]))

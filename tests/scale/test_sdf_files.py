"""Parts of SDF files: the same molecules, targets and ids as read at once."""

import pytest

import propkernels as pk
from propkernels.datasets.tables import Reading
from propkernels.scale.partition import SourceChangedError, iter_part, plan_sources

from .conftest import graphs_of

Chem = pytest.importorskip("rdkit.Chem")
SMILES = ["CCO", "c1ccccc1", "C[NH3+]", "ClCCBr", "O=C(O)c1ccccc1", "N#N", "CC(C)C"]


@pytest.fixture
def path(tmp_path):
    with Chem.SDWriter(str(tmp_path / "drugs.sdf")) as writer:
        for i, text in enumerate(SMILES):
            mol = Chem.MolFromSmiles(text)
            mol.SetProp("active", str(i / 2))
            mol.SetProp("code", f"m{i}")
            writer.write(mol)
    return tmp_path / "drugs.sdf"


def test_ids_are_those_of_a_property(path):
    plan = plan_sources(path, 8, Reading(id_column="code", target_required=False))
    found = [name for part in plan for block in iter_part(part) for name in block.names]
    assert found == [f"m{i}" for i in range(7)]


def test_faulty_records_are_left_out_or_named(path):
    records = path.read_bytes().split(b"$$$$\n")
    records[2] = b"broken\n\n\n nonsense\nM  END\n"
    path.write_bytes(b"$$$$\n".join(records))
    with pytest.warns(UserWarning, match="skipped 1 of 7"):
        ((graphs, _, ids),) = graphs_of(pk.scale.partition(path, errors="skip"))[0]
    assert (len(graphs), ids.tolist()) == (6, [0, 1, 3, 4, 5, 6])
    with pytest.raises(ValueError, match="molecule 2"):
        graphs_of(pk.scale.partition(path))


def test_changed_files_and_missing_targets_are_noticed(path):
    plan = pk.scale.partition(path, nodes_per_part=8)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"m6", b"m7"))
    with pytest.raises(SourceChangedError):
        list(iter_part(plan.parts[-1]))
    with pytest.raises(ValueError, match="has the property 'ki'"):
        pk.scale.partition(path, target_column="ki")
    path.write_bytes(b"\n")
    with pytest.raises(ValueError, match="has no molecules"):
        pk.scale.partition(path)


def test_a_record_without_end_is_refused(path, monkeypatch):
    monkeypatch.setattr("propkernels.datasets.tables.LONGEST_MOLECULE", 100)
    with pytest.raises(ValueError, match="record of over 100 bytes at byte 0"):
        pk.scale.partition(path)


def test_the_usual_name_of_the_target_is_that_of_the_whole_file(path):
    """A molecule without it has no target, also if it has another property with a usual name."""
    records = path.read_bytes().split(b"$$$$\n")
    records[1] = records[1].replace(b"<active>", b"<Label>").replace(b"0.5", b"text")
    path.write_bytes(b"$$$$\n".join(records))
    plan = pk.scale.partition(path, nodes_per_part=8)
    found = [y for part in plan for block in iter_part(part) for y in block.target]
    whole = pk.datasets.open_source(path).target.tolist()
    assert found == whole == [None, "text", None, None, None, None, None]
    chosen = pk.scale.partition(path, nodes_per_part=8, target_column="active")
    assert [y for part in chosen for block in iter_part(part) for y in block.target][:3] == [0.0, None, 1.0]

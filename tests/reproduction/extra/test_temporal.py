"""reproduction temporal: folds, rows and the page, on two small sets of graphs in time."""

import zipfile

import pytest

from reproduction.extra import temporal

pytest.importorskip("pandas")


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A zip with one small set: in class 1, vertex 1 meets 2 before 2 meets 3."""
    lines = {"A": "", "edge_attributes": "", "graph_indicator": "", "graph_labels": "", "node_labels": ""}
    for number in range(24):
        base, order = 3 * number, (1, 2) if number % 2 else (2, 1)
        lines["A"] += f"{base + 1}, {base + 2}\n{base + 2}, {base + 3}\n"
        lines["edge_attributes"] += f"{order[0]}\n{order[1]}\n"
        lines["graph_indicator"] += f"{number + 1}\n" * 3
        lines["graph_labels"] += f"{number % 2}\n"
        lines["node_labels"] += "0, 1\n0, 0\n0, 0\n"
    with zipfile.ZipFile(tmp_path / "temporal.zip", "w") as archive:
        for kind, text in lines.items():
            archive.writestr(f"dblp_ct1/dblp_ct1_{kind}.txt", text)
    monkeypatch.setattr(temporal, "FOLDS", 2)
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_measures_both_views_and_resumes(small):
    page = small / "temporal.md"
    table = temporal.run(["dblp_ct1"], small, page, 1)
    cells = table.splitlines()[2].split(" | ")
    assert cells[2] == "100.0 ± 0.0"
    assert float(cells[1].split(" ")[0]) < 70
    assert cells[3] == "2 of 2"
    lines = (small / "temporal.jsonl").read_text().count("\n")
    assert temporal.run(["dblp_ct1"], small, page, 1) == table
    assert (small / "temporal.jsonl").read_text().count("\n") == lines == 4


def test_unknown_sets_are_named():
    with pytest.raises(ValueError, match="choose among dblp_ct1"):
        temporal.run(["karate"], None, None, 1)

"""The benchmarks run: a tiny row from the command line to the page; pages show the stored figures."""

import json

import pytest

from benchmarks import compare, cores, edit_distance, nodes, peers, run, scale


def test_a_row_is_measured_kept_and_shown(monkeypatch, tmp_path, capsys):
    results = tmp_path / "results.json"
    monkeypatch.setattr(run, "CURVES", (("graphs", (20,), "kernel"),))
    run.main(["--only", "growth | graphs | 20", "start | Python alone", "--results", str(results)])
    kept = json.loads(results.read_text())["rows"]
    assert list(kept) == ["growth | graphs | 20", "start | Python alone"]
    assert kept["growth | graphs | 20"]["graphs"] == 20
    page = results.with_suffix(".md").read_text()
    assert "| graphs | 20 |" in page
    assert "- Python alone: " in page
    assert str(run.ROOT) not in page
    monkeypatch.setattr(run, "rows", lambda: {"job | none": ("benchmarks.run", "job", "999")})
    run.main(["--results", str(results)])
    assert "job | none: IndexError" in capsys.readouterr().err
    assert json.loads(results.read_text())["rows"] == kept


def test_ratios_are_those_of_the_rows():
    times = {"WL": (30.0, 140.0), "PK": (200.0, 1800.0)}
    rows = {
        f"peer | {method} | {i}": {"ours": 0.5, "peer": 0.5 * ratio}
        for method, both in times.items()
        for i, ratio in enumerate(both)
    }
    assert run.ratios(rows) == "WL and shortest paths 30 to 140 times, propagation kernels 200 to 1,800 times"


@pytest.mark.slow
def test_peers_compute_the_same_matrix(capsys):
    pytest.importorskip("grakel")
    peers.main("WL", "MOLECULES:20")
    assert json.loads(capsys.readouterr().out)["difference"] == 0


def test_trees_are_compared_by_their_least_times():
    base = compare.least([{"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 3.0}])
    head = {"a": 1.05, "b": 1.2, "c": 0.5}
    assert compare.slower(base, head) == ["b"]
    assert [row[3] for row in compare.table(base, head)] == ["1.05", "1.20", "new"]


def test_gain_is_cores_times_busy_over_work():
    row = cores.row("kernel", "DD", {1: (8.0, 8.0), 4: (4.0, 12.0)}, [1, 2, 4])
    assert row == ["kernel", "DD", "8,000", "", "4,000", "2.0", "75%", "1.50"]


def test_pages_show_the_stored_figures():
    known = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    shown = scale.PAGE.read_text(encoding="utf-8").split(scale.BEGIN)[1].split(scale.END)[0].strip()
    assert shown == scale.page(known)
    kept = json.loads(run.RESULTS.read_text(encoding="utf-8"))
    assert run.PAGE.read_text(encoding="utf-8") == run.page(kept)


@pytest.mark.slow
def test_a_fit_of_nodes_is_shown():
    found = nodes.fit(nodes.PLANTED, 1500)
    assert found.processor_seconds > 0
    assert nodes.shown(found).startswith("planted")


@pytest.mark.data
@pytest.mark.slow
def test_bounds_of_edit_distances_are_measured(data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(edit_distance, "CASES", [edit_distance.Case("MUTAG", 11, 2, edit_distance.of_ours)])
    edit_distance.main(["-o", str(tmp_path / "page.md")])
    *_, row, _, tail = (tmp_path / "page.md").read_text().splitlines()
    exact, ours = (float(cell) for cell in row.split("|")[4:6])
    assert exact <= ours
    assert "networkx" in tail

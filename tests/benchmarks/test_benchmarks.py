"""The benchmarks run: a tiny row from the command line to the page; pages show the stored figures."""

import json

import numpy as np
import pytest

import propkernels as pk
from benchmarks import edit_distance, levels, peers, run, same_bits, scale
from tests.test_contract_discovery import NOT_UNDER_CONTRACT


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


@pytest.mark.slow
def test_peers_compute_the_same_matrix(capsys):
    pytest.importorskip("grakel")
    peers.main("WL", "MOLECULES:20")
    assert json.loads(capsys.readouterr().out)["difference"] == 0


def test_pages_show_the_stored_figures():
    known = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    shown = scale.PAGE.read_text(encoding="utf-8").split(scale.BEGIN)[1].split(scale.END)[0].strip()
    assert shown == scale.page(known)
    kept = json.loads(run.RESULTS.read_text(encoding="utf-8"))
    assert run.PAGE.read_text(encoding="utf-8") == run.page(kept)


@pytest.mark.data
@pytest.mark.slow
def test_bounds_of_edit_distances_are_measured(data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(edit_distance, "CASES", [edit_distance.Case("MUTAG", 11, 2, edit_distance.of_ours)])
    edit_distance.main(["-o", str(tmp_path / "page.md")])
    *_, row, _, tail = (tmp_path / "page.md").read_text().splitlines()
    exact, ours = (float(cell) for cell in row.split("|")[4:6])
    assert exact <= ours
    assert "networkx" in tail


def test_a_digest_depends_on_arrays_alone_and_every_public_kernel_is_tried():
    graphs = pk.datasets.make_molecules(8, random_state=0).graphs
    kernels = (pk.PropagationKernel(t_max=t, random_state=0) for t in (2, 2, 3))
    one, same, other = (same_bits.digest(kernel.fit_transform(graphs)) for kernel in kernels)
    assert one == same != other
    assert same_bits.compare([{"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "0"}]) == (["a"], ["b", "c"])
    with pytest.raises(LookupError, match="no public name Nothing"):
        same_bits.find("Nothing")
    public = {name for module in (pk, pk.kernels, pk.nodes) for name in module.__all__}
    public = {name for name in public if hasattr(same_bits.find(name), "fit_transform")}
    assert public - set(same_bits.KERNELS) - {"SumKernel", "LabelImputer"} <= set(NOT_UNDER_CONTRACT)


@pytest.mark.slow
@pytest.mark.parametrize("case", levels.CASES, ids=lambda case: case.name)
def test_levels_of_everything_that_returns_a_p_value(case):
    """P(p <= a) is at most a, up to four standard errors; of graphs that are all equal, every p is 1."""
    repetitions = 40 if case.name.startswith("Evaluation") else 120
    found, a = levels.shares(case, repetitions), np.array(levels.LEVELS)
    assert (found <= a + 4 * np.sqrt(a * (1 - a) / repetitions)).all(), dict(zip(a, found, strict=True))
    if "equal" in case.name:
        assert not found.any()
    if case.name in ("two_sample_test, continuous, 20 and 30", "predict_p, trees"):
        assert found[-1] > 0.35  # and p-values are of use

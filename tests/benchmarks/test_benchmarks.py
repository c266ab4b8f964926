"""The benchmarks run: a tiny case from the command line to the page; pages show the stored figures."""

import json

import pytest

from benchmarks import collections, compare, cores, growth, kernels, nodes, peers, report, run, scale, startup
from benchmarks.case import Case, Settings, estimator

FAST = Settings(repeats=1, seconds=0.0, threads=(1, 2), peer_limit=2.0, quick=True)
PK = estimator("PropagationKernel", t_max=2)


def test_a_case_is_measured_printed_and_written(monkeypatch, tmp_path, capsys):
    cases = (Case("tiny", "MOLECULES", PK, seconds=100.0), Case("tiny-absent", "NOTHING", PK))
    cases += (Case("tiny-fails", "MOLECULES", estimator("PropagationKernel", t_max=-1)),)
    monkeypatch.setitem(run.GROUPS, "kernels", run.Group("Kernels", cases, kernels.measure))
    monkeypatch.setattr(run, "QUICK", FAST)
    run.main(["--quick", "--only", "tiny*", "--output", str(tmp_path / "page.md")])
    assert "tiny" in capsys.readouterr().out
    page = (tmp_path / "page.md").read_text()
    assert "| tiny | MOLECULES | 1 | <= 100 s |" in page
    assert "absent" in page
    assert "ValueError" in page
    assert str(run.ROOT) not in page
    files = [str(tmp_path / "page.json")] * 2
    run.main(["--merge", *files, "--output", str(tmp_path / "merged.md")])
    assert len(json.loads((tmp_path / "merged.json").read_text())["results"]) == 4
    with pytest.raises(SystemExit, match="no group or case is called nothing"):
        run.choose(["nothing"], False)
    names = [case.name for group in run.GROUPS.values() for case in group.cases]
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_the_cases_of_fresh_processes(monkeypatch):
    (import_case,) = [case for case in startup.CASES if case.name == "import"]
    (result,) = startup.measure(import_case, FAST)
    assert result.measured > 0
    curve = growth.GrowthCase("growth-tiny", "features", "graphs", (20, 40))
    points = list(growth.measure_growth(curve, FAST))
    assert [point.part for point in points[:2]] == ["graphs = 20", "graphs = 40"]
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    (absent,) = peers.measure(peers.CASES[0], FAST)
    assert absent.verdict == "absent"


def test_trees_are_compared_by_their_least_times():
    base = compare.least([{"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 3.0}])
    head = {"a": 1.05, "b": 1.2, "c": 0.5}
    assert compare.slower(base, head) == ["b"]
    assert [row[3] for row in compare.table(base, head)] == ["1.05", "1.20", "new"]


def test_rows_on_many_cores_replace_those_of_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(cores, "JOBS", (cores.Job("NCI1", "NCI1", PK), cores.Job("DD", "DD", PK)))
    one, two = (cores.Times(name, {1: 8.0, 2: 4.0}, 2, {1: 8.0, 2: 8.0}) for name in ("NCI1", "DD"))
    old, new = (
        cores.section([one, two], [1, 2]),
        cores.section([one._replace(by_cores={1: 6.0, 2: 2.0})], [1, 2]),
    )
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    report.PAGE.write_text(f"# Page\n\n{old}", encoding="utf-8")
    report.replace_section(
        cores.joined([new], report.section_between(cores.BEGIN, cores.END)), cores.BEGIN, cores.END
    )
    text = report.PAGE.read_text(encoding="utf-8")
    assert "| NCI1 | 6 | 2 | 3.0 | 2 |" in text
    assert "| NCI1 | 8 | 4 |" not in text
    assert "| DD | 8 | 4 | 2.0 | 2 | 0% | 100% | 1.00 |" in text.split("Not measured again")[1]


def test_pages_show_the_stored_figures():
    known = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    shown = scale.PAGE.read_text(encoding="utf-8").split(scale.BEGIN)[1].split(scale.END)[0].strip()
    assert shown == scale.page(known)
    page = "\n".join(collections.page(collections.stored())) + "\n"
    assert collections.PAGE.read_text(encoding="utf-8") == page


@pytest.mark.slow
def test_a_fit_of_nodes_is_shown():
    found = nodes.fit(nodes.PLANTED, 1500)
    assert found.processor_seconds > 0
    assert nodes.shown(found).startswith("planted")

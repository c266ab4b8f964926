"""The runner: chooses, measures, survives what cannot be measured, prints and writes. No timing asserts."""

from __future__ import annotations

import json

import pytest

from benchmarks import run
from benchmarks.case import Case, Settings, available, estimator
from benchmarks.data import is_present

FAST = Settings(repeats=1, seconds=0.0, threads=(1, 2), peer_limit=2.0, quick=True)
PK = estimator("PropagationKernel", t_max=2)


def test_measures_a_tiny_case_with_each_number_of_threads():
    results = run.measure("kernels", Case("tiny", "MOLECULES", PK, seconds=100.0), FAST)
    assert [result.threads for result in results] == [1, 2]
    assert all(result.status == "measured" and result.measured > 0 for result in results)
    assert all(result.processor > 0 for result in results)
    assert all(result.verdict.startswith("met") for result in results)


def test_absent_data_is_reported_not_a_failure(monkeypatch, tmp_path):
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path))
    assert not is_present("NCI1")
    (result,) = run.measure("kernels", Case("gone", "NCI1", PK), FAST)
    assert result.verdict == "absent"


def test_failing_case_is_reported_and_its_message_stays_off_the_page(capsys):
    (result,) = run.measure(
        "kernels", Case("bad", "MOLECULES", estimator("PropagationKernel", t_max=-1)), FAST
    )
    assert (result.verdict, result.note) == ("failed", "ValueError")
    assert "t_max" in capsys.readouterr().err


def test_choose_by_group_name_and_pattern():
    assert {group for group, _ in run.choose(["loading"], False)} == {"loading"}
    assert [case.name for _, case in run.choose(["pk-mutag"], True)] == ["pk-mutag"]
    assert {case.dataset for _, case in run.choose(["*pk-nci1*"], False)} == {"NCI1"}


def test_choose_refuses_unknown_names():
    with pytest.raises(SystemExit, match="no group or case is called nothing"):
        run.choose(["nothing"], False)


def test_quick_leaves_out_slow_cases():
    assert all(not case.slow for _, case in run.choose(None, True))


def test_names_are_unique():
    names = [case.name for module in run.GROUPS.values() for case in module.CASES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("needs", "there"),
    [
        (None, True),
        ("PropagationKernel", True),
        ("PropagationKernel:t_max", True),
        ("PropagationKernel:no_such_parameter", False),
        ("NoSuchKernel", False),
    ],
)
def test_cases_appear_with_what_they_need(needs, there):
    assert available(needs) is there


def test_main_writes_page_and_json_beside_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(run.kernels, "CASES", (Case("tiny", "MOLECULES", PK, seconds=100.0),))
    monkeypatch.setattr(run, "QUICK", FAST)
    run.main(["--quick", "--only", "tiny", "--output", str(tmp_path / "page.md")])
    printed = capsys.readouterr()
    assert "tiny" in printed.out
    assert "[1/1] kernels: tiny" in printed.err
    page = (tmp_path / "page.md").read_text()
    assert "| tiny | MOLECULES | 1 | <= 100 s |" in page
    assert "load average" in page
    assert str(run.ROOT) not in page
    written = json.loads((tmp_path / "page.json").read_text())
    assert [result["case"] for result in written["results"]] == ["tiny", "tiny"]
    assert written["environment"]["packages"]["numpy"]


def test_a_part_of_the_cases_replaces_no_page(monkeypatch, tmp_path):
    monkeypatch.setattr(run.kernels, "CASES", (Case("tiny", "MOLECULES", PK),))
    monkeypatch.setattr(run, "QUICK", FAST)
    monkeypatch.setattr(run, "PAGE", tmp_path / "page.md")
    run.main(["--quick", "--only", "tiny"])
    assert not list(tmp_path.iterdir())


def test_interrupted_run_reports_what_it_has(monkeypatch, capsys):
    def stop(data, threads):
        raise KeyboardInterrupt

    monkeypatch.setattr(
        run.kernels, "CASES", (Case("tiny", "MOLECULES", PK), Case("tiny-stop", "MOLECULES", stop))
    )
    monkeypatch.setattr(run, "QUICK", FAST)
    run.main(["--quick", "--only", "tiny*"])
    printed = capsys.readouterr().out
    assert "tiny" in printed
    assert "mode: quick, only tiny*, interrupted" in printed


def test_merged_runs_make_one_page(tmp_path):
    """Of a case that two runs have, the last counts; verdicts are made anew."""
    for number, name in ((1, "first"), (2, "second")):
        groups = {"Kernels and features": [run.Result("tiny", "kernels", measured=float(number), target=1.5)]}
        if number == 1:
            groups["Loading"] = [run.Result("load", "loading", measured=0.5)]
        environment = {"mode": name, "cores": 2, "load average": [0.1]}
        run.report.write(groups, environment, tmp_path / f"{name}.md", tmp_path / f"{name}.json")
    files = [str(tmp_path / f"{name}.json") for name in ("first", "second")]
    run.main(["--merge", *files, "--output", str(tmp_path / "page.md")])
    page = (tmp_path / "page.md").read_text()
    assert "missed by 1.33 x" in page
    assert "| load |" in page
    assert "mode: first; second" in page
    assert len(json.loads((tmp_path / "page.json").read_text())["results"]) == 2

"""Trees are compared by their least times; a revision is checked out and removed again."""

import json
import subprocess

import pytest

from benchmarks import compare


def test_least_times_ratios_and_regressions():
    base = compare.least([{"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 3.0}])
    head = {"a": 1.05, "b": 1.2, "c": 0.5}
    assert base == {"a": 1.0, "b": 1.0}
    assert compare.slower(base, head) == ["b"]
    assert [row[3] for row in compare.table(base, head)] == ["1.05", "1.20", "new"]


def test_a_job_that_the_revision_cannot_run_is_new():
    base = {"a": float("nan")}
    assert compare.slower(base, {"a": 1.0}) == []
    assert compare.table(base, {"a": 1.0}) == [("a", "", "1000.0", "new")]


@pytest.mark.slow
def test_one_job_of_two_trees(capsys, tmp_path):
    inside = subprocess.run(["git", "-C", str(compare.ROOT), "rev-parse"], capture_output=True, check=False)
    if inside.returncode:
        pytest.skip("the source is no Git repository")
    path = tmp_path / "times.json"
    compare.main(["HEAD", "--rounds", "1", "--only", "weisfeiler-lehman", "-o", str(path)])
    assert "weisfeiler-lehman" in capsys.readouterr().out
    assert set(json.loads(path.read_text())["base"]) == {"weisfeiler-lehman"}
    listed = ["git", "-C", str(compare.ROOT), "worktree", "list"]
    assert subprocess.run(listed, capture_output=True, text=True, check=True).stdout.count("\n") >= 1


def test_a_revision_must_be_named(capsys):
    with pytest.raises(SystemExit):
        compare.main([])
    assert "give the revision" in capsys.readouterr().err

"""The page of reliability is what the counts say."""

import json

import pytest

from fuzz import counts, report
from fuzz.families import FAMILIES


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(counts, "FOLDER", tmp_path)
    return tmp_path


def a_run(folder, name, family, findings=(), **more):
    run = {"first": 0, "last": 5, "seconds": 1, "boundscheck": "0", "ended": "", "findings": list(findings)}
    run["counts"] = {f"{family} check right": 3, f"{family} check refused": 1, f"{family} check unclear": 1}
    (folder / f"fuzz-{name}.json").write_text(json.dumps({**run, **more}))


FOUND = {
    "kind": "unclear",
    "family": "forged",
    "text": "KeyError: 'x'",
    "where": "a.py:1",
    "times": 1,
    "number": 3,
}


def test_the_page_is_up_to_date():
    assert report.DOCUMENT.read_text(encoding="utf-8") == report.text(), "run python -m fuzz.report"


def test_families_are_in_order(folder):
    """Texts hash differently in every process, so the order of a set is another one each time."""
    names = ["twins", "forged", "tables", "hostile", "nodes", "grids"]
    a_run(folder, "1", "forged", [], counts={f"{name} check right": 1 for name in names})
    assert list(report.left()) == sorted(names)


def test_findings_of_the_last_run_are_left(folder):
    a_run(folder, "1", "forged", [FOUND])
    assert report.left() == {"forged": [FOUND]}
    assert "a.py:1" in report.text()
    a_run(folder, "2", "forged")
    assert report.left() == {"forged": []}
    assert "a.py:1" not in report.text()


def test_folding_keeps_sums(folder):
    for number in range(4):
        a_run(folder, str(number), "forged", [FOUND], last=number)
    before = report.families()
    counts.fold_cases()
    assert report.families() == before
    assert len(list(folder.iterdir())) == 2
    assert max(run["last"] for run in counts.runs("fuzz")) == 3


def test_every_family_is_described():
    assert all(family.about for family in FAMILIES.values())

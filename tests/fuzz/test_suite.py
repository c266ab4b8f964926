"""The page about the tests: counts of mutants, of branches and of runs in random order."""

import json

import pytest

from fuzz import suite


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "FOLDER", tmp_path)
    monkeypatch.setattr(suite, "RESULTS", tmp_path / "mutation.json")
    monkeypatch.setattr(suite, "DOCUMENT", tmp_path / "SUITE.md")
    return tmp_path


def mutant(line, end):
    place = {"station": "gram", "module": "products", "function": 1, "node": line, "line": line}
    return {**place, "before": f"{line} < 2", "after": f"{line} <= 2", "end": end}


def test_mutants_are_counted_by_station(folder):
    rows = [mutant(1, "killed"), mutant(2, "killed"), mutant(3, "survived"), mutant(4, "survived")]
    (folder / "mutation.json").write_text(json.dumps({"seed": 3, "sample": 4, "mutants": rows}))
    reasons = {"counts/products.py: 4 < 2 -> 4 <= 2": "the size of a block"}
    (folder / "equivalent.json").write_text(json.dumps(reasons))
    text = suite.text()
    assert "4 per station, seed 3" in text
    assert "| gram | 4 | 2 | 1 | 1 | 66.7 |" in text
    assert "| **all** | 4 | 2 | 1 | 1 | 66.7 |" in text
    assert "- `counts/products.py`: `3 < 2` becomes `3 <= 2`\n" in text
    assert "- `counts/products.py`: `4 < 2` becomes `4 <= 2`: the size of a block" in text


def test_branches_are_added_up_by_folder(folder):
    def found(lines, branches):
        names = ("num_statements", "covered_lines", "num_branches", "covered_branches")
        return {"summary": dict(zip(names, (*lines, *branches), strict=True))}

    files = {
        "src/propkernels/gram/products.py": found((10, 9), (4, 3)),
        "src/propkernels/gram/base.py": found((10, 10), (0, 0)),
        "src/propkernels/_version.py": found((1, 1), (0, 0)),
    }
    path = folder / "report.json"
    path.write_text(json.dumps({"files": files}))
    suite.main(["--coverage", str(path)])
    text = (folder / "SUITE.md").read_text(encoding="utf-8")
    assert "| gram | 20 | 95.0 | 4 | 75.0 |" in text
    assert "| propkernels | 1 | 100.0 | 0 |  |" in text
    assert "| **all** | 21 | 95.2 | 4 | 75.0 |" in text


def test_runs_of_one_seed_are_added_up(folder):
    for name, seed in (("slow", 1), ("quick", 1), ("quick", 2)):
        suites = '<testsuites><testsuite tests="9" failures="1" errors="0" skipped="2"/></testsuites>'
        (folder / f"{name}-{seed}.xml").write_text(suites)
    suite.main(["--orders", *map(str, sorted(folder.glob("*.xml")))])
    text = (folder / "SUITE.md").read_text(encoding="utf-8")
    assert "| 1 | 12 | 2 | 4 |" in text
    assert "| 2 | 6 | 1 | 2 |" in text


def test_reasons_belong_to_mutants_that_survived():
    """A reason for a mutant that is not in the sample any more says nothing."""
    ends, reasons = suite.read_results(suite.RESULTS), suite.read(suite.FOLDER / "equivalent.json") or {}
    assert set(reasons) <= {mutant.place for mutant, end in ends.items() if end != "killed"}


def test_the_page_is_written_from_the_measurements():
    assert suite.DOCUMENT.read_text(encoding="utf-8") == suite.text()

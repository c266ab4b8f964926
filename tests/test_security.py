"""SECURITY.md names a test for each promise, and the tests are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))
DOORS = ("load_model", "read_tu", "from_parquet", "feature", "images", "downloads", "CSV", "from_*", "pages")


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda part: str(part))
def test_named_tests_exist(file, test):
    source = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^(def {test}\(|class {test}\b|{test} =)", source, re.MULTILINE)


def test_every_promise_names_a_test():
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| door")]
    assert len(rows) >= 15
    assert all("::" in row for row in rows)
    first = " ".join(row.split("|")[1] for row in rows)
    assert [door for door in DOORS if door not in first] == []

"""No paths of the developers' machines."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ["src", "tests", "docs", "benchmarks", "reproduction", "examples", "paper", "conda", ".github"]
TEXTS = (".py", ".pyi", ".md", ".toml", ".yml", ".yaml", ".cff", ".csv", ".json")
FILES = [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
BUILT = {ROOT / "docs" / name for name in ("_build", "gallery", "api/generated")}  # by make docs
TEXT_FILES = sorted(
    path
    for path in FILES
    if path.is_file() and path.suffix in TEXTS and path != Path(__file__) and not BUILT & set(path.parents)
)

MACHINE = re.compile(r"(?<![\w.])/(work|root|farm|home|dev/shm)/\w")
PRIVATE = re.compile(r"\(design, section|the issue named|\.\./shared\b")


@pytest.mark.parametrize("pattern", [MACHINE, PRIVATE], ids=["paths", "documents"])
def test_nothing_of_the_developers_machines(pattern):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in TEXT_FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)

"""The Python blocks of the README work as written."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_there_are_blocks():
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs(block):
    if "networkx" in block:
        pytest.importorskip("networkx")
    exec(compile(block, README.name, "exec"), {})


def test_files_it_links_to_exist():
    for target in re.findall(r"\]\(([^):]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists()

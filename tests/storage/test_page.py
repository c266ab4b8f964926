"""The Python blocks of docs/RETRIEVAL.md work as written."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "RETRIEVAL.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_there_are_blocks():
    assert len(BLOCKS) == 2


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, PAGE.name, "exec"), {})


def test_commands_exist(tmp_path):
    from propkernels.cli.app import COMMANDS

    named = set(re.findall(r"^    propkernels (\w+)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert named == {"fit", "predict", "explain", "similar"}
    assert named <= {command.__name__ for command in COMMANDS}

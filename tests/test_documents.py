"""The README and the pages work as written: Python blocks run, links lead somewhere, commands exist."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
PAGES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in FILES}
ALONE = ("README.md", "docs/RETRIEVAL.md")  # people copy single blocks of these: each runs by itself
SLOW = {"docs/EXPLAINING.md", "docs/LEARNING.md"}


def blocks(text):
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def with_blocks():
    for name, text in PAGES.items():
        if blocks(text) and name not in ALONE:
            yield pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Pages write their files into a folder that goes away, and their plots nowhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield tmp_path
    if "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot

        pyplot.close("all")


def run(name, code, space):
    if "datasets.load(" in re.sub("#.*", "", code) and not os.environ.get("PROPKERNELS_DATA"):
        pytest.skip("PROPKERNELS_DATA is not set: no real data sets to read")
    for package in ("matplotlib", "networkx", "pandas"):
        if package in code or (package == "matplotlib" and "plot_" in code):
            pytest.importorskip(package)
    exec(compile(code, name, "exec"), space)


def test_there_are_pages():
    assert len(blocks(PAGES["README.md"])) >= 3
    assert len(blocks(PAGES["docs/EXPLAINING.md"])) >= 5


@pytest.mark.parametrize("name", list(with_blocks()))
def test_blocks_run_one_after_the_other(name, folder):
    """A page is one story: later blocks may use what earlier ones made."""
    space: dict[str, object] = {}
    for block in blocks(PAGES[name]):
        run(name, block, space)


@pytest.mark.parametrize(
    ("name", "block"), [(name, block) for name in ALONE for block in blocks(PAGES[name])]
)
def test_block_runs_by_itself(name, block, folder):
    run(name, block, {})


@pytest.mark.parametrize("name", PAGES)
def test_files_it_links_to_exist(name):
    prose = re.sub(r"```.*?```", "", PAGES[name], flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"


@pytest.mark.parametrize("name", ALONE)
def test_commands_exist(name):
    from propkernels.cli.app import COMMANDS

    named = set(re.findall(r"^    propkernels (\w+)", PAGES[name], flags=re.MULTILINE))
    assert len(named) >= 4
    assert named <= {command.__name__ for command in COMMANDS}


def test_every_command_is_in_the_readme():
    from propkernels.cli.app import COMMANDS

    for command in COMMANDS:
        assert f"propkernels {command.__name__} " in PAGES["README.md"], command.__name__

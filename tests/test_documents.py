"""The pages under docs/ work as written: their Python blocks run, and what they link to exists."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}


def blocks(text):
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def test_there_are_pages():
    assert "EXPLAINING.md" in PAGES
    assert len(blocks(PAGES["EXPLAINING.md"])) >= 5


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if blocks(text)])
def test_blocks_run_one_after_the_other(name, tmp_path, monkeypatch):
    """A page is one story: later blocks may use what earlier ones made."""
    text = "".join(blocks(PAGES[name]))
    if "datasets.load" in text and not os.environ.get("PROPKERNELS_DATA"):
        pytest.skip("PROPKERNELS_DATA is not set: no real data sets to read")
    if "plot_" in text:
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    for block in blocks(PAGES[name]):
        exec(compile(block, name, "exec"), space)
    if "plot_" in text:
        from matplotlib import pyplot

        pyplot.close("all")


@pytest.mark.parametrize("name", PAGES)
def test_files_it_links_to_exist(name):
    prose = re.sub(r"```.*?```", "", PAGES[name], flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        assert (FOLDER / target).exists(), f"{name} links to {target}"

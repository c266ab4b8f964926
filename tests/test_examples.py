"""The gallery: examples have a title, text and a picture."""

import ast
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted((EXAMPLES / "gallery").rglob("plot_*.py"))
RECIPES = sorted((EXAMPLES / "gallery").rglob("recipe_*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_tells_a_story(script):
    source = script.read_text(encoding="utf-8")
    title, underline, *_ = ast.get_docstring(ast.parse(source)).splitlines()
    assert set(underline) == {"="}
    assert len(underline) == len(title)
    assert "plt.show()" in source or "sphinx_gallery_thumbnail_path" in source
    elsewhere = source.replace('datasets.load("FAMILIES")', "")  # bundled
    assert "datasets.load(" not in elsewhere, "an example may not need data from elsewhere"


@pytest.mark.parametrize("script", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_short_and_runs(script):
    pytest.importorskip({"recipe_crystals": "ase", "recipe_triples": "networkx"}[script.stem])
    lines = script.read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line]) <= 20
    assert len(runpy.run_path(str(script))["graphs"]) == 2

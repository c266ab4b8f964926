"""exploration: the frame for notebooks, and the scripts of the page."""

import shutil
import subprocess
from importlib.resources import files

import pytest

import propkernels as pk
from propkernels.explorer.exploration import SCRIPTS


def test_a_frame_for_notebooks(data, model):
    page = pk.explore(data.graphs, data.target, model, title='"><script>alert(1)</script>')
    frame = page._repr_html_()
    assert frame.count("<") == 2
    assert 'sandbox="allow-scripts allow-downloads"' in frame


@pytest.mark.slow
def test_scripts_are_complete_and_valid():
    static = files("propkernels.explorer") / "static"
    assert {path.name for path in static.iterdir() if path.name.endswith(".js")} == {
        f"{s}.js" for s in (*SCRIPTS["page"], *SCRIPTS["nodes"])
    }
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the syntax of the scripts is checked by Chromium alone")
    for name in {*SCRIPTS["page"], *SCRIPTS["nodes"]}:
        subprocess.run([node, "--check", str(static / f"{name}.js")], check=True, capture_output=True)

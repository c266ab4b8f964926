"""The pipeline runs one way: a lower station never imports a higher one; and imports are light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import propkernels

PACKAGE = Path(propkernels.__file__).parent
STATIONS = ["graphs", "propagation", "hashing", "paths", "counting", "gram", "kernels", "learn"]
ON_TOP = ["datasets", "images", "storage", "paper", "report", "cli"]


def imported_stations(path):
    """Names of the folders of propkernels that a file imports from, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("propkernels."):
            yield node.module.split(".")[1]


@pytest.mark.parametrize("station", STATIONS)
def test_stations_import_only_earlier_ones(station):
    allowed = STATIONS[: STATIONS.index(station) + 1]
    for path in (PACKAGE / station).rglob("*.py"):
        forbidden = set(imported_stations(path)) & (set(STATIONS + ON_TOP) - set(allowed))
        assert not forbidden, f"{path.relative_to(PACKAGE)} imports {sorted(forbidden)}"


@pytest.mark.parametrize("module", ["checks", "parallel", "randomness", "replacing"])
def test_base_modules_import_no_station(module):
    assert not set(imported_stations(PACKAGE / f"{module}.py")) & set(STATIONS + ON_TOP)


@pytest.mark.parametrize("folder", ["datasets", "images", "storage"])
def test_only_commands_and_the_paper_draw_pictures(folder):
    for path in (PACKAGE / folder).rglob("*.py"):
        assert "report" not in set(imported_stations(path)), path.name


@pytest.mark.parametrize("package", ["matplotlib", "networkx", "pandas", "skimage", "PIL"])
def test_optional_packages_are_imported_inside_functions(package):
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert package not in {name.split(".")[0] for name in names}, path.relative_to(PACKAGE)


def test_every_folder_is_a_known_station():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= set(STATIONS + ON_TOP)


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["numpy", "scipy", "sklearn", "numba", "networkx", "matplotlib", "skimage", "pooch", "rich"]
    code = f"import sys, propkernels; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"

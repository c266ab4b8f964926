"""The pipeline runs one way: a lower station never imports a higher one; and imports are light."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import propkernels

PACKAGE = Path(propkernels.__file__).parent
STATIONS = str.split(
    "graphs convert propagation codes counts gpu kernels scale search explain novelty models nodes sets"
)
HELPERS = ["_utils", "plotting.pages"]  # below all stations
ON_TOP = ["datasets", "images", "storage", "plotting", "molecules", "explorer", "auditing", "cli"]
READERS = {
    "datasets",
    "images",
}  # they import only the first two stations, so that scale may read through them


@cache
def tree_of(path):
    """Syntax tree of a file, parsed once for all tests."""
    return ast.parse(path.read_text())


def module_name(path):
    """Dotted name of a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def top_level_imports(path):
    """Modules of propkernels that are loaded when a file is."""
    for node in tree_of(path).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("propkernels"):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_stations(path):
    """Names of the folders of propkernels that a file imports from, wherever in the file, also for types."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("propkernels."):
            pages = node.module.startswith("propkernels.plotting.pages")
            yield "plotting.pages" if pages else node.module.split(".")[1]


@pytest.mark.slow
@pytest.mark.parametrize("station", STATIONS)
def test_stations_import_only_earlier_ones(station):
    allowed = STATIONS[: STATIONS.index(station) + 1]
    # methods of databases, such as to_parquet, and of results, such as plot, import where they are used
    more = {"scale": READERS, "graphs": {"convert"}, "explain": {"plotting"}}.get(station, set())
    for path in (PACKAGE / station).rglob("*.py"):
        above = set(STATIONS + ON_TOP) - set(allowed) - more
        forbidden = set(imported_stations(path)) & above
        assert not forbidden, f"{path.relative_to(PACKAGE)} imports {sorted(forbidden)}"


@pytest.mark.parametrize("folder", [*sorted(READERS), *HELPERS])
def test_readers_import_the_first_two_stations_and_helpers_none(folder):
    allowed = {"graphs", "convert", *READERS} if folder in READERS else set()
    for path in (PACKAGE / folder.replace(".", "/")).rglob("*.py"):
        assert set(imported_stations(path)) & set(STATIONS + ON_TOP) <= allowed, path.name


@pytest.mark.slow
def test_imports_have_no_cycles():
    """Modules can be put into an order in which each imports only earlier ones at its top level."""
    graph = {module_name(path): set(top_level_imports(path)) for path in PACKAGE.rglob("*.py")}
    order = TopologicalSorter({name: imports & set(graph) - {name} for name, imports in graph.items()})
    order.prepare()


OPTIONAL = set(str.split("matplotlib networkx pandas skimage PIL cupy igraph rdkit pyarrow dask"))
OPTIONAL |= {"distributed", "torch", "torch_geometric"}


def test_optional_packages_are_imported_inside_functions():
    for path in PACKAGE.rglob("*.py"):
        for node in tree_of(path).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not OPTIONAL & {name.split(".")[0] for name in names}, path.relative_to(PACKAGE)


OPENERS = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "fdopen", "memmap", "fromfile"}
OPENERS |= {"tofile", "loadtxt", "genfromtxt", "savetxt", "read_csv", "OSFile", "ZipFile", "urlopen"}
# what takes a stream or bytes, or has another meaning; Arrow opens by name what open_regular has looked at
ALLOWED = set(
    str.split(
        "ZipFile(stream archive.open( pillow.open(io.BytesIO np.loadtxt(io.BytesIO OSFile(os.fsencode(path))"
    )
)
ALLOWED |= {"source_options.open(", "options.open(", "self.open(", "spare.open("}


def test_files_are_opened_by_safe_files_only():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(path)) if path.name != "safe_files.py" else ():
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", None))
                text = ast.unparse(node)
                is_opener = name in OPENERS or text.startswith(("np.load(", "np.save"))
                is_allowed = any(part in text for part in ALLOWED)
                assert is_allowed or not is_opener, f"{path}, line {node.lineno}: {text[:60]}"


def test_every_folder_is_a_known_station():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= {*HELPERS, *STATIONS, *ON_TOP}


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["numpy", "scipy", "sklearn", "networkx", "matplotlib", "skimage", "requests", "rich", "jinja2"]
    code = f"import sys, propkernels; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


FIRST_USE = """
import gc, sys
failures = []

class Watch:  # asked at every import: would another thread meet a fake module, or no garbage collector?
    def find_spec(self, name, path=None, target=None):
        for known in ("scipy.stats", "pandas"):
            module = sys.modules.get(known)
            if module is not None and getattr(module.__spec__, "loader", None) is None:
                failures.append(f"{known} is fake while {name} is imported")
        if not gc.isenabled():
            failures.append(f"the garbage collector is off while {name} is imported")

import propkernels as pk
sys.meta_path.insert(0, Watch())
pk.PropagationKernel
assert "scipy.sparse" in sys.modules
assert not failures, failures[:3]
assert "PropagationKernel" in vars(pk)
"""


@pytest.mark.slow
def test_the_first_use_disturbs_no_import_of_another_thread():
    """Nothing is planted in sys.modules, and a name is looked up once."""
    run = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr

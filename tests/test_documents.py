"""The README and the site work as written: Python blocks run, links lead somewhere, commands exist."""

import inspect
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import networkx as nx
import pytest

import propkernels as pk
from propkernels.convert.build import Faults

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = {"_build", "gallery", "generated"}
FILES = [
    *ROOT.glob("*.md"),
    *(ROOT / ".github").glob("*.md"),
    *(p for p in DOCS.rglob("*.md") if not GENERATED & set(p.relative_to(DOCS).parts)),
]
PAGES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(FILES)}
ALONE = {"README.md", "docs/guide/similar.md"}  # people copy single blocks of these
NEEDS = {
    "matplotlib": "plot_",
    "networkx": "networkx",
    "pandas": "pandas",
    "rdkit": "olecule",
    "PIL": "PIL",
    "grakel": "from grakel",
    "skfp": "from skfp",
    "torch_geometric": "from torch_geometric",
}
COMMANDS_IN = ("README.md", "docs/start/command_line.md")


def blocks(text):
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def stories():
    """Blocks that belong together, by page: those of a page, of a tab, or a single one."""
    for name, text in PAGES.items():
        if name in ALONE:
            told = [[block] for block in blocks(text)]
        else:
            told = [blocks(part) for part in re.split(r"\{tab-item\}", text)]
        for number, story in enumerate(filter(None, told)):
            yield pytest.param(name, story, marks=pytest.mark.slow, id=f"{name}-{number}")


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
    real = re.sub("#.*", "", code).replace('datasets.load("FAMILIES")', "")
    if "datasets.load(" in real and not os.environ.get("PROPKERNELS_DATA"):
        pytest.skip("PROPKERNELS_DATA is not set: no real data sets to read")
    for package, sign in NEEDS.items():
        if sign in code:
            pytest.importorskip(package)
    exec(compile(code, name, "exec"), space)


@pytest.mark.slow
def test_code_of_the_pages_passes_mypy(tmp_path):
    """With usual options; parts that may be missing (| None), axes of matplotlib and from_pyg left aside."""
    for story in stories():
        file = tmp_path / f"{re.sub('[^a-z0-9]', '_', story.id)}.py"
        file.write_text("\n".join(story.values[1]), encoding="utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\nallow_redefinition = True\n")
    options = ["--config-file", "mypy.ini", "--cache-dir", "cache", "."]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(pk.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert "Found" in found.stdout + found.stderr or "Success" in found.stdout
    wrong = [line for line in found.stdout.splitlines() if ": error: " in line and not line.startswith("/")]
    known = ("SubFigure", "pytorch_geometric", "Suspects | None", "docs_guide_explorer")
    assert [line for line in wrong if not any(word in line for word in known)] == []


@pytest.mark.parametrize(("name", "story"), list(stories()))
def test_blocks_run_one_after_the_other(name, story, folder):
    """A page is one story: later blocks may use what earlier ones made."""
    space: dict[str, object] = {}
    for block in story:
        run(name, block, space)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_the_first_block_prints_what_is_below_it(name, folder, capsys):
    code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGES[name], re.DOTALL).groups()
    run(name, code, {})
    assert capsys.readouterr().out == output


FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n(.*?)(?=^```|\Z)", re.DOTALL | re.MULTILINE)


def test_the_worked_examples_of_contributing_work(tmp_path, monkeypatch):
    """The code below the name of each new module, as it is printed."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    modules = re.findall(r"^src/propkernels/\S+/(\w+\.py)\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    for name, code in modules:
        (tmp_path / name).write_text(textwrap.dedent(code))
    monkeypatch.syspath_prepend(tmp_path)
    two_steps, triangles, neighbors = map(import_module, ("two_steps", "triangles", "neighbors"))
    pk.propagation.check_scheme(two_steps.TwoSteps())
    graph = nx.Graph(nx.karate_club_graph().edges)
    squares = sum(n**2 for n in Counter(nx.triangles(graph).values()).values())
    assert triangles.TriangleHistogram().fit_transform([graph]) == squares
    lists = nx.to_dict_of_lists(graph)
    assert neighbors.is_neighbors(lists)
    read = neighbors.convert([lists], Faults("raise", 1))
    assert pk.similarity(read[0], graph) == 1


@pytest.mark.parametrize("name", [name for name in PAGES if blocks(PAGES[name])])
def test_every_block_shows_its_output_or_its_picture(name):
    """``python docs/outputs.py`` writes outputs."""
    text = re.sub(r"^`{3,}\{.*?\}.*\n|^`{4,}\n|^:{3,}.*\n", "", PAGES[name], flags=re.MULTILINE)
    found = list(FENCE.finditer(text))
    for k, block in enumerate(found):
        if block[1] != "python":
            continue
        following = found[k + 1][1] if k + 1 < len(found) and not block[3].strip() else ""
        shows = following == "text" or block[3].lstrip().startswith(("![", "<img"))
        assert shows, f"{name} has a block without an output: {block[2].splitlines()[-1]}"


@pytest.mark.parametrize("name", PAGES)
def test_code_fits_into_the_columns_of_the_site(name):
    limit = 110 if name == "README.md" else 80
    assert [line for block in blocks(PAGES[name]) for line in block.splitlines() if len(line) > limit] == []


@pytest.mark.parametrize("name", PAGES)
def test_files_it_links_to_exist(name):
    prose = re.sub(r"```.*?```", "", PAGES[name], flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        path = (ROOT / name).parent / target
        built = GENERATED & set(path.parts)  # crawled when it is built
        assert built or path.exists(), f"{name} links to {target}"


@pytest.mark.parametrize("name", COMMANDS_IN)
def test_commands_exist_and_all_are_on_their_page(name):
    from propkernels.cli.app import COMMANDS, app

    groups = {group.name for group in app.registered_groups}
    named = set(re.findall(r"^(?:    |\$ |\| `)?propkernels (\w+)", PAGES[name], flags=re.MULTILINE))
    assert named
    commands = {command.__name__ for command in COMMANDS}
    assert named <= groups | commands
    page = PAGES["docs/start/command_line.md"]
    assert [one for one in commands if not re.search(rf"propkernels {one}[ `]", page)] == []


def test_every_extra_is_on_the_page_of_installation_and_others_lead_there():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = settings["project"]["optional-dependencies"]
    above, below = PAGES["docs/start/install.md"].split("| `all` |")
    listed = [set(re.findall(r"^\| `(\w+)` \|", part, flags=re.MULTILINE)) for part in (above, below)]
    assert listed[0] == set(re.findall(r"\w+", extras["all"][0].split("[")[1]))
    assert listed[0] | listed[1] | {"all", "dev", "peers"} == set(extras)
    for name, text in PAGES.items():
        assert not re.search(
            r"pip install '?propkernels\[\w+(?:,\w+)*\]'?\s*(?:`|$|#)", text, re.MULTILINE
        ), name


# the API reference


def listed():
    """Names in the tables of the reference."""
    text = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    return re.findall(r"^   ([\w.]+)$", text, flags=re.MULTILINE)


def public():
    """Everything that a user may import, under the first of its names."""
    found = {}
    for name in pk.__all__:
        value = getattr(pk, name)
        if inspect.ismodule(value):
            for inner in value.__all__:
                if inner not in pk.__all__:
                    found.setdefault(id(getattr(value, inner)), f"{name}.{inner}")
        elif not name.startswith("_"):
            yield name
    yield from found.values()


def test_every_public_name_has_a_page_and_no_other():
    assert sorted(listed()) == sorted(public())


@pytest.mark.parametrize("name", [n for n in public() if hasattr(eval(f"pk.{n}"), "_get_doc_link")])
def test_scikit_learn_links_to_the_page(name):
    value = eval(f"pk.{name}")
    try:
        estimator = value()
    except TypeError:
        pytest.skip("needs arguments")
    assert estimator._get_doc_link().endswith(f"/api/generated/propkernels.{name}.html")


# the site

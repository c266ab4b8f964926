"""Parts of a release agree: versions, Pythons, dependencies, workflows and folders of the site."""

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

import propkernels

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version_everywhere():
    cited = yaml.safe_load(text("CITATION.cff"))
    recipe = yaml.safe_load(text("conda/recipe.yaml"))
    versions = {
        propkernels.__version__,
        cited["version"],
        json.loads(text("codemeta.json"))["version"],
        recipe["context"]["version"],
    }
    assert versions == {propkernels.__version__}
    heading = f"## [{propkernels.__version__}] - {cited['date-released']}"
    assert heading in text("CHANGELOG.md")


def test_one_list_of_pythons():
    classified = re.findall(r":: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    tried = re.search(r"^PYTHONS = (\[.*\])$", text("noxfile.py"), re.MULTILINE)
    assert json.loads(tried[1]) == classified
    assert PROJECT["requires-python"] == f">={classified[0]}"
    for name in ("tests.yml", "publish.yml"):
        jobs = yaml.safe_load(text(f".github/workflows/{name}"))["jobs"].values()
        matrices = [job["strategy"]["matrix"] for job in jobs if "strategy" in job]
        assert [matrix["python"] for matrix in matrices if "python" in matrix] == [classified]


SESSIONS = set(re.findall(r"^def (\w+)\(session", text("noxfile.py"), re.MULTILINE))
TARGETS = set(re.findall(r"^(\w[\w-]*):", text("Makefile"), re.MULTILINE))


def commands_of_workflows():
    """Yield the name of the workflow and the words of each command, for each value of its matrix."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            for command in (step["run"] for step in job["steps"] if "run" in step):
                for name, values in matrix.items():
                    if f"matrix.{name} " in command:
                        yield from (
                            (path.stem, command.replace(f"${{{{ matrix.{name} }}}}", v).split())
                            for v in values
                        )
                        break
                else:
                    yield path.stem, command.split()


def test_every_command_of_a_workflow_is_one_word_of_make_or_nox():
    seen = set()
    for workflow, words in commands_of_workflows():
        if words[:2] == ["nox", "-s"]:
            named = [word.strip("\"'").split("-3.")[0] for word in words[2 : (*words, "--").index("--")]]
            assert set(named) <= SESSIONS, words
            seen |= {(workflow, name) for name in named}
        elif words[0] == "make":
            assert words[1] in TARGETS, words
            seen.add((workflow, words[1]))
        else:
            assert words == ["python", "-m", "pip", "install", "nox", "uv"]
    assert {("tests", "lowest"), ("tests", "prereleases"), ("publish", "wheel"), ("publish", "tag")} <= seen
    assert {("site", "site"), ("nightly", "harness"), ("tests", "tests")} <= seen


def test_tools_of_the_nightly_workflow_exist():
    jobs = yaml.safe_load(text(".github/workflows/nightly.yml"))["jobs"]
    tools = [row["tool"] for row in jobs["harness"]["strategy"]["matrix"]["include"]]
    assert tools[0] == "fuzz"
    assert all((ROOT / "fuzz" / f"{tool}.py").is_file() for tool in tools[1:])


def test_maintaining_lists_every_session_of_the_workflows():
    listed = set(
        re.findall(
            r"`(?:nox -s|make) (\w+)", text("MAINTAINING.md").split("## Every workflow by one word")[1]
        )
    )
    named = {
        words[2].strip("\"'").split("-3.")[0] for _, words in commands_of_workflows() if words[0] == "nox"
    }
    assert named <= listed
    assert listed <= SESSIONS | TARGETS


def test_the_recipe_needs_what_the_project_needs():
    needed = yaml.safe_load(text("conda/recipe.yaml"))["requirements"]["run"]
    assert {line.replace(" ", "") for line in needed[1:]} == set(PROJECT["dependencies"])


def test_references_of_the_paper_exist():
    cited = set(re.findall(r"@([a-z]+\d{4}[a-z]+)", text("paper/paper.md")))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", text("paper/paper.bib"), re.MULTILINE))


VERSIONS = runpy.run_path(str(ROOT / "docs" / "versions.py"))


@pytest.mark.parametrize(("ref", "folder"), [("refs/heads/main", "latest"), ("refs/tags/v0.12.3", "0.12")])
def test_folders_of_the_site(ref, folder):
    assert VERSIONS["folder_of"](ref) == folder


def test_other_references_have_no_site():
    with pytest.raises(SystemExit, match="neither main nor a tag"):
        VERSIONS["folder_of"]("refs/heads/try")


def test_versions_of_the_site_stand_beside_each_other(tmp_path):
    html, site = tmp_path / "html", tmp_path / "site"
    html.mkdir()
    site.mkdir()
    for folder, word in (("0.9", "old"), ("0.10", "new"), ("latest", "main"), ("0.10", "newer")):
        (html / "index.html").write_text(word, encoding="utf-8")
        versions = VERSIONS["place"](html, site, folder)
    assert versions == ["0.10", "0.9", "latest"]
    assert [(site / name / "index.html").read_text(encoding="utf-8") for name in versions] == [
        "newer",
        "old",
        "main",
    ]
    assert 'url=0.10/"' in (site / "index.html").read_text(encoding="utf-8")
    assert [entry["preferred"] for entry in json.loads((site / "versions.json").read_text())] == [
        True,
        False,
        False,
    ]

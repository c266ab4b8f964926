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
    versions = {propkernels.__version__, cited["version"], recipe["context"]["version"]}
    assert versions == {propkernels.__version__}
    heading = f"## [{propkernels.__version__}] - {cited['date-released']}"
    assert heading in text("CHANGELOG.md")


def test_one_list_of_pythons():
    classified = re.findall(r":: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert PROJECT["requires-python"] == f">={classified[0]}"
    for name in ("tests.yml", "publish.yml"):
        jobs = yaml.safe_load(text(f".github/workflows/{name}"))["jobs"].values()
        matrices = [job["strategy"]["matrix"] for job in jobs if "strategy" in job]
        assert [matrix["python"] for matrix in matrices if "python" in matrix] == [classified]


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda p: p.stem)
def test_targets_that_a_workflow_makes_exist(path):
    targets = set(re.findall(r"^(\w[\w-]*):", text("Makefile"), re.MULTILINE))
    for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        named = {words.split()[0] for words in matrix.get("target", ())}
        commands = "\n".join(step["run"] for step in job["steps"] if "run" in step)
        assert named | set(re.findall(r"^make (\w[\w-]*)", commands, re.MULTILINE)) <= targets


def test_the_recipe_needs_what_the_project_needs():
    needed = yaml.safe_load(text("conda/recipe.yaml"))["requirements"]["run"]
    assert {line.replace(" ", "") for line in needed[1:]} == set(PROJECT["dependencies"])


def test_references_of_the_paper_exist():
    cited = set(re.findall(r"@([a-z]+\d{4}[a-z]+)", text("paper/paper.md")))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", text("paper/paper.bib"), re.MULTILINE))


VERSIONS = runpy.run_path(str(ROOT / "docs" / "versions.py"))


def test_versions_of_the_site_stand_beside_each_other(tmp_path):
    refs = {"refs/heads/main": "latest", "refs/tags/v0.12.3": "0.12"}
    assert [VERSIONS["folder_of"](ref) for ref in refs] == list(refs.values())
    with pytest.raises(SystemExit, match="neither main nor a tag"):
        VERSIONS["folder_of"]("refs/heads/try")
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

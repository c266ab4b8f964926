"""Every command by every kind of input; one set of options; messages name only options that exist."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import propkernels
import propkernels as pk
from propkernels.cli import app as application
from propkernels.cli.arguments import Input, with_common_labels
from tests.cli.conftest import invoke, table
from tests.kinds_of_input import CLASSES, KINDS, N_GRAPHS, SMILES, WITH_TARGET, write_kind

pytest.importorskip("rdkit")
pytest.importorskip("pandas")
pytest.importorskip("PIL")

ONE = ("--jobs", 1)
PACKAGE = Path(propkernels.__file__).parent
WITHOUT_DATA = {"demo", "datasets", "help"}
MODEL = {"smi": "csv"}  # molecules without a target are predicted by the model of another file
COMMANDS = {
    "fit": ("fit", "{data}", "-o", "new.pk", "--t-max", 1, "--C", 1, "--folds", 2, *ONE),
    "predict": ("predict", "{model}", "{data}", *ONE),
    "explain": ("explain", "{model}", "{data}", "--graph", 1),
    "flips": ("explain", "{model}", "{data}", "--graph", 0, "--flips"),
    "explore": ("explore", "{data}", "-o", "page.html", *ONE),
    "similar": ("similar", "{data}", "-g", 0, "-k", 2, *ONE),
    "evaluate": ("evaluate", "{data}", "--kernel", "wl", "--t-max", 1, "--folds", 2, *ONE),
    "audit": ("audit", "{data}", "--t-max", 1, *ONE),
    "novelty": ("novelty", "{data}", "{data}", *ONE),
    "featurize": ("featurize", "{data}", "-o", "features", "--n-features", 64, "--workers", 1),
}
PART_BY_PART = {"tu", "zip", "parquet", "csv", "tsv", "smi", "sdf"}
REFUSED = {
    ("images", "flips"): "pixels have no edges to edit",
    ("tables", "featurize"): "has no column of SMILES",
    **{(kind, "featurize"): "part by part" for kind in KINDS if kind not in {"tables", *PART_BY_PART}},
}
NEEDS_TARGET = {"fit", "evaluate"}


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """Path of each kind of input."""
    return {kind: write_kind(kind, tmp_path_factory.mktemp(kind)) for kind in KINDS}


@pytest.fixture(scope="session")
def models(sources, tmp_path_factory):
    """Model of each kind of input with a target."""
    folder = tmp_path_factory.mktemp("models")
    for kind in WITH_TARGET:
        words = [
            word.format(data=sources[kind]) if isinstance(word, str) else word for word in COMMANDS["fit"]
        ]
        result = invoke(*[folder / f"{kind}.pk" if word == "new.pk" else word for word in words])
        assert result.exit_code == 0, result.stderr
    return {kind: folder / f"{MODEL.get(kind, kind)}.pk" for kind in KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_every_kind_of_input(run, sources, models, command, kind):
    words = [
        word.format(data=sources[kind], model=models[kind]) if isinstance(word, str) else word
        for word in COMMANDS[command]
    ]
    result = run(*words)
    if command in NEEDS_TARGET and kind not in WITH_TARGET:
        assert "by --target" in " ".join(result.stderr.split())
    elif (kind, command) in REFUSED:
        assert REFUSED[kind, command] in result.stderr
    else:
        assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("command", application.COMMANDS, ids=lambda command: command.__name__)
def test_commands_that_read_data_share_the_options(command):
    names = set(inspect.signature(command).parameters)
    wanted = set(inspect.signature(Input).parameters)
    assert wanted <= names or command.__name__ in WITHOUT_DATA


def option_names(command):
    """Names of all options of a command, as its help lists them."""
    words = command.split()
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", invoke(*words, "--help").stdout))


def texts_of(path):
    """Strings in the code of a module, without docstrings."""
    tree = ast.parse(path.read_text())
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node)
    }
    strings = (
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return [node.value for node in strings if id(node) not in docs]


def named_options(path):
    texts = [text for text in texts_of(path) if " NEW --" not in text]
    return {name for text in texts for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", text)}


SHARED = {"--column", "--smiles", "--target", "--id-column", "--node-labels", "--edge-labels", "--errors"}
COMMAND_OF = {
    "nodes_command": ("nodes fit", "nodes predict", "nodes explain"),
    "explore_command": ("explore", "audit", "demo", "datasets"),
    "similar_command": ("similar", "novelty"),
}


@pytest.mark.parametrize("package", ["datasets", "convert", "images", "kernels", "models", "search"])
def test_messages_of_the_library_name_only_options_of_all_commands(package):
    for path in (PACKAGE / package).rglob("*.py"):
        assert named_options(path) <= SHARED | {"--force"}, path


@pytest.mark.parametrize("path", sorted((PACKAGE / "cli").glob("*_command.py")), ids=lambda path: path.stem)
def test_messages_of_a_command_name_only_its_options(path):
    commands = COMMAND_OF.get(path.stem, (path.stem.removesuffix("_command"),))
    known = set().union(*(option_names(command) for command in commands))
    assert named_options(path) <= known


# options


@pytest.fixture
def drugs(tmp_path):
    rows = [f"{text},{CLASSES[i % 2]},{i % 2},{i / 7:.3f},m{i}" for i, text in enumerate(SMILES)]
    (tmp_path / "drugs.csv").write_text("\n".join(["smiles,word,active,level,code", *rows]) + "\n")
    return "drugs.csv"


QUICK = ("--t-max", 1, "--folds", 2, "--C", 1, *ONE, "--kernel", "wl")


def test_predictions_carry_names(run, drugs):
    fitted = run("fit", drugs, "--target", "word", "-o", "m.pk", *QUICK)
    assert fitted.exit_code == 0, fitted.stderr
    rows = table(run("predict", "m.pk", drugs, "--id-column", "code", *ONE).stdout)
    assert [row["id"] for row in rows] == [f"m{i}" for i in range(N_GRAPHS)]
    assert set(rows[0]) == {"id", "prediction", "probability_even", "probability_odd"}
    assert {row["prediction"] for row in rows} <= set(CLASSES)


def test_predictions_of_images_carry_files_and_classes(run, sources, models):
    rows = table(run("predict", models["images"], sources["images"], *ONE).stdout)
    assert rows[0]["id"] == "even/1.png"
    assert {row["prediction"] for row in rows} <= set(CLASSES)


def test_several_targets(run, drugs):
    result = run("fit", drugs, "--target", "active", "--target", "level", "-o", "m.pk", *QUICK)
    assert result.exit_code == 0, result.stderr
    rows = table(run("predict", "m.pk", drugs, *ONE).stdout)
    assert list(rows[0]) == ["id", "prediction_active", "prediction_level"]
    texts = run("fit", drugs, "--target", "active", "--target", "word", "-o", "t.pk", *QUICK)
    assert "the target word is not numeric; of several targets all must be" in texts.stderr


def test_whole_numbers_of_many_values_are_numbers(run, tmp_path):
    rows = [f"{'C' * (1 + i)},{10 * i}" for i in range(24)]
    (tmp_path / "ic50.csv").write_text("\n".join(["smiles,y", *rows]) + "\n")
    result = run("fit", "ic50.csv", "-o", "m.pk", *QUICK)
    assert "The target has 24 different numbers: use --task classes" in result.stdout
    assert "R^2" in result.stdout
    assert "R2" in run("evaluate", "ic50.csv", "--kernel", "labels", "--folds", 2, *ONE).stdout


@pytest.mark.parametrize("command", ["audit", "explore", "novelty", "similar", "featurize"])
def test_invalid_molecules_are_skipped_by_every_command(run, tmp_path, command):
    (tmp_path / "faulty.csv").write_text("smiles,y\nCCO,1\nC(C,0\nCN,1\nCC,0\nCCC,0\nCCN,1\n")
    words = [word.format(data="faulty.csv") if isinstance(word, str) else word for word in COMMANDS[command]]
    failed = run(*words)
    assert failed.exit_code == 1
    assert "--errors skip" in failed.stderr or "molecule" in failed.stderr
    result = run(*words, "--errors", "skip")
    assert result.exit_code == 0, result.stderr


def test_unused_columns_are_named_and_labels_can_be_chosen(run, tmp_path):
    (tmp_path / "e.csv").write_text("graph,source,target\na,1,2\nb,1,2\n")
    (tmp_path / "n.csv").write_text(
        "graph,node,aa,chain,mass\na,1,ALA,A,1.5\na,2,GLY,A,2\nb,1,ALA,B,1\nb,2,VAL,B,1\n"
    )
    assert Input().open("e.csv,n.csv").graphs.node_labels[1] == ("GLY", "A")
    labels = Input(node_labels="aa").open("e.csv,n.csv").graphs.node_labels
    assert labels.tolist() == ["ALA", "GLY", "ALA", "VAL"]
    (tmp_path / "n.csv").write_text((tmp_path / "n.csv").read_text().replace("aa", "type"))
    result = run("similar", "e.csv,n.csv", "-g", 0)
    assert "the column 'chain' of nodes is not used: name a column as label to use it" in result.stderr
    (tmp_path / "n.csv").write_text((tmp_path / "n.csv").read_text().replace("type", "aa"))
    wrong = run("similar", "e.csv,n.csv", "-g", 0, "--node-labels", "amino")
    assert "nodes has no column 'amino'; its columns are" in wrong.stderr


def test_hints_name_options_of_the_command_that_they_name():
    lines = [text for path in PACKAGE.rglob("*.py") for text in texts_of(path) if " NEW --" in text]
    assert lines
    for line in lines:
        assert set(re.findall(r"--[a-z][\w-]*", line)) <= option_names("explain")


def test_numbers_with_different_names_become_their_names():
    pair = pk.GraphDatabase(np.array([[0, 1], [1, 0]]), [0, 2], node_labels=[0, 1])
    one = pk.datasets.Dataset("one", pair.with_names({0: "C", 1: "N"}), np.zeros(1))
    two = pk.datasets.Dataset("two", pair.with_names({0: "O", 1: "C"}), np.zeros(1))
    first, second = with_common_labels([one, two])
    assert list(first.graphs.node_labels) == ["C", "N"]
    assert list(second.graphs.node_labels) == ["O", "C"]
    assert with_common_labels([one, one]) == [one, one]
    unnamed = pk.datasets.Dataset("three", pair, np.zeros(1))
    assert with_common_labels([one, unnamed])[0] is one

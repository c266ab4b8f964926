"""The application as a whole."""

import re
import subprocess
import sys

import pytest

import propkernels as pk
from propkernels.cli.app import EXAMPLES, GROUPS

COMMANDS = (
    "demo",
    "fit",
    "predict",
    "explain",
    "similar",
    "evaluate",
    "audit",
    "novelty",
    "featurize",
    "explore",
    "datasets",
    "help",
)
HEAVY = ("numpy", "scipy", "sklearn", "joblib", "requests", "networkx")


def test_help_lists_every_command(run):
    result = run("--help")
    assert result.exit_code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout


def test_help_is_not_cut_off(run):
    assert "..." not in run("--help").stdout.replace("[ARGS]...", "")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Usage: " in result.stdout


def test_version(run):
    assert run("--version").stdout == f"propkernels {pk.__version__}\n"


def test_unknown_command_is_a_usage_error(run):
    result = run("dance")
    assert result.exit_code == 2
    assert "dance" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["evaluate", "--help"], ["similar", "--help"]]
)
def test_nothing_heavy_is_imported_for(arguments):
    code = (
        "import sys; sys.argv = ['propkernels', *sys.argv[1:]]\n"
        "from propkernels.cli.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"loaded = sorted(set(sys.modules) & set({HEAVY}))\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)


def test_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "propkernels.cli", "--version"], check=True, capture_output=True, text=True
    )
    assert done.stdout == f"propkernels {pk.__version__}\n"


def test_every_command_has_a_group_and_an_example_with_its_options(run):
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted([*COMMANDS, "nodes"])
    for name, example in EXAMPLES.items():
        shown = run(name, "--help").stdout
        assert f"Example: propkernels {name} {example}".strip() in shown
        assert all(option in shown for option in re.findall(r"(?<= )-+[\w-]+", f" {example}")), name

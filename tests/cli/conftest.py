"""A small data set in the TU layout, and a way to run commands."""

import csv
import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import propkernels as pk
from propkernels.cli.app import app

QUICK = ("--t-max", 1, "--folds", 2, "--C", 1, "--jobs", 1)


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run ``propkernels ...`` in an empty folder, with no data but what the test provides."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROPKERNELS_DATA", raising=False)
    monkeypatch.setenv("PROPKERNELS_CACHE", str(tmp_path / "cache"))
    return invoke


def invoke(*arguments):
    """Run ``propkernels ...`` in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="session")
def small_data():
    return pk.datasets.make_molecules(40, random_state=0)


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory, small_data) -> Path:
    """Folder SMALL with the files of ``small_data``."""
    folder = tmp_path_factory.mktemp("data") / "SMALL"
    folder.mkdir()
    graphs = small_data.graphs
    rows, columns = graphs.adjacency.nonzero()
    write_lines(folder / "SMALL_A.txt", [f"{i + 1}, {j + 1}" for i, j in zip(rows, columns, strict=True)])
    write_lines(folder / "SMALL_graph_indicator.txt", graphs.graph_ids + 1)
    write_lines(folder / "SMALL_graph_labels.txt", small_data.target)
    write_lines(folder / "SMALL_node_labels.txt", np.unique(graphs.node_labels, return_inverse=True)[1])
    return folder


def write_lines(path: Path, lines) -> None:
    path.write_text("\n".join(map(str, lines)) + "\n")


@pytest.fixture(scope="session")
def model_file(small_folder, tmp_path_factory):
    """A model of SMALL."""
    data = pk.datasets.read_tu(small_folder)
    path = tmp_path_factory.mktemp("model") / "model.pk"
    pk.save_model(fitted(data), path)
    return path


def fitted(data):
    """A quickly fitted model."""
    return pk.PropagationClassifier(t_max=range(2), C=1.0, cv=2, random_state=0).fit(data.graphs, data.target)


@pytest.fixture
def numbers(small_folder, tmp_path):
    """SMALL with two columns of numbers as its target."""
    folder = tmp_path / "NUMBERS"
    folder.mkdir()
    for path in small_folder.glob("*.txt"):
        kind = path.name.removeprefix("SMALL_")
        if kind != "graph_labels.txt":
            shutil.copy(path, folder / f"NUMBERS_{kind}")
    sizes = pk.datasets.read_tu(small_folder).graphs.graph_sizes
    write_lines(folder / "NUMBERS_graph_attributes.txt", [f"{n / 2}, {n}" for n in sizes])
    return folder


def table(text):
    """Rows of a CSV text, by column."""
    return list(csv.DictReader(io.StringIO(text)))

"""A small data set in the TU layout, and a way to run commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import propkernels as pk
from propkernels.cli.app import app


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

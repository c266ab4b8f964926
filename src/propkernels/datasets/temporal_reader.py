"""Reader of graphs in time, in the TU layout of Oettershagen, Kriege, Morris and Mutzel (2020)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels.convert.contacts import from_contacts
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.tu_files import read_files, text_lines
from propkernels.datasets.tu_reader import TuFiles


def read_temporal(path: str | os.PathLike[str], name: str | None = None) -> Dataset:
    """Read a data set of graphs in time from a folder or a zip.

    The layout is that of :func:`read_tu`, with one time per line of ``NAME_A.txt`` in
    ``NAME_edge_attributes.txt``, and in line i of ``NAME_node_labels.txt`` the labels of vertex i over time:
    "time, label, time, label, ...".

    Parameters
    ----------
    path : str or path
        Folder or zip; a zip is not unpacked to disk.
    name : str, optional
        The NAME; required only if the path contains several sets.

    Returns
    -------
    Dataset
        Graphs in time, as :func:`propkernels.from_contacts` makes them.

    Raises
    ------
    ValueError
        If files are damaged or inconsistent; the message names the file and the line.
    """
    pd = import_optional("pandas", extra="pandas", purpose="graphs in time need")
    name, contents = read_files(Path(path), name)
    files = TuFiles(name, contents)
    target = files.target()
    graph = files.graph_of_nodes(len(target))
    if "edge_attributes" not in contents:
        raise ValueError(f"{files.file('edge_attributes')} is missing: it has the times of the contacts")
    ends, times = files.ends(graph), files.floats("edge_attributes")
    if len(times) != len(ends):
        raise ValueError(f"{files.file('edge_attributes')} has {len(times)} times for {len(ends)} contacts")
    contacts = pd.DataFrame(
        {"graph": graph[ends[:, 0]], "source": ends[:, 0], "target": ends[:, 1], "time": times[:, 0]}
    )
    graphs = from_contacts(
        contacts,
        pd.DataFrame({"graph": np.arange(len(target))}),
        node_labels=_labels(pd, files, graph) if "node_labels" in contents else None,
    )
    return Dataset(name, graphs.with_ids(None), target, tuple(files.names("graph_labels") or ()))


def _labels(pd: Any, files: TuFiles, graph: NDArray[np.int64]) -> Any:
    """Return the table of labels over time."""
    lines = text_lines(files.files["node_labels"], files.file("node_labels"))
    if len(lines) != len(graph):
        raise ValueError(f"{files.file('node_labels')} has {len(lines)} lines for {len(graph)} vertices")
    rows: list[tuple[int, float, int]] = []
    for number, line in enumerate(lines):
        try:
            cells = line.split(",")
            pairs = list(zip(map(float, cells[::2]), map(int, cells[1::2]), strict=True))
        except ValueError:
            raise ValueError(
                f"{files.file('node_labels')}, line {number + 1}: expected "
                '"time, label, time, label, ...", with whole numbers as labels'
            ) from None
        rows += [(number, when, label) for when, label in pairs]
    table = pd.DataFrame(rows, columns=["node", "time", "label"])
    table["graph"] = graph[table["node"].to_numpy(dtype=np.int64)]
    return table

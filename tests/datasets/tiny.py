"""A tiny data set in the TU layout, to be spoiled in one place by each test."""

import zipfile

from propkernels.datasets import read_tu

# a path of three nodes and a single edge; node 6 of the file is isolated, in graph 2
TINY = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n3\n0\n7\n3\n9\n",
}


def with_changes(**changes):
    """The tiny files with some replaced, added, or (None) removed."""
    files = {**TINY, **changes}
    return {kind: text for kind, text in files.items() if text is not None}


def write_folder(folder, files, name="TINY"):
    folder.mkdir(parents=True, exist_ok=True)
    for kind, text in files.items():
        file = f"{kind}.txt" if kind == "README" else f"{name}_{kind}.txt"
        (folder / file).write_bytes(text.encode())
    return folder


def write_zip(path, files, name="TINY", folder=None):
    inside = name if folder is None else folder
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind, text in files.items():
            archive.writestr(f"{inside}/{name}_{kind}.txt".lstrip("/"), text)
    return path


def read(tmp_path, **changes):
    """Write the tiny set with changes to a folder, and read it."""
    return read_tu(write_folder(tmp_path / "TINY", with_changes(**changes)))


def write_files(folder, files):
    """Write files by name, in folders that are made for them, and return their paths."""
    paths = [folder / name for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return paths

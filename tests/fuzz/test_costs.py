"""A file of a stranger takes memory and time in proportion to its size, whatever it declares."""

import io
import json
import os
import resource
import signal
import time
import zipfile
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from tests.datasets.tiny import TINY, write_folder

# bytes of memory anyway, and per byte of a file; seconds of the processor
FREE, TIMES, SECONDS = 2**27, 1000, 20


def parquet(columns):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, compression="zstd")
    return stream.getvalue()


def equal_lists(n_rows, length):
    """Lists of zeros."""
    pa = pytest.importorskip("pyarrow")
    ends = pa.array(np.arange(n_rows + 1, dtype=np.int32) * length)
    return pa.ListArray.from_arrays(ends, pa.array(np.zeros(n_rows * length, dtype=np.int64)))


def parquet_graphs(n_rows, n_edges):
    sizes = np.full(n_rows, min(n_edges, 1))
    edges = equal_lists(n_rows, n_edges)
    return parquet({"n_nodes": sizes, "source": edges, "target": edges})


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def picture(side):
    image, stream = pytest.importorskip("PIL.Image"), io.BytesIO()
    image.new("L", (side, side)).save(stream, "PNG")
    return stream.getvalue()


def array(shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(50)


def keys_of_their_own(n):
    return json.dumps({"nodes": [{"id": i, f"k{i}": 0} for i in range(n)], "links": []}).encode()


COSTLY = {
    "graphs without nodes.parquet": lambda: parquet_graphs(5_000_000, 0),
    "graphs of equal edges.parquet": lambda: parquet_graphs(10, 3_000_000),
    "equal rows of a table.parquet": lambda: parquet({"smiles": np.full(8_000_000, "C")}),
    "empty cells of a table.parquet": lambda: parquet({"smiles": np.full(3_000_000, "")}),
    "names of their own.json": lambda: keys_of_their_own(6_000),
    "empty graphs.json": lambda: json.dumps([{"links": []}] * 30_000).encode(),
    "deep.json": lambda: b"[" * 100_000,
    "cells.csv": lambda: b"smiles" + b",x" * 20_000 + b"\n" + (b"C" + b"," * 20_000 + b"\n") * 20,
    "one molecule.smi": lambda: b"C" * 50_000,
    "lines.smi": lambda: b"C\n" * 20_000,
    "ends.sdf": lambda: b"$$$$\n" * 20_000,
    "short.edges": lambda: b"".join(b"%d %d\n" % (i, i + 1) for i in range(50_000)),
    "edges.csv": lambda: b"source,target\n" + b"a,b\n" * 50_000,
    "zeros.zip": lambda: zipped({"X/X_A.txt": b"1 1\n" * 50_000_000, "X/X_graph_indicator.txt": b"1\n"}),
    "indicator.zip": lambda: zipped({"X/X_A.txt": b"1 1\n", "X/X_graph_indicator.txt": b"1\n99999999\n"}),
    "shape.npy": lambda: array("(1000000000, 3)"),
    "square.png": lambda: picture(8192),
    "model.pk": lambda: zipped({"model.json": b"[" * 10_000_000}),
}


def read(path):
    """Open a file as what its name says; refusals are sentences."""
    with suppress(ValueError, OSError):
        if path.suffix == ".pk":
            pk.load_model(path)
        else:
            pk.datasets.open_source(path.parent if path.suffix == ".png" else path, errors="skip")


def cost(work):
    """Return the code with which a fork ends that does some work, its memory and processor time."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reading) as stream:
            n_bytes, seconds = map(float, stream.read().split() or (0, 0))
        return os.waitstatus_to_exitcode(status), int(n_bytes), seconds
    code = 1
    try:
        signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)  # ends a fork that goes on
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        work()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(writing, f"{1024 * grown} {time.process_time() - begin}".encode())
        code = 0
    finally:
        os._exit(code)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", COSTLY)
def test_a_file_costs_in_proportion_to_its_size(tmp_path, name):
    data = COSTLY[name]()
    (tmp_path / name).write_bytes(data)
    code, n_bytes, seconds = cost(lambda: read(tmp_path / name))
    assert code == 0, f"ended by {code}"
    assert n_bytes < FREE + TIMES * len(data), f"{n_bytes:,} bytes for {len(data):,}"
    assert seconds < SECONDS


SPECIAL = {
    "pipe": os.mkfifo if hasattr(os, "mkfifo") else None,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link": lambda path: path.symlink_to("/etc/hostname"),
}
DOORS = {
    "TINY_node_labels.txt": lambda path: pk.datasets.read_tu(path.parent),
    "TINY_A.txt": lambda path: pk.datasets.open_source(path.parent),
    "x.zip": pk.datasets.read_tu,
    "x.pk": pk.load_model,
    "x.parquet": pk.GraphDatabase.from_parquet,
    "x.png": lambda path: pk.datasets.open_source(path.parent),
    "folder/x.json": lambda path: pk.datasets.open_source(path.parent.parent),
    **dict.fromkeys(("x.csv", "x.smi", "x.sdf", "x.json", "x.edges"), pk.datasets.open_source),
    **dict.fromkeys(("x.npy", "y.parquet", "y.zip"), pk.datasets.open_source),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name, kind in product(DOORS, SPECIAL)
        if kind != "link" or name.startswith(("TINY", "folder", "x.png"))  # names from users may be links
    ],
)
def test_pipes_devices_and_links_are_not_read(tmp_path, name, kind):
    """A fork, since a reader that waits for a pipe waits for ever."""
    if name.startswith("TINY"):
        write_folder(tmp_path, TINY)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).unlink(missing_ok=True)
    SPECIAL[kind](tmp_path / name)

    def refused():
        with pytest.raises((ValueError, OSError)) as caught:
            DOORS[name](tmp_path / name)
        hostname = Path("/etc/hostname").read_text().strip() if Path("/etc/hostname").exists() else "?"
        assert hostname not in str(caught.value)

    code, n_bytes, seconds = cost(refused)
    assert code == 0
    assert n_bytes < FREE
    assert seconds < 5

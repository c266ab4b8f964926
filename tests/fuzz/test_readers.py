"""Molecules read whole and by part, data sets written and read again, and damaged data sets.

Both ways of reading agree; what was written gives the same kernel when
it is read, or is refused when it is written.
"""

import csv
import io
import math
import tempfile
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import open_source, read_tu, write_tu
from propkernels.scale import featurize, partition
from tests.fuzz.cases import Refused, Wrong, pick, run_cases, same, try_to
from tests.fuzz.forging import damaged
from tests.fuzz.graphs import database, random_graphs
from tests.fuzz.valid import check_database

SMILES = ("CCO", "CN", "c1ccccc1", "CC(=O)O", "N", "CCl", "C#N", "OCC")
WORDS = ("NA", "None", "null", "nan", "NaN", "N/A", "yes", "no", "01", "1", "true", "é", "a b", 'q"t', "x,y")
LABELS = (
    ("01", "1", "001"),
    ("None", "null", "NA", "nan"),
    (0, 1, 2),
    (1, "1"),
    (2**63, 2**63 + 1, 5),
    (2**53, 2**53 + 1),
    (1.5, 2.5),
    (True, False),
    (("a", 1), ("a", "1")),
    ("", " ", "a"),
    ("é", "e\u0301"),
    ("x,y", 'x"y', "x\ny"),
    (-1, 0),
)
TU = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n3\n0\n7\n3\n9\n",
    "node_attributes": "0.5, 1\n1, 2\n0, 0\n1e3, 5\n-1, 2\n0, 1\n",
    "edge_labels": "0\n0\n1\n1\n2\n2\n",
}
TU_CELLS = (0, 1, -1, 0.5, 1e-300, 1e300, 1.7e308, 2**31, 2**63, 2**64, 10**400, "nan", "inf", "True", "1j")


def plain(values):
    """Targets as Python values: None where missing, numbers as floats, all else as text."""
    found = []
    for value in np.asarray(values).tolist():
        if value is None or (isinstance(value, float) and math.isnan(value)):
            found.append(None)
        else:
            found.append(str(value) if isinstance(value, (bool, str)) else float(value))
    return found


def hashed():
    return pk.PropagationFeatures(n_features=64, t_max=0, random_state=0)


def table(rows, separator):
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def molecules(rng, suffix):
    """A file of molecules with hostile targets and names; some molecules cannot be read."""
    pool = pick(rng, (SMILES, (*SMILES, "xyz", "", "*")))
    words = (*WORDS, "", " lead", "tab\tx", "line\nbreak", "x\x85y", "\u2028x", "> <y>", "M  END", "$$$$")
    rows = [[pick(rng, pool), pick(rng, words), pick(rng, words)] for _ in range(int(rng.integers(1, 9)))]
    if suffix == "smi":
        return "".join(f"{row[0] or 'C'} {row[2]}".replace("\n", " ") + "\n" for row in rows).encode()
    if suffix != "sdf":
        return table([["smiles", "y", "name"], *rows], "," if suffix == "csv" else "\t")
    from rdkit import Chem

    records = ""
    for smiles, target, _ in rows:
        mol = Chem.MolFromSmiles(smiles)
        block = "no\n\n\nmolecule\nM  END\n" if mol is None else Chem.MolToMolBlock(mol)
        head = pick(rng, ("> <y>", ">  25 <y> (MD-0)"))
        records += block + (f"{head}\n{target}\n\n" if rng.random() < 0.8 else "") + "$$$$\n"
    text = records.replace("\n", pick(rng, ("\n", "\n", "\r\n")))
    return text.encode()[: -int(rng.integers(1, 7)) if rng.random() < 0.2 else None]


def answer(run):
    """What a reader gives, or None where it refuses."""
    try:
        return try_to(run, OSError, RuntimeError)
    except Refused:
        return None


def parts_agree(rng):
    """A file of molecules read whole and part by part: the same features and targets."""
    suffix, errors = pick(rng, ("sdf", "csv", "tsv", "smi")), pick(rng, ("raise", "skip", "empty"))
    per_part = int(rng.integers(1, 20))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m.{suffix}"
        path.write_bytes(molecules(rng, suffix))
        whole = answer(lambda: open_source(path, errors=errors, target_required=False))
        parts = answer(
            lambda: featurize(
                partition(path, nodes_per_part=per_part, errors=errors), hashed(), path.with_name("out")
            )
        )
        if whole is None or parts is None:  # what is refused here may give no graphs there
            n_read = [0 if whole is None else len(whole.graphs), 0 if parts is None else parts.shape[0]]
            if any(n_read):
                raise Wrong(f"{suffix}: {n_read[0]} graphs at once, {n_read[1]} by part")
            return
        same(parts.to_scipy(), hashed().fit_transform(whole.graphs), f"features of {suffix}")
        targets = [None] * len(whole.graphs) if whole.target is None else plain(np.ravel(whole.target))
        by_part = targets if parts.target is None else plain(np.ravel(parts.target))
    if by_part != targets:
        raise Wrong(f"{suffix}: targets {targets} at once, {by_part} by part"[:300])


def written_and_read(rng):
    """A data set written as Parquet or TU files and read again: the same kernel, or refused."""
    data = database(random_graphs(rng, int(rng.integers(2, 5))))
    pool = pick(rng, LABELS)
    labels = np.empty(data.n_nodes, dtype=object)
    labels[:] = [pick(rng, pool) for _ in range(data.n_nodes)]
    data = try_to(lambda: pk.GraphDatabase(data.adjacency, data.graph_ptr, labels, data.node_attributes))
    target = rng.integers(2, size=len(data))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / pick(rng, ("g.parquet", "g.zip", "TUDATA"))
        if path.suffix == ".parquet":
            try_to(lambda: data.to_parquet(path, target=target))
            again = open_source(path)
        else:
            try_to(lambda: write_tu(pk.datasets.Dataset("g", data, target), path))
            again = read_tu(path)
    if len(again.graphs) != len(data):
        raise Wrong(f"{path.name}: {len(again.graphs)} graphs instead of {len(data)}, labels {pool}")
    kernel = pk.WeisfeilerLehman(t_max=1)
    same(kernel.fit_transform(again.graphs), kernel.fit_transform(data), f"{path.name}, labels {pool}")
    if plain(again.target) != plain(target):
        raise Wrong(f"{path.name}: targets {plain(again.target)} instead of {plain(target)}")


def damaged_data_set(rng):
    """A data set in the TU layout with other numbers or damaged bytes: valid graphs, or a sentence."""
    tables = {kind: text.encode() for kind, text in TU.items()}
    for kind in rng.choice(sorted(tables), size=int(rng.integers(0, 3)), replace=False):
        lines = tables[str(kind)].split(b"\n")
        lines[int(rng.integers(len(lines)))] = str(pick(rng, TU_CELLS)).encode()
        tables[str(kind)] = pick(rng, (b"\n".join(lines), damaged(tables[str(kind)], rng)))
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for kind, text in tables.items():
            archive.writestr(f"TINY/TINY_{kind}.txt", text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "TINY.zip"
        path.write_bytes(stream.getvalue() if rng.random() < 0.6 else damaged(stream.getvalue(), rng))
        found = try_to(lambda: read_tu(path), OSError)
    check_database(found.graphs)
    try_to(lambda: pk.PropagationKernel(t_max=1, random_state=0).fit_transform(found.graphs))


CHECKS = (parts_agree, written_and_read, damaged_data_set)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_readers_agree_or_refuse(check):
    run_cases(check, 15)

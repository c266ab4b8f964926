"""Data sets of installed packages: FAMILIES, molecules with their names, and DIGITS, handwritten digits."""

from __future__ import annotations

import csv
import re
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from propkernels._utils.safe_files import packaged_text
from propkernels.datasets.dataset import Dataset
from propkernels.graphs import GraphDatabase, GridDatabase

BOND = re.compile(r"(\d+)([-=#:])(\d+)")
BOND_NAMES = {"-": "single", "=": "double", "#": "triple", ":": "aromatic"}
FAMILIES = """317 well-known molecules of 14 families, with their names.

Amino acids, sugars, fatty acids, steroids, terpenes, nucleosides, and families of medicines. Names and
structures were written for this package and are dedicated to the public domain (CC0 1.0). Nodes are heavy
atoms labeled by element, edges are bonds labeled by type; the order of atoms is that of the SMILES."""

DIGITS = """Handwritten digits of scikit-learn (UCI optical recognition, test part): 8 x 8 pixels of 4 gray
levels."""
N_LEVELS, BRIGHTEST = 4, 16


def load_families() -> Dataset:
    """Return 317 molecules with their names; the target is the family.

    No package for molecules is needed: atoms and bonds are stored beside the SMILES.

    Returns
    -------
    Dataset
        ``extras["smiles"]`` has the SMILES, and the ids of the graphs are names.

    Examples
    --------
    >>> data = load_families()
    >>> data
    Dataset(FAMILIES: 317 graphs, 5486 nodes, 5803 edges, 7 node labels, 4 edge labels, 14 classes)
    >>> str(data.graphs.ids[0]), data.target_names[0]
    ('5-hydroxytryptophan', 'amino acid')
    """
    text = packaged_text("datasets", "static", "families.csv")
    rows = list(csv.DictReader(text.splitlines()))
    families, target = np.unique([row["family"] for row in rows], return_inverse=True)
    graphs = _graphs(rows)
    graphs.sources = [row["smiles"] for row in rows]
    names, extras = tuple(families.tolist()), {"smiles": graphs.sources}
    return Dataset("FAMILIES", graphs, target.astype(np.int64), names, extras, FAMILIES)


def _graphs(rows: list[dict[str, str]]) -> GraphDatabase:
    """Return the graphs of the table: atoms "C C O", bonds "0-1 1-2"."""
    atoms = [row["atoms"].split() for row in rows]
    ptr = np.concatenate([[0], np.cumsum([len(symbols) for symbols in atoms])])
    ends, kinds = [], []
    for start, row in zip(ptr[:-1].tolist(), rows, strict=True):
        for a, sign, b in BOND.findall(row["bonds"]):
            ends += [(start + int(a), start + int(b)), (start + int(b), start + int(a))]
            kinds += [BOND_NAMES[sign]] * 2
    i, j = np.array(ends).T
    adjacency = coo_array((np.ones(len(i)), (i, j)), shape=(int(ptr[-1]), int(ptr[-1])))
    labels = [symbol for symbols in atoms for symbol in symbols]
    return GraphDatabase(adjacency, ptr, labels, edge_labels=kinds, ids=[row["name"] for row in rows])


def load_digits() -> Dataset:
    """Return 1,797 handwritten digits of 8 x 8 pixels, a grid with gray levels as labels.

    Returns
    -------
    Dataset
        One class per digit; ``extras["images"]`` are the images, with intensities from 0 to 16.
    """
    from sklearn import datasets

    digits = datasets.load_digits()
    levels = np.floor(digits.images * (N_LEVELS / BRIGHTEST)).astype(np.int64)
    graphs: Any = GridDatabase(np.clip(levels, 0, N_LEVELS - 1))
    names, extras = tuple(map(str, digits.target_names)), {"images": list(digits.images)}
    return Dataset("DIGITS", graphs, digits.target.astype(np.int64), names, extras, DIGITS)

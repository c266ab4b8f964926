"""What is distinguished: two data sets, sets of molecules with their atoms, or classes of one set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import propkernels as pk
from reproduction.molecules.sets import read_table

# in-distribution set A -> set B, and the best published result of deep methods, if there is one
PAIRS = {
    "BZR": ("COX2", 95.0),
    "AIDS": ("DHFR", 99.1),
    "ENZYMES": ("PROTEINS", 67.9),
    "IMDB-BINARY": ("REDDIT-BINARY", None),
    "MUTAG": ("NCI1", None),
    "DHFR": ("BZR", None),
    "COX2": ("BZR", None),
    "PROTEINS": ("ENZYMES", None),
    "MSRC_9": ("MSRC_21", None),
    "BBBP": ("NCI1", None),
    "NCI1": ("NCI109", None),
}
# sets of MoleculeNet with their atoms: names, and files in moleculenet.zip
MOLECULES = {
    "BBBP/BACE": ("BBBP.csv", "bace.csv"),
    "ClinTox/Lipophilicity": ("clintox.csv", "Lipophilicity.csv"),
    "Tox21/SIDER": ("tox21.csv", "sider.csv"),
    "ESOL/FreeSolv": ("ESOL_delaney-processed.csv", "FreeSolv_SAMPL.csv"),
}
CLASSES = (
    "BZR",
    "DHFR",
    "AIDS",
    "NCI1",
    "PROTEINS",
    "DD",
    "ENZYMES",
    "IMDB-BINARY",
    "REDDIT-BINARY",
)
MOST_GRAPHS = 400  # of sets whose graphs have hundreds of nodes, and of those that hold thousands of graphs
LARGE = ("IMDB-BINARY", "REDDIT-BINARY", "DD", "NCI1", "NCI109")
AS_IT_WAS = ("MUTAG", "BBBP")  # pairs against all graphs of NCI1, which only lends test graphs


@dataclass(frozen=True)
class Case:
    """Normal graphs and others.

    Attributes
    ----------
    name : str
        By which it is chosen, and its results are kept.
    title : str
    kind : {"pair", "molecules", "class"}
    published : float or None
    """

    name: str
    title: str
    kind: str
    published: float | None = None

    def load(self) -> tuple[Any, Any]:
        """Normal graphs, and others."""
        if self.kind == "molecules":
            normal, other = MOLECULES[self.title]
            return molecules(normal), molecules(other)
        if self.kind == "class":
            return one_class(self.name.removeprefix("class "))
        other = PAIRS[self.name][0]
        return bare(self.name), bare(other, whole=self.name in AS_IT_WAS)


def cases() -> dict[str, Case]:
    """All of them, by name."""
    found = [Case(a, f"{a}/{b}", "pair", published) for a, (b, published) in PAIRS.items()]
    found += [Case(f"molecules {title}", title, "molecules") for title in MOLECULES]
    found += [Case(f"class {name}", name, "class") for name in CLASSES]
    return {case.name: case for case in found}


def drawn(graphs: Any, most: int = MOST_GRAPHS) -> Any:
    """Return some of many graphs, drawn at random, the same ones every time."""
    if len(graphs) <= most:
        return graphs
    return graphs[np.sort(np.random.default_rng(0).permutation(len(graphs))[:most])]


def bare(name: str, whole: bool = False) -> Any:
    """Graphs of a data set without labels and attributes."""
    graphs: Any = pk.datasets.load(name).graphs
    if name in LARGE and not whole:
        graphs = drawn(graphs)
    return graphs.with_labels(None).with_attributes(None).with_edge_labels(None)


def one_class(name: str) -> tuple[Any, Any]:
    """The largest class of a data set, and all other classes, with their labels."""
    data: Any = pk.datasets.load(name)
    values, numbers = np.unique(data.target, return_inverse=True)
    is_normal = numbers == np.bincount(numbers, minlength=len(values)).argmax()
    graphs = data.graphs.with_attributes(None)
    return drawn(graphs[is_normal]), drawn(graphs[~is_normal])


@cache
def molecules(file: str) -> Any:
    """Molecules of MoleculeNet, labeled by their atoms; those that cannot be read are left out."""
    texts = read_table(file)["smiles"].fillna("").str.strip().to_numpy()
    order = np.random.default_rng(0).permutation(len(texts))[: MOST_GRAPHS + 50]
    return drawn(pk.from_smiles(texts[np.sort(order)], node_labels="symbol", errors="skip"))

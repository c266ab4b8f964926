"""Groups of points on the map, each named by what distinguishes its graphs from all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from propkernels.explorer.embedding import quantized

FEWEST, MOST_GROUPS = 40, 14  # graphs of a page with groups, and groups
SMALLEST = 4  # graphs of a group
LEAST_LIFT = 0.35  # share of graphs with a feature in a group minus the share in all graphs
MOST_LETTERS = 24
MOST_CLASSES, NEIGHBORS, LEAST_SHARE = 30, 6, 0.55  # classes that are groups, and neighbors within a class
# names of parts of molecules that chemists use, by SMARTS; the first ones are preferred
PARTS = {
    "steroid": "C1CCC2C(C1)CCC1C2CCC2CCCC12",
    "penicillin": "O=C1CC2SCCN12",
    "sulfonamide": "[#6]S(=O)(=O)[NX3]",
    "nitro": "[$([NX3](=O)=O),$([NX3+](=O)[O-])]",
    "phenothiazine": "c1ccc2c(c1)Nc1ccccc1S2",
    "indole": "c1ccc2[nH]ccc2c1",
    "quinoline": "c1ccc2ncccc2c1",
    "purine": "c1ncc2ncnc2n1",
    "barbiturate": "O=C1CC(=O)NC(=O)N1",
    "benzodiazepine": "c1ccc2c(c1)CN=CCN2",
    "anthracene": "c1ccc2cc3ccccc3cc2c1",
    "naphthalene": "c1ccc2ccccc2c1",
    "biphenyl": "c1ccccc1-c1ccccc1",
    "sugar": "OC1OCCC(O)C1O",
    "phosphate": "P(=O)(O)O",
    "amide": "[CX3](=O)[NX3]",
    "carboxylic acid": "[CX3](=O)[OX2H1]",
    "ester": "[CX3](=O)[OX2][#6]",
    "ketone": "[#6][CX3](=O)[#6]",
    "aniline": "c[NX3;H2,H1;!$(NC=O)]",
    "phenol": "c[OX2H1]",
    "alcohol": "[CX4][OX2H1]",
    "nitrile": "C#N",
    "amine": "[NX3;!$(NC=O);!$(N=O)][CX4]",
    "ether": "[CX4][OX2][#6;!$(C=O)]",
    "pyridine": "c1ccncc1",
    "furan": "c1ccoc1",
    "thiophene": "c1ccsc1",
    "benzene": "c1ccccc1",
    "fluoride": "F",
    "chloride": "Cl",
    "bromide": "Br",
    "long chain": "CCCCCCCC",
}


def map_groups(
    points: NDArray[np.float64],
    classes: tuple[NDArray[Any], Sequence[str]] | None,
    molecules: Sequence[Any] | None,
) -> list[dict[str, Any]]:
    """Return the groups of the map: centers, sizes and names; empty for few graphs.

    A group of k-means is named by the feature with the largest lift, the share of its graphs with the
    feature minus the share of all graphs: a class (of three or more), or a part of a molecule.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Coordinates on the map.
    classes : pair, or None
        Class numbers and their names.
    molecules : sequence of rdkit.Chem.Mol or None
        One per graph; None: graphs are no molecules.
    """
    if len(points) < FEWEST:
        return []
    if classes is not None and 2 < len(classes[1]) <= MOST_CLASSES:
        named = class_groups(points, np.asarray(classes[0]), classes[1])
        if len(named) >= len(classes[1]) / 2:
            return named
    n_groups = int(np.clip(np.sqrt(len(points) / 3), 3, MOST_GROUPS))
    from sklearn.cluster import KMeans

    groups = KMeans(n_groups, n_init=4, random_state=0).fit_predict(points)
    names, having = _features(len(points), classes, molecules)
    if not names:
        return []
    found: list[dict[str, Any]] = []
    for group in range(n_groups):
        inside = groups == group
        if inside.sum() < SMALLEST:
            continue
        share, others = having[inside].mean(axis=0), having[~inside].mean(axis=0)
        best = int(np.argmax(share - others))
        if (share - others)[best] >= LEAST_LIFT:
            x, y = quantized(np.median(points[inside], axis=0)[None], points).tolist()
            found.append({"x": x, "y": y, "n": int(inside.sum()), "name": names[best]})
    return found


def class_groups(
    points: NDArray[np.float64], numbers: NDArray[Any], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return one group per class whose graphs lie together: most neighbors of its graphs are in the class."""
    neighbors = cKDTree(points).query(points, k=NEIGHBORS + 1)[1][:, 1:]
    share = (numbers[neighbors] == numbers[:, None]).mean(axis=1)
    found = []
    for c, name in enumerate(names):
        inside = np.flatnonzero(numbers == c)
        if len(inside) < SMALLEST or share[inside].mean() < LEAST_SHARE:
            continue
        core = points[inside[share[inside] >= np.median(share[inside])]]
        x, y = quantized(np.median(core, axis=0)[None], points).tolist()
        found.append({"x": x, "y": y, "n": len(inside), "name": _short(str(name))})
    return found


def _short(name: str) -> str:
    text = f"class {name}" if len(name) < 3 else name
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def _features(n: int, classes: Any, molecules: Any) -> tuple[list[str], NDArray[np.bool_]]:
    """Return names of features, and whether each of n graphs has each of them: (n, features)."""
    names: list[str] = []
    parts = [np.zeros((n, 0), dtype=bool)]
    if classes is not None and len(classes[1]) > 2:
        names += [str(name) for name in classes[1]]
        parts.append(np.asarray(classes[0])[:, None] == np.arange(len(classes[1])))
    if molecules is not None:
        from rdkit import Chem

        patterns = [Chem.MolFromSmarts(text) for text in PARTS.values()]
        names += list(PARTS)
        parts.append(
            np.array([[mol is not None and mol.HasSubstructMatch(p) for p in patterns] for mol in molecules])
        )
    return [_short(name) for name in names], np.concatenate(parts, axis=1)

"""NoveltyDetector as it comes: graphs of one data set among those of another, and classes as anomalies.

The protocol of graph-level out-of-distribution detection: 90 % of the graphs of set A are for training; the
test graphs are the rest of A and as many graphs of set B, drawn at random. Node labels, attributes and edge
labels are dropped, since the codes of two sets cannot be compared: degrees take their place. Molecules keep
their atoms; and the largest class of a set is told from its other classes, with their labels::

    python -m reproduction novelty
    python -m reproduction novelty --dataset BZR --repeats 2

Every repeat has another split and other hash functions, and is kept in OUTPUT/novelty.jsonl at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import propkernels as pk
from reproduction.engine.cells import write_text
from reproduction.extra.novelty_cases import Case, cases
from reproduction.extra.records import chosen_names, markdown, measure_missing

AS_THE_LITERATURE = "constant label"
METHODS: dict[str, dict[str, Any]] = {
    "auto": {},
    "neighbors": {"score": "neighbors"},
    "density": {"score": "density", "n_neighbors": 20},
    "one_class_svm": {"score": "one_class_svm"},
    "rarity": {"score": "rarity"},
    "size": {"score": "size"},
    AS_THE_LITERATURE: {
        "score": "one_class_svm",
        "kernel": pk.PropagationKernel(labels=None, random_state=0),
    },
}
REPEATS = 5
PAGE = """# Novelty, measured

`NoveltyDetector()` without any setting but the seed, in the protocol of graph-level out-of-distribution
detection: 90 % of the graphs of set A for training; tested on the rest of A and as many graphs of B. All
labels and attributes are dropped, degrees take their place, since the codes of two data sets cannot be
compared. Area under the ROC curve in percent, mean ± standard deviation over {repeats} splits. Written by

    python -m reproduction novelty

{table}

## Molecules with their atoms

Sets of MoleculeNet, nodes labeled by their atoms; the default kernel ignores bonds.

{molecules}

## Classes as anomalies

The largest class of a data set is normal; test graphs are a tenth of it and as many graphs of the other
classes. Node labels are used where there are some. Nothing says that a class must look strange to
the others: near 50 % it does not.

{classes}

## How to read this

The protocol is that of Y. Liu, K. Ding, H. Liu and S. Pan, "GOOD-D: On Unsupervised Graph Out-Of-Distribution
Detection" (WSDM 2023). "published" is the best result of deep methods that we know of on the pair, with the
node features and splits of its authors; "seconds" is the median processor time of one fit and its scores
with `score="auto"`.

{notes}
"""
NOTES = """## What each score gives alone

{table}

"constant label" is what kernel baselines are often fed with: one label for all nodes, a linear kernel and a
one-class SVM. Diffusion of one constant label changes nothing, all nodes of all graphs share one bin, and the
normalized kernel of any two graphs is 1: chance by construction, which is where the rows of propagation
kernels in the literature of this protocol lie (42 to 54 %).

How `score="auto"` weighs its parts was decided after looking at these pairs: on these very splits of BZR/COX2
and ENZYMES/PROTEINS, and on others of all pairs. This flatters its column, although one rule serves all pairs
and none was tuned alone. That far neighbors count alone was decided on random graphs, after two other
rules had been measured on these splits. Where it fails shows in the table: sizes mislead it on
PROTEINS/ENZYMES, and hide what neighbors know on IMDB-BINARY/REDDIT-BINARY. "density" has 20 neighbors,
scikit-learn's default; no other single score was given a setting. The default kernel was chosen on
BZR/COX2 and AIDS/DHFR. Nothing else was decided on the molecules with atoms, on the classes or on
NCI1/NCI109.
Sets of large graphs or of thousands (IMDB-BINARY, REDDIT-BINARY, NCI1 and NCI109 in their pair, all
sets of molecules and all classes) are represented by 400 graphs at most, drawn at random once.
"""


@dataclass(frozen=True)
class Result:
    """One split of one pair: the area under the ROC curve of each method, and the seconds of "auto"."""

    pair: str
    repeat: int
    areas: dict[str, float]
    seconds: float

    @property
    def key(self) -> tuple[str, int]:
        """What tells results apart."""
        return self.pair, self.repeat


def split(normal: Any, other: Any, repeat: int) -> tuple[Any, Any, Any]:
    """Training graphs, test graphs, and which of these are normal."""
    rng = np.random.default_rng(repeat)
    order, n_train = rng.permutation(len(normal)), round(0.9 * len(normal))
    held = normal[np.sort(order[n_train:])]
    strange = other[np.sort(rng.permutation(len(other))[: len(held)])]
    is_normal = np.repeat([True, False], [len(held), len(strange)])
    return normal[np.sort(order[:n_train])], pk.GraphDatabase.concat([held, strange]), is_normal


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, Any]:
    """Normal graphs of a case, and others; the last case stays in memory."""
    return cases()[name].load()


def measure(pair: str, repeat: int, n_jobs: int) -> Result:
    """All methods on one split."""
    train, test, is_normal = split(*load(pair), repeat)
    areas, seconds = {}, {}
    for name, parameters in METHODS.items():
        start = process_time()
        detector = pk.NoveltyDetector(**parameters, random_state=repeat, n_jobs=n_jobs).fit(train)
        scores = detector.score_samples(test)
        seconds[name] = process_time() - start
        areas[name] = 100 * float(roc_auc_score(is_normal, scores))
    return Result(pair, repeat, areas, seconds["auto"])


def run(
    names: Sequence[str], folder: Path, document: Path, repeats: int | None = None, jobs: int = -1
) -> str:
    """Measure what is missing, write the page, and return its table."""
    keys = product(chosen_names(names, cases(), "case"), range(repeats or REPEATS))
    results = measure_missing(folder / "novelty.jsonl", Result, keys, partial(measure, n_jobs=jobs))
    by_case = [(case, [r for r in results if r.pair == case.name]) for case in cases().values()]
    found = [(case, of) for case, of in by_case if of]
    most = max((len(of) for _, of in found), default=0)
    tables = {
        kind: markdown(
            ["pair" if kind != "class" else "data set", "published", "measured", "above", "seconds"],
            [row(case, of, most) for case, of in found if case.kind == kind],
        )
        for kind in ("pair", "molecules", "class")
    }
    alone = markdown(["", *METHODS], [[heading(case), *cells(of)] for case, of in found])
    parts = {"table": tables["pair"], "molecules": tables["molecules"], "classes": tables["class"]}
    write_text(document, PAGE.format(**parts, repeats=most, notes=NOTES.format(table=alone).rstrip()))
    return tables["pair"] if not any(case.kind != "pair" for case, _ in found) else alone


def heading(case: Case) -> str:
    """A case in the table of all scores."""
    return case.title if case.kind == "pair" else f"{case.title} ({case.kind})"


def row(case: Case, results: Sequence[Result], repeats: int) -> list[str]:
    """One line of the table; it says so if there are fewer splits than elsewhere."""
    published, mean = case.published, float(np.mean([r.areas["auto"] for r in results]))
    above = "-" if published is None else "yes" if mean > published else f"no ({mean - published:+.1f})"
    shown = "-" if published is None else f"{published:.1f}"
    fewer = f" ({len(results)} of {repeats} splits)" if len(results) < repeats else ""
    measured = cells(results)[0] + fewer
    return [case.title, shown, measured, above, f"{np.median([r.seconds for r in results]):.1f}"]


def cells(results: Sequence[Result]) -> list[str]:
    """Mean and standard deviation of each method."""
    found = {name: [r.areas[name] for r in results] for name in METHODS}
    return [f"{np.mean(values):.1f} ± {np.std(values):.1f}" for values in found.values()]

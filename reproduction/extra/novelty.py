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
from reproduction.engine.cells import measured_on, write_text
from reproduction.extra.novelty_cases import Case, cases
from reproduction.extra.records import Record, chosen_names, markdown, measure_missing

DEFAULT, CONSTANT = "nearest graph", "constant label"
METHODS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    CONSTANT: {"kernel": pk.PropagationKernel(labels=None, random_state=0)},
}
REPEATS = 5
PAGE = """# Novelty, measured

`NoveltyDetector()` without any setting but the seed. Area under the ROC curve in percent, mean ± standard
deviation over {repeats} splits, vs. one label for all nodes. Measured {measured}, by

    python -m reproduction novelty

{table}

- **Pairs** have the protocol of graph-level out-of-distribution detection (Y. Liu and others, "GOOD-D", WSDM
  2023): 90 % of the graphs of the first set are for training; tested on its rest and as many graphs of the
  second. Labels and attributes are dropped, since those of two data sets cannot be compared: degrees take
  their place. "Published" is GOOD-D's own table, with node features and splits of its authors; later methods
  report more. 67.9 is of a later method, whose source was not kept.
- **Molecules** keep their atoms and bonds.
- **Classes**: the largest class is normal; tested on a tenth of it and as many graphs of the others. Nothing
  says that a class must look strange to the others: near 50 % it does not.
- "Constant label" is what kernel baselines are often fed with: all nodes share one bin, and only sizes
  differ. On ENZYMES/PROTEINS sizes alone tell more than neighborhoods.

That the similarity is that of `pk.similarity`, and not a cosine, was decided on other splits of these pairs.
Large sets (IMDB-BINARY, REDDIT-BINARY, NCI1 and NCI109 in their pair, all molecules and classes) are
represented by 400 graphs at most, drawn at random once. One fit and its scores take less than a second.
"""


@dataclass(frozen=True)
class Result(Record):
    """One split of one pair: the area under the ROC curve of each method, and the seconds of the default."""

    n_keys = 2

    pair: str
    repeat: int
    areas: dict[str, float]
    seconds: float


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
    return Result(pair, repeat, areas, seconds[DEFAULT])


def run(
    names: Sequence[str], folder: Path, document: Path, repeats: int | None = None, jobs: int = -1
) -> str:
    """Measure what is missing, write the page, and return its table."""
    keys = product(chosen_names(names, cases(), "case"), range(repeats or REPEATS))
    results = measure_missing(folder / "novelty.jsonl", Result, keys, partial(measure, n_jobs=jobs))
    by_case = [(case, [r for r in results if r.pair == case.name]) for case in cases().values()]
    found = [(case, of) for case, of in by_case if of]
    most = max((len(of) for _, of in found), default=0)
    table = markdown(["", "published", *METHODS], [row(case, of, most) for case, of in found])
    measured = measured_on(folder, "novelty.jsonl")
    write_text(document, PAGE.format(table=table, repeats=most, measured=measured))
    return table


def row(case: Case, results: Sequence[Result], repeats: int) -> list[str]:
    """One line of the table; it says so if there are fewer splits than elsewhere."""
    title = case.title if case.kind == "pair" else f"{case.title} ({case.kind})"
    fewer = f" ({len(results)} of {repeats} splits)" if len(results) < repeats else ""
    published = "-" if case.published is None else f"{case.published:.1f}"
    return [title + fewer, published, *cells(results)]


def cells(results: Sequence[Result]) -> list[str]:
    """Mean and standard deviation of each method."""
    found = {name: [r.areas[name] for r in results] for name in METHODS}
    return [f"{np.mean(values):.1f} ± {np.std(values):.1f}" for values in found.values()]

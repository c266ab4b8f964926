"""NoveltyDetector as it comes: graphs of one data set among those of another.

The protocol of graph-level out-of-distribution detection: 90 % of the graphs of set A are for training; the
test graphs are the rest of A and as many graphs of set B, drawn at random. Node labels, attributes and edge
labels are dropped, since the codes of two sets cannot be compared: degrees take their place::

    python -m reproduction novelty
    python -m reproduction novelty --dataset BZR --repeats 2

Every repeat has another split and other hash functions, and is kept in OUTPUT/novelty.jsonl at once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import propkernels as pk
from propkernels.utils.files import atomic_write
from reproduction.extra.folds_of_defaults import markdown

# in-distribution set A -> set B, and the best published result of deep methods, if there is one
PAIRS = {
    "BZR": ("COX2", 87.4),
    "AIDS": ("DHFR", 97.4),
    "ENZYMES": ("PROTEINS", 67.9),
    "IMDB-BINARY": ("REDDIT-BINARY", None),
    "MUTAG": ("NCI1", None),
    "DHFR": ("BZR", None),
    "COX2": ("BZR", None),
    "PROTEINS": ("ENZYMES", None),
    "MSRC_9": ("MSRC_21", None),
    "BBBP": ("NCI1", None),
}
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
MOST_GRAPHS = 400  # of sets whose graphs have hundreds of nodes
LARGE = ("IMDB-BINARY", "REDDIT-BINARY")
REPEATS = 5
PAGE = """# Novelty, measured

`NoveltyDetector()` without any setting but the seed, in the protocol of graph-level out-of-distribution
detection: 90 % of the graphs of set A for training; tested on the rest of A and as many graphs of B. All
labels and attributes are dropped, degrees take their place, since the codes of two data sets cannot be
compared. Area under the ROC curve in percent, mean ± standard deviation over {repeats} splits. Written by

    python -m reproduction novelty

{table}

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
normalized kernel of any two graphs is 1: chance by construction.

How `score="auto"` weighs its parts was decided after looking at these pairs: on these very splits of BZR/COX2
and ENZYMES/PROTEINS, and on others of all pairs. This flatters its column, although one rule serves all pairs
and none was tuned alone. Where it fails shows in the table: sizes mislead it on PROTEINS/ENZYMES, and hide
what neighbors know on IMDB-BINARY/REDDIT-BINARY. "density" has 20 neighbors, scikit-learn's default; no other
single score was given a setting. The default kernel was chosen on BZR/COX2 and AIDS/DHFR.
IMDB-BINARY and REDDIT-BINARY are represented by 400 graphs each, drawn at random once.
"""


@dataclass(frozen=True)
class Result:
    """One split of one pair: the area under the ROC curve of each method, and the seconds of "auto"."""

    pair: str
    repeat: int
    areas: dict[str, float]
    seconds: float


class Kept:
    """Results in a file, one line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.results = [Result(**json.loads(line)) for line in lines]

    def of(self, pair: str) -> list[Result]:
        """Results of one pair."""
        return [result for result in self.results if result.pair == pair]

    def add(self, result: Result) -> None:
        """Keep a result at once."""
        self.results.append(result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")


def load(name: str) -> Any:
    """Graphs of a data set, bare of labels and attributes."""
    graphs: Any = pk.datasets.load(name).graphs
    if name in LARGE:
        graphs = graphs[np.sort(np.random.default_rng(0).permutation(len(graphs))[:MOST_GRAPHS])]
    return graphs.with_labels(None).with_attributes(None).with_edge_labels(None)


def split(normal: Any, other: Any, repeat: int) -> tuple[Any, Any, Any]:
    """Training graphs, test graphs, and which of these are normal."""
    rng = np.random.default_rng(repeat)
    order, n_train = rng.permutation(len(normal)), round(0.9 * len(normal))
    held = normal[np.sort(order[n_train:])]
    strange = other[np.sort(rng.permutation(len(other))[: len(held)])]
    is_normal = np.repeat([True, False], [len(held), len(strange)])
    return normal[np.sort(order[:n_train])], pk.GraphDatabase.concat([held, strange]), is_normal


def measure(pair: str, normal: Any, other: Any, repeat: int, n_jobs: int) -> Result:
    """All methods on one split."""
    train, test, is_normal = split(normal, other, repeat)
    areas, seconds = {}, {}
    for name, parameters in METHODS.items():
        start = process_time()
        detector = pk.NoveltyDetector(**parameters, random_state=repeat, n_jobs=n_jobs).fit(train)
        scores = detector.score_samples(test)
        seconds[name] = process_time() - start
        areas[name] = 100 * float(roc_auc_score(is_normal, scores))
    return Result(pair, repeat, areas, seconds["auto"])


def run(names: Sequence[str], repeats: int | None, folder: Path, document: Path, n_jobs: int) -> str:
    """Measure what is missing, write the page, and return its table."""
    unknown = [name for name in names if name not in PAIRS]
    if unknown:
        raise ValueError(f"there is no pair that starts with {unknown[0]!r}: choose among {', '.join(PAIRS)}")
    kept = Kept(folder / "novelty.jsonl")
    for name in names or PAIRS:
        done = {result.repeat for result in kept.of(name)}
        missing = [repeat for repeat in range(repeats or REPEATS) if repeat not in done]
        for repeat in missing:
            kept.add(measure(name, load(name), load(PAIRS[name][0]), repeat, n_jobs))
            write_page(kept, document)
    return write_page(kept, document)


def write_page(kept: Kept, document: Path) -> str:
    """Write what is known so far."""
    names = [name for name in PAIRS if kept.of(name)]
    table = markdown(
        ["pair", "published", "measured", "above", "seconds"], [row(n, kept.of(n)) for n in names]
    )
    alone = markdown(["pair", *METHODS], [[title(n), *cells(kept.of(n))] for n in names])
    repeats = max((len(kept.of(name)) for name in names), default=0)
    page = PAGE.format(table=table, repeats=repeats, notes=NOTES.format(table=alone).rstrip())
    with atomic_write(document, text=True) as file:
        file.write(page)
    return table


def title(name: str) -> str:
    """A pair as it is written."""
    return f"{name}/{PAIRS[name][0]}"


def row(name: str, results: Sequence[Result]) -> list[str]:
    """One line of the table."""
    published, mean = PAIRS[name][1], float(np.mean([r.areas["auto"] for r in results]))
    above = "-" if published is None else "yes" if mean > published else f"no ({mean - published:+.1f})"
    shown = "-" if published is None else f"{published:.1f}"
    return [title(name), shown, cells(results)[0], above, f"{np.median([r.seconds for r in results]):.1f}"]


def cells(results: Sequence[Result]) -> list[str]:
    """Mean and standard deviation of each method."""
    found = {name: [r.areas[name] for r in results] for name in METHODS}
    return [f"{np.mean(values):.1f} ± {np.std(values):.1f}" for values in found.values()]

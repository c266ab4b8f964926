"""Folds on which PropagationClassifier is measured as it comes: fitted, tested, and kept in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import propkernels as pk
from propkernels.cli.arguments import describe_kernel
from reproduction.extra.records import keep_records, load_records
from reproduction.protocols.nested import class_numbers

LABELS_ONLY = "ENZYMES, labels only"
Split = tuple[int, int, NDArray[np.int64], NDArray[np.int64]]  # repeat, fold, train, test


@dataclass(frozen=True)
class FoldResult:
    """One fold: what was chosen, how it did, and how long it took."""

    dataset: str
    repeat: int
    fold: int
    correct: int
    tested: int
    chosen: str
    validated: float
    seconds: float
    processor_seconds: float

    @property
    def key(self) -> tuple[str, int, int]:
        """What tells folds apart."""
        return self.dataset, self.repeat, self.fold


class Kept:
    """Results of folds, one line each in a file; what the file holds is not computed again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results = load_records(path, FoldResult)

    def add(self, result: FoldResult) -> None:
        """Keep a result, and write it at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        keep_records([result], self.path)
        self.results.append(result)

    def of(self, dataset: str) -> list[FoldResult]:
        """Results on one data set."""
        return [result for result in self.results if result.dataset == dataset]

    def missing(self, dataset: str, splits: Iterable[Split]) -> Iterator[Split]:
        """Folds that have not been computed."""
        done = {result.key for result in self.results}
        return (split for split in splits if (dataset, split[0], split[1]) not in done)


def load(name: str) -> tuple[Any, NDArray[np.int64]]:
    """Graphs and classes of a data set."""
    data = pk.datasets.load("ENZYMES" if name == LABELS_ONLY else name)
    graphs: Any = data.graphs
    if name == LABELS_ONLY:
        graphs = graphs.with_attributes(None)
    return graphs, class_numbers(data.target)


def measure(name: str, graphs: Any, target: NDArray[Any], split: Split, seed: int, n_jobs: int) -> FoldResult:
    """Fit PropagationClassifier() on the training part, and count what it gets right on the test part."""
    repeat, fold, train, test = split
    start, processor = perf_counter(), process_time()
    model = pk.PropagationClassifier(random_state=seed, n_jobs=n_jobs, progress=False)
    model.fit(graphs[train], target[train])
    seconds, processor = perf_counter() - start, process_time() - processor
    correct = int(np.sum(model.predict(graphs[test]) == target[test]))
    outcome = correct, len(test), describe(model), round(model.score_, 4)
    return FoldResult(name, repeat, fold, *outcome, round(seconds, 2), round(processor, 2))


def describe(model: pk.PropagationClassifier) -> str:
    """Say what was chosen: the kernel or those that are averaged, and after a semicolon what is set in it."""
    kernels = model.kernel_.kernels or () if isinstance(model.kernel_, pk.SumKernel) else [model.kernel_]
    kernel = " + ".join(describe_kernel(each, without=("t_max", "normalize")) for each in kernels)
    return f"{kernel}; t_max={model.t_max_}, normalize={model.normalize_}, C={model.C_:g}"


def accuracies(results: Sequence[FoldResult]) -> list[float]:
    """Mean over the folds of each repeat, in percent."""
    repeats = sorted({result.repeat for result in results})
    return [100 * float(np.mean([r.correct / r.tested for r in results if r.repeat == n])) for n in repeats]


def standard_error(results: Sequence[FoldResult]) -> float:
    """Standard error of the mean accuracy, in percent: over the repeats, or over the folds of one repeat."""
    values = accuracies(results)
    values = values if len(values) > 1 else [100 * r.correct / r.tested for r in results]
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def most_chosen(results: Sequence[FoldResult]) -> str:
    """The kernel that was chosen most often, and how often; models that average have several."""
    kinds = Counter(kind for result in results for kind in result.chosen.split("; ")[0].split(" + "))
    kind, times = kinds.most_common(1)[0]
    per_model = kinds.total() / len(results)
    several = f"; {per_model:.1f} kernels per model" if per_model > 1 else ""
    return f"`{kind}` ({times} of {len(results)}{several})"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def earlier_rows(page: str, names: Container[str]) -> dict[str, list[str]]:
    r"""Rows of the first table of a page, by data set.

    Examples
    --------
    >>> earlier_rows("| data set | aim |\n|---|---|\n| MUTAG | 87.0 |\n", ["MUTAG"])
    {'MUTAG': ['MUTAG', '87.0']}
    """
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    return {cells[0]: cells for cells in reversed(rows) if cells[0] in names}

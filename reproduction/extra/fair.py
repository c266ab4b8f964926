"""PropagationClassifier as it comes, on the folds of a fair comparison of graph neural networks.

Errica, Podda, Bacciu and Micheli, "A Fair Comparison of Graph Neural Networks for Graph Classification" (ICLR
2020), published their ten test folds and the split of the rest into training and validation graphs. Here
everything is chosen by cross-validation on training and validation graphs together, the test graphs are
looked at once::

    python -m reproduction fair

The splits are read from fair_splits.zip in the folder that PROPKERNELS_DATA names. Rows of data sets that
OUTPUT knows nothing of stay as they are on the page.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import propkernels as pk
from propkernels._utils.safe_files import atomic_write
from reproduction.extra.compact import read_compact
from reproduction.extra.folds_of_defaults import (
    FoldResult,
    Kept,
    Split,
    accuracies,
    earlier_rows,
    markdown,
    measure,
    most_chosen,
)
from reproduction.protocols.nested import class_numbers

# best published result on these folds: value, method, and what was published later
PUBLISHED = {
    "ENZYMES": (65.2, "a baseline without edges", ""),
    "IMDB-BINARY": (71.2, "GIN", "72.7 (CGMM), 74.5 (LTP)"),
    "IMDB-MULTI": (49.1, "a baseline without edges", "50.0 (LTP)"),
    "PROTEINS_full": (75.8, "a baseline without edges", ""),
    "DD": (78.4, "a baseline without edges", ""),
    "REDDIT-BINARY": (89.9, "GIN", "91.6 (iCGMM)"),
    "NCI1": (80.0, "GIN", ""),
    "COLLAB": (78.9, "", "79.4 (LTP)"),
}
SEED = 0
PAGE = """# A fair comparison with graph neural networks

`PropagationClassifier()` without any setting but the seed, on exactly the ten test folds that Errica, Podda,
Bacciu and Micheli published with "A Fair Comparison of Graph Neural Networks for Graph Classification" (ICLR
2020). Everything is chosen by cross-validation on the training and validation graphs of each fold. Written by

    python -m reproduction fair

{table}

± is the standard deviation over the ten test folds, as in the publication. Processor minutes are those of all
fits of a data set on one core{total}.

Models of few graphs average the decisions of several kernels, as many as the last column says.

LTP is that of a table of 2023 on the same folds, as are CGMM and iCGMM of their years.

The lists of default kernels were found by quick looks at folds of some of these data sets that are not the
folds of this page (see [defaults](defaults.md)), but hold the same graphs. This flatters ENZYMES most of
all, since the widths of its bins were found there.
"""


def read_splits(name: str) -> list[Split]:
    """The ten folds of a data set; training and validation graphs together."""
    folder = os.environ.get("PROPKERNELS_DATA")
    path = Path(folder or ".") / "fair_splits.zip"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: set PROPKERNELS_DATA to the folder that holds it")
    with zipfile.ZipFile(path) as archive:
        folds = json.loads(archive.read(f"{name}.json"))
    found = []
    for number, fold in enumerate(folds):
        parts = fold["model_selection"][0]
        train = np.sort(np.array(parts["train"] + parts["validation"]))
        found.append((0, number, train, np.array(fold["test"])))
    return found


def run(names: Sequence[str], folder: Path, document: Path, n_jobs: int) -> str:
    """Measure what is missing, write the page, and return its table."""
    unknown = [name for name in names if name not in PUBLISHED]
    if unknown:
        raise ValueError(f"the data set {unknown[0]!r} is not here: choose among {', '.join(PUBLISHED)}")
    kept = Kept(folder / "fair.jsonl")
    for name in names or PUBLISHED:
        missing = list(kept.missing(name, read_splits(name)))
        graphs, target = load(name) if missing else (None, np.zeros(0, dtype=np.int64))
        for split in missing:
            kept.add(measure(name, graphs, target, split, SEED, n_jobs))
            write_page(kept, document)
    return write_page(kept, document)


def load(name: str) -> tuple[Any, NDArray[np.int64]]:
    """Graphs and classes of a data set; COLLAB is read from its compact file."""
    path = Path(os.environ.get("PROPKERNELS_DATA") or ".") / f"{name}_compact.npz"
    if path.exists():
        graphs, classes = read_compact(path)
        return graphs, class_numbers(classes)
    data = pk.datasets.load(name)
    return data.graphs, class_numbers(data.target)


def write_page(kept: Kept, document: Path) -> str:
    """Write what is known so far."""
    head = ["data set", "best of the comparison", "later", "measured", "above", "folds", "processor minutes"]
    known = earlier_rows(document.read_text(encoding="utf-8") if document.is_file() else "", PUBLISHED)
    known = {name: [*published(name), *cells[3:]] for name, cells in known.items()}
    known |= {name: row(name, kept.of(name)) for name in PUBLISHED if kept.of(name)}
    rows = [known[name] for name in PUBLISHED if name in known]
    table = markdown([*head, "chosen most often"], rows)
    minutes = sum(float(cells[head.index("processor minutes")]) for cells in rows)
    with atomic_write(document, text=True) as file:
        file.write(PAGE.format(table=table, total=f": {minutes:.1f} together"))
    return table


def published(name: str) -> list[str]:
    """First cells of a line: the data set, the best published result, and what was published later."""
    best, method, later = PUBLISHED[name]
    return [name, f"{best:.1f} ({method})" if method else f"{best:.1f}", later or "-"]


def row(name: str, results: Sequence[FoldResult]) -> list[str]:
    """One line of the table."""
    best = PUBLISHED[name][0]
    mean = accuracies(results)[0]
    spread = float(np.std([100 * r.correct / r.tested for r in results]))
    cells = [*published(name), f"{mean:.1f} ± {spread:.1f}"]
    cells += ["yes" if mean > best else "no", f"{len(results)} of 10"]
    return [*cells, f"{sum(r.processor_seconds for r in results) / 60:.1f}", most_chosen(results)]

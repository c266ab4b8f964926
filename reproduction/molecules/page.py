"""The measured part of docs/measured/fingerprints.md, between two marks; the rest of the page stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reproduction.engine.cells import write_text
from reproduction.extra.records import markdown
from reproduction.molecules import sets
from reproduction.molecules.features import ECFP, FEATURES, REFINED, THEIRS
from reproduction.molecules.heads import CHOOSING, HEADS
from reproduction.molecules.seconds import ALONE, PARSING, STAGES, Seconds

if TYPE_CHECKING:
    from reproduction.molecules.cells import Cell

Method = tuple[str, str]  # features and head
DEFAULT = "default model"
METHODS: tuple[Method, ...] = (
    *((features, head) for head in HEADS for features in FEATURES),
    (DEFAULT, ""),
)
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
TITLES = {sets.SCAFFOLD: "Scaffold folds", sets.RANDOM: "Random folds"}
Means = dict[tuple[str, Method], float]  # set and method -> mean over the folds
PART = """{begin}
## Beside fingerprints, measured

Sets of MoleculeNet, the same folds and heads for all features. Written by

    python -m reproduction molecules --document docs/measured/fingerprints.md

{verdict}

"refined symbols" are `WeisfeilerLehmanFeatures(t_max=3, edge_labels=True)` of atoms labeled by symbol;
"refined invariants" those of the labels "invariants" with t_max=2, which is what ECFP counts, without
its folding into 2,048 columns; "three views" those of the three labels that `MoleculesToGraphs()` gives
an atom, with `labels="entries"` and t_max=3. "default model" is
`PropagationClassifier()`, or `PropagationRegressor()`, behind `MoleculesToGraphs()`.
ECFP and AtomPair (counts) and MACCS are those of scikit-fingerprints, as they come. "linear" is logistic
(numbers: ridge) regression and "forest" a random forest of 100 trees, both on log(1 + count); "SVM" has
the Tanimoto similarity of counts as its kernel. The one setting of a linear model or SVM is chosen on a
quarter of the training molecules that is held out, and the default model chooses by cross-validation on
the training molecules: nothing is chosen on test folds. Which labels make up the three views, their
iterations and the kernels of the default model were chosen on folds that were drawn with another seed
from ClinTox, BACE, BBBP, FreeSolv and ESOL: the same molecules, so that these columns flatter them
somewhat; nothing was chosen on SIDER, Tox21, HIV and Lipophilicity.

Five folds, at random or such that no Murcko scaffold is in two of them. How many of them have been
measured is said below, and a dash means that a row has not been measured on all of these; the command
measures what is missing, and may be stopped and started again. The kernel of HIV and its training part in
double precision fill 14 GB of memory, so that of HIV only the first two folds are tried. Forests of numbers
see the 4,096 most frequent columns. Choices of a linear model or SVM are made on at most {choosing:,}
training molecules and four tasks.

{tables}

### Processor seconds

From RDKit's molecules to a sparse matrix, best of three runs in one process with one thread (parsing: one
run; HIV: only the main rivals). "refined symbols" include their graphs, "features alone" do not.

{seconds}
{end}
"""


def means_of(cells: Sequence[Cell], split: str) -> tuple[Means, dict[str, int]]:
    """Mean score of each set and method over the folds of the set, and how many these are.

    They are the folds that have all rows that the first one has; a method that the first one lacks has no
    mean.
    """
    means: Means = {}
    n_folds = {}
    for name in sets.SOURCES:
        scores = {
            ((cell.features, cell.head), cell.fold): cell.score
            for cell in cells
            if (cell.dataset, cell.split) == (name, split) and (cell.features, cell.head) in METHODS
        }
        first = [method for method in METHODS if (method, 0) in scores]
        folds = [
            fold
            for fold in range(sets.N_FOLDS)
            if first and all((method, fold) in scores for method in first)
        ]
        n_folds[name] = len(folds)
        for method in first:
            means[name, method] = float(np.mean([scores[method, fold] for fold in folds]))
    return means, n_folds


def title(method: Method) -> str:
    """A method as it is written."""
    return " + ".join(filter(None, method))


def table_of(means: Means, n_folds: dict[str, int], names: Sequence[str], larger: bool) -> str:
    """One row per method, one column per set, and the mean where a method was measured on all of them."""
    present = [name for name in names if n_folds[name]]
    digits = 1 if larger else 3
    best = {
        name: (max if larger else min)(means[name, m] for m in METHODS if (name, m) in means)
        for name in present
    }
    rows = []
    for method in METHODS:
        known = [means[name, method] for name in present if (name, method) in means]
        if known:
            shown = [_cell(means.get((name, method)), best[name], digits) for name in present]
            mean = f"{np.mean(known):.{digits}f}" if len(known) == len(present) else "-"
            rows.append([title(method), *shown, mean])
    head = [f"{name} ({n_folds[name]})" for name in present]
    return markdown(["method", *head, "mean"], rows)


def _cell(value: float | None, best: float, digits: int) -> str:
    text = "-" if value is None else f"{value:.{digits}f}"
    return f"**{text}**" if value == best else text


def verdict(means: Means, n_folds: dict[str, int], split: str) -> list[str]:
    """What is ahead, in sentences: means over the sets of classes, and each set of numbers."""
    names = [name for name in sets.CLASSES if n_folds[name]]
    everywhere = [method for method in METHODS if all((name, method) in means for name in names)]
    mean = {method: float(np.mean([means[name, method] for name in names])) for method in everywhere}
    ours, theirs = ([m for m in everywhere if (m[0] in THEIRS) == flag] for flag in (False, True))
    lines = []
    if names and ours and theirs:
        our, their = (max(some, key=lambda method: mean[method]) for some in (ours, theirs))
        difference = mean[our] - mean[their]
        default = f" The default model: {mean[DEFAULT, '']:.1f}." if (DEFAULT, "") in mean else ""
        lines.append(
            f"- {TITLES[split]}, {len(names)} of {len(sets.CLASSES)} sets of classes ({', '.join(names)}), "
            f"mean ROC-AUC: {title(our)} {mean[our]:.1f}; the best fingerprint with its best head, "
            f"{title(their)}, {mean[their]:.1f}: {difference:+.1f} points (aim +1.0: "
            f"{'reached' if difference >= 1 else 'not reached'}).{default}"
        )
    for name in sets.NUMBERS:
        found = {method: value for (dataset, method), value in means.items() if dataset == name}
        ours, theirs = ([m for m in found if (m[0] in THEIRS) == flag] for flag in (False, True))
        if ours and theirs:
            our, their = (min(some, key=lambda method: found[method]) for some in (ours, theirs))
            word = "below" if found[our] < found[their] else "not below"
            lines.append(
                f"- {TITLES[split]}, {name}, RMSE: {title(our)} {found[our]:.3f}, {word} {title(their)} "
                f"{found[their]:.3f}, both chosen after the fact."
            )
    return lines


def verdicts(cells: Sequence[Cell]) -> list[str]:
    """What is ahead, on both kinds of folds."""
    return [line for split in sets.SPLITS for line in verdict(*means_of(cells, split), split)]


def seconds_table(records: Iterable[Seconds]) -> str:
    """Processor seconds of all stages, one row per set."""
    known = {record.key: record for record in records}
    rows = []
    for name in sets.SOURCES:
        of = {stage: known[name, stage].seconds for stage in STAGES if (name, stage) in known}
        if of:
            times = [f"{of[stage]:.2f}" if stage in of else "-" for stage in STAGES]
            ratios = [f"{of[ECFP] / of[REFINED]:.1f}", f"{of[ECFP] / max(of[ALONE], 1e-3):.0f}"]
            rows.append([name, f"{known[name, PARSING].molecules:,}", *times, *ratios])
    head = ["set", "molecules", "RDKit parses", "our graphs", "features alone", *FEATURES]
    return markdown([*head, "ECFP / refined symbols", "ECFP / features alone"], rows)


def measured_part(cells: Sequence[Cell], records: Sequence[Seconds]) -> str:
    """Everything between the marks."""
    tables = []
    for split in sets.SPLITS:
        means, n_folds = means_of(cells, split)
        numbers = [name for name, source in sets.SOURCES.items() if not source.is_class]
        for names, what, larger in (
            (sets.CLASSES, "mean ROC-AUC in percent", True),
            (numbers, "root mean squared error", False),
        ):
            if any(n_folds[name] for name in names):
                tables.append(f"### {TITLES[split]}: {what}\n\n{table_of(means, n_folds, names, larger)}")
    tables.append("In brackets: folds that have been measured, of five. Bold: best of a column.")
    return PART.format(
        begin=BEGIN,
        end=END,
        verdict="\n".join(verdicts(cells)) or "Nothing has been measured yet.",
        choosing=CHOOSING,
        tables="\n\n".join(tables),
        seconds=seconds_table(records),
    )


def write_page(document: Path, part: str) -> None:
    """Put the part between the marks of a document, or at its end; the rest stays as it is."""
    text = document.read_text(encoding="utf-8") if document.exists() else "# Molecules\n"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    whole = before + part.rstrip("\n") + after if begin and end else text.rstrip("\n") + "\n\n" + part
    write_text(document, whole)

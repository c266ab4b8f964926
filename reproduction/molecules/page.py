"""The measured part of docs/measured/fingerprints.md, between two marks; the rest of the page stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from propkernels._utils.safe_files import atomic_write
from reproduction.extra.folds_of_defaults import markdown
from reproduction.molecules import sets
from reproduction.molecules.cells import DEFAULT, METHODS, Cell, Method
from reproduction.molecules.features import ECFP, FEATURES, REFINED, THEIRS
from reproduction.molecules.heads import CHOOSING
from reproduction.molecules.seconds import ALONE, ANSWERS, GRAPHS, PARSING, Seconds

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
`PropagationClassifier(scoring="roc_auc")`, or `PropagationRegressor()`, behind `MoleculesToGraphs()`.
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
run; HIV: only the main rivals). "RDKit answers": what RDKit takes to hand out bonds and symbols, the
least that graphs can take; "our graphs" include it, and "refined symbols" their graphs; "features alone"
do not.

{seconds}

Processor seconds of fits, mean over the folds that are above:

{fits}
{end}
"""


def means_of(cells: Sequence[Cell], split: str) -> tuple[Means, dict[str, int]]:
    """Mean score of each set and method over the folds of the set, and how many these are.

    They are the folds that have all rows that the first one has; a method that the first one lacks has no
    mean.
    """
    chosen = [cell for cell in cells if cell.split == split and cell.method in METHODS]
    means: Means = {}
    n_folds = {}
    for name in sets.SOURCES:
        scores = {(cell.method, cell.fold): cell.score for cell in chosen if cell.dataset == name}
        first = {method for method, fold in scores if fold == 0}
        folds = [
            fold
            for fold in range(sets.N_FOLDS)
            if first and all((method, fold) in scores for method in first)
        ]
        n_folds[name] = len(folds)
        for method in METHODS:
            if folds and all((method, fold) in scores for fold in folds):
                means[name, method] = float(np.mean([scores[method, fold] for fold in folds]))
    return means, n_folds


def title(method: Method) -> str:
    """A method as it is written."""
    return " + ".join(filter(None, method))


def is_theirs(method: Method) -> bool:
    """Whether a method rests on fingerprints."""
    return method[0] in THEIRS


def table_of(means: Means, n_folds: dict[str, int], names: Sequence[str], larger: bool) -> str:
    """One row per method, one column per set, and the mean where a method was measured on all of them."""
    present = [name for name in names if n_folds[name]]
    rows = []
    for method in METHODS:
        values = [means.get((name, method)) for name in present]
        if any(value is not None for value in values):
            shown = [
                _cell(value, _best(means, name, larger), larger)
                for name, value in zip(present, values, strict=True)
            ]
            known = [value for value in values if value is not None]
            mean = f"{np.mean(known):.{1 if larger else 3}f}" if len(known) == len(present) else "-"
            rows.append([title(method), *shown, mean])
    head = [f"{name} ({n_folds[name]})" for name in present]
    return markdown(["method", *head, "mean"], rows)


def _best(means: Means, name: str, larger: bool) -> float:
    values = [value for (dataset, _), value in means.items() if dataset == name]
    return max(values) if larger else min(values)


def _cell(value: float | None, best: float, larger: bool) -> str:
    if value is None:
        return "-"
    text = f"{value:.{1 if larger else 3}f}"
    return f"**{text}**" if value == best else text


def best_method(
    means: Means, names: Sequence[str], theirs: bool, larger: bool
) -> tuple[Method, float] | None:
    """The method with the best mean over the sets, of ours or of theirs; None where none has all sets."""
    if not names:
        return None
    found = {
        method: float(np.mean([means[name, method] for name in names]))
        for method in METHODS
        if is_theirs(method) == theirs and all((name, method) in means for name in names)
    }
    if not found:
        return None
    method = (max if larger else min)(found, key=lambda one: found[one])
    return method, found[method]


def verdict(means: Means, n_folds: dict[str, int], split: str) -> list[str]:
    """What is ahead, in sentences: means over the sets of classes, and each set of numbers."""
    names = [name for name in sets.CLASSES if n_folds[name]]
    theirs = [method for method in METHODS if is_theirs(method)]
    with_default = [name for name in names if (name, (DEFAULT, "")) in means]
    some_heads = (("linear", "forest", "SVM"), ("linear", "SVM"), ("linear",))
    with_heads = [
        [n for n in names if all((n, method) in means for method in theirs if method[1] in heads)]
        for heads in some_heads
    ]
    lines = [
        sentence
        for some in dict.fromkeys(map(tuple, (with_default, *with_heads, names)))  # each once
        for sentence in _classes_sentence(means, some, split)
    ]
    if best_method(means, names, False, True) and best_method(means, names, True, True):
        each = [_set_difference(means, name) for name in names]
        lines.append(
            f"- {TITLES[split]}, the best of ours beside the best of theirs on each set, as far as measured, "
            f"both chosen after the fact: {_listed(names, each)}; mean {np.mean(each):+.1f}."
        )
    lines += [
        _numbers_sentence(means, split, name)
        for name in sets.NUMBERS
        if len({is_theirs(method) for dataset, method in means if dataset == name}) == 2
    ]
    return lines


def _classes_sentence(means: Means, names: Sequence[str], split: str) -> list[str]:
    """The best of ours beside the best of theirs, by the mean over some sets of classes."""
    ours, theirs = (best_method(means, names, is_other, True) for is_other in (False, True))
    if not ours or not theirs:
        return []
    everywhere = [method for method in METHODS if all((name, method) in means for name in names)]
    heads = sorted({head for _, head in everywhere if head})
    difference = ours[1] - theirs[1]
    reached = "reached" if difference >= 1 else "not reached"
    if len(names) < len(sets.CLASSES):
        reached += " on these, not all sets"
    elif len(everywhere) < len(METHODS):
        reached += " by rows that all sets have"
    lacking = [one for one in FEATURES if one not in {features for features, _ in everywhere}]
    without = f"; not on all of them: {', '.join(lacking)}" if lacking else ""
    where = f"{len(names)} of {len(sets.CLASSES)} sets of classes ({', '.join(names)})"
    return [
        f"- {TITLES[split]}, {where}, mean ROC-AUC, heads measured on all of them "
        f"({', '.join(heads)}{without}): {title(ours[0])} {ours[1]:.1f}; the best fingerprint with its best "
        f"head, {title(theirs[0])}, {theirs[1]:.1f}: {difference:+.1f} points (aim +1.0: {reached}). "
        f"{_default_sentence(means, names, theirs[1])}"
    ]


def _listed(names: Sequence[str], differences: Sequence[float]) -> str:
    return ", ".join(f"{name} {one:+.1f}" for name, one in zip(names, differences, strict=True))


def _default_sentence(means: Means, names: Sequence[str], theirs: float) -> str:
    values = [means.get((name, (DEFAULT, ""))) for name in names]
    known = [value for value in values if value is not None]
    if len(known) < len(names):
        return "The default model has not been measured on all of them."
    return f"The default model: {np.mean(known):.1f} ({np.mean(known) - theirs:+.1f})."


def _set_difference(means: Means, name: str) -> float:
    best = [
        max(v for (n, m), v in means.items() if n == name and is_theirs(m) == theirs)
        for theirs in (False, True)
    ]
    return best[0] - best[1]


def _numbers_sentence(means: Means, split: str, name: str) -> str:
    (our, ours), (their, theirs) = (
        min(
            ((m, v) for (n, m), v in means.items() if n == name and is_theirs(m) == other),
            key=lambda pair: pair[1],
        )
        for other in (False, True)
    )
    word = "below" if ours < theirs else "not below"
    return (
        f"- {TITLES[split]}, {name}, RMSE: {title(our)} {ours:.3f}, {word} {title(their)} {theirs:.3f}, "
        "both chosen after the fact."
    )


def seconds_table(records: Iterable[Seconds]) -> str:
    """Processor seconds of all stages, one row per set."""
    known = {(record.dataset, record.stage): record for record in records}
    rows = []
    for name in sets.SOURCES:
        if (name, PARSING) not in known:
            continue
        of = {
            stage: known[name, stage].seconds
            for stage in (PARSING, ANSWERS, GRAPHS, ALONE, *FEATURES)
            if (name, stage) in known
        }
        rows.append(
            [
                name,
                f"{known[name, PARSING].molecules:,}",
                *(f"{of[stage]:.2f}" for stage in (PARSING, ANSWERS, GRAPHS, ALONE)),
                *(f"{of[stage]:.2f}" if stage in of else "-" for stage in FEATURES),
                f"{of[ECFP] / of[REFINED]:.1f}",
                f"{of[ECFP] / max(of[ALONE], 1e-3):.0f}",
            ]
        )
    head = ["set", "molecules", "RDKit parses", "RDKit answers", "our graphs", "features alone", *FEATURES]
    return markdown(
        [*head, "ECFP / refined symbols", "ECFP / features alone"],
        rows,
    )


def fits_table(cells: Sequence[Cell]) -> str:
    """Mean processor seconds of a fit, by method and set."""
    present = [name for name in sets.SOURCES if any(cell.dataset == name for cell in cells)]
    rows = []
    for method in METHODS:
        found = [[c.seconds for c in cells if c.dataset == name and c.method == method] for name in present]
        if any(found):
            rows.append([title(method), *(f"{np.mean(one):.1f}" if one else "-" for one in found)])
    return markdown(["method", *present], rows)


def measured_part(cells: Sequence[Cell], records: Sequence[Seconds]) -> str:
    """Everything between the marks."""
    tables, verdicts = [], []
    for split in sets.SPLITS:
        means, n_folds = means_of(cells, split)
        numbers = [name for name, source in sets.SOURCES.items() if not source.is_class]
        for names, what, larger in (
            (sets.CLASSES, "mean ROC-AUC in percent", True),
            (numbers, "root mean squared error", False),
        ):
            if any(n_folds[name] for name in names):
                tables.append(f"### {TITLES[split]}: {what}\n\n{table_of(means, n_folds, names, larger)}")
        verdicts += verdict(means, n_folds, split)
    tables.append("In brackets: folds that have been measured, of five. Bold: best of a column.")
    return PART.format(
        begin=BEGIN,
        end=END,
        verdict="\n".join(verdicts) or "Nothing has been measured yet.",
        choosing=CHOOSING,
        tables="\n\n".join(tables),
        seconds=seconds_table(records),
        fits=fits_table(cells),
    )


def write_page(document: Path, part: str) -> None:
    """Put the part between the marks of a document, or at its end; the rest stays as it is."""
    text = document.read_text(encoding="utf-8") if document.exists() else "# Molecules\n"
    if BEGIN in text and END in text:
        before, after = text.split(BEGIN, 1)[0], text.split(END, 1)[1]
        whole = before + part.rstrip("\n") + after
    else:
        whole = text.rstrip("\n") + "\n\n" + part
    with atomic_write(document, text=True) as stream:
        stream.write(whole)

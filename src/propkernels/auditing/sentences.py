"""What the numbers of an audit mean, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from propkernels.auditing.sameness.duplicates import Duplicates, Leaks, NearDuplicates, Sameness
from propkernels.auditing.scores.learning import CalibrationReport, Learning, Score
from propkernels.auditing.words import as_score, have, listed, many, many_have, percent, with_error

if TYPE_CHECKING:
    from propkernels.auditing.result import Audit

CLEAR = 2.0  # standard errors from which on a difference is called one
RARE = 0.1  # share of the most frequent class below which a class is called rare
UNCALIBRATED = 0.05

Said = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Sentence:
    """One finding.

    Attributes
    ----------
    topic : {"graphs", "sameness", "learning", "suspects"}
    kind : {"", "good", "bad"}
        Whether it is a reason to trust scores on these graphs, or to doubt them.
    text : str
    """

    topic: str
    kind: str
    text: str


def sentences_of(found: Audit) -> tuple[Sentence, ...]:
    """All sentences, by topic."""
    return (
        *(Sentence("graphs", *pair) for pair in _about_graphs(found)),
        *(Sentence("sameness", *pair) for pair in _about_sameness(found)),
        *(Sentence("learning", *pair) for pair in _about_learning(found)),
        *(Sentence("suspects", *pair) for pair in _about_suspects(found)),
    )


def _about_graphs(found: Audit) -> Said:
    s = found.statistics
    if s.nodes is not None:
        labels = "" if s.node_labels is None else f" and {many(s.node_labels.n_values, 'node label')}"
        size = f"{s.nodes.least:,.0f} to {s.nodes.most:,.0f} nodes (median {s.nodes.median:,.0f})"
        yield "", f"{many(s.n_graphs, 'graph')} with {size}{labels}."
    if s.node_labels is None and not s.node_attributes:
        yield "", "Nodes have neither labels nor attributes: kernels start from degrees."
    yield from _about_balance(found)
    if s.empty_graphs:
        yield "bad", f"{many_have(s.empty_graphs, 'graph')} no nodes."
    if s.isolated_nodes:
        yield "", f"{many_have(s.isolated_nodes, 'node')} no edges."
    if s.disconnected_graphs:
        yield "", f"{many_have(s.disconnected_graphs, 'graph')} several components."
    for counts, noun in ((s.node_labels, "node"), (s.edge_labels, "edge")):
        if counts is not None and counts.missing:
            yield "bad", f"{many_have(counts.missing, noun)} no label."
    for what in (*s.node_attributes, *s.edge_attributes):
        if what.constant:
            yield "bad", f"The {what.name} is the same everywhere: it says nothing."
        if what.missing:
            yield "bad", f"The {what.name} is missing {many(what.missing, 'time')}."


def _about_balance(found: Audit) -> Said:
    target = found.statistics.target
    if target is None:
        yield "", "A target was not given: nothing is said about what can be learned."
        return
    if target.missing:
        them = "it" if target.missing == 1 else "them"
        yield "", f"{many_have(target.missing, 'graph')} no target: nothing is learned from {them}."
    if target.kind == "classes":
        most, least = max(target.counts), min(target.counts)
        largest, share = target.classes[target.counts.index(most)], most / sum(target.counts)
        size = f"{many(most, 'graph')} ({percent(share)})"
        is_rare = least < RARE * most
        rest = f"; the smallest has {least:,}: look at balanced accuracy too." if is_rare else "."
        yield (
            "bad" if is_rare else "",
            f"Class {largest} is the largest of {len(target.classes)}, with {size}{rest}",
        )
    elif target.spread is not None:
        low, high, middle = target.spread.least, target.spread.most, target.spread.median
        yield "", f"Targets are numbers from {low:.4g} to {high:.4g} (median {middle:.4g})."


def _about_sameness(found: Audit) -> Said:
    same, target = found.sameness, found.statistics.target
    metric = "R^2" if target is not None and target.kind == "numbers" else "accuracy"
    yield from _about_duplicates(same.duplicates, found.statistics.n_graphs, metric)
    other = same.same_but_for_attributes
    if other is not None and other.n_graphs > same.duplicates.n_graphs:
        what = f"{many_have(other.n_graphs, 'graph')} the structure and labels of another one"
        yield "", f"{what}, attributes left aside."
    yield from _about_steps(same, found.t_max, metric)
    if same.leaks is not None:
        yield from _about_leaks(same.leaks)
    if found.near.n_graphs:
        yield "", _about_near(found.near)


def _about_duplicates(same: Duplicates, n_graphs: int, metric: str) -> Said:
    if not same.n_graphs:
        yield "good", "No two graphs are the same."
    else:
        share = f"{same.n_graphs:,} of {n_graphs:,} graphs ({percent(same.n_graphs / n_graphs)})"
        groups = f"in {many(len(same.groups), 'group')}; {same.n_superfluous:,} could go"
        leak = f"finds {percent(same.expected_leak)} of its graphs in the training set"
        duplicate = f"{share} {have(same.n_graphs)} an exact duplicate"
        yield "bad", f"{duplicate}, {groups}. A random test set of a tenth {leak}."
    if same.conflicts:
        what = "classes" if metric == "accuracy" else "targets"
        groups = f"{many(len(same.conflicts), 'group')} of duplicates {have(len(same.conflicts))}"
        bound = as_score(same.bound or 0.0, metric)
        size = f"({same.n_conflicting:,} graphs)"
        yield "bad", f"{groups} different {what} {size}: no method can exceed {bound} on these graphs."
    elif same.n_graphs and same.bound is not None:
        yield "good", "All duplicates agree in their targets."
    if same.undecided:
        why = "colors cannot tell them from others, and the exact comparison was given up"
        yield "", f"{many(same.undecided, 'graph')} may be duplicates: {why}."


def _about_steps(same: Sameness, t_max: int, metric: str) -> Said:
    first, last = same.by_step[0], same.by_step[-1]
    differ = last.n_graphs - same.duplicates.n_graphs
    if differ > 0:
        cannot = f"No kernel or network of {many(t_max, 'step')} can tell {many(last.n_graphs, 'graph')}"
        yield "", f"{cannot} from another one, {differ:,} of which do differ."
    if same.by_step_without_edges and same.by_step_without_edges[-1].n_groups < last.n_groups:
        fewer = f"{t_max} steps see {same.by_step_without_edges[-1].n_groups:,} different graphs"
        yield (
            "",
            f"Without what edges carry, {fewer}, with it {last.n_groups:,}: use it (edge_labels=True).",
        )
    if first.bound is not None and last.bound is not None and first.bound < last.bound:
        best = f"{t_max} steps at most {as_score(last.bound, metric)}"
        yield "", f"What nodes carry (t = 0) can reach at most {as_score(first.bound, metric)}, {best}."


def _about_leaks(leaks: Leaks) -> Said:
    if not leaks.exact:
        yield "good", f"None of the {leaks.n_test:,} test graphs is a training graph."
    else:
        share = percent(len(leaks.exact) / leaks.n_test)
        conflict = f", {len(leaks.conflicting):,} of them with another target" if leaks.conflicting else ""
        there = f"{len(leaks.exact):,} of {leaks.n_test:,} test graphs ({share}) are training graphs"
        yield "bad", f"{there}{conflict}: leave them out of one of the two."
    if leaks.alike:
        others = many(len(leaks.alike), "other test graph")
        yield "", f"{others} cannot be told from a training graph by so many steps."
    if leaks.near:
        others = many_have(len(leaks.near), "other test graph")
        yield "", f"{others} a near duplicate among the training graphs."


def _about_near(near: NearDuplicates) -> str:
    share = f"{near.n_graphs:,} of {near.n_looked_at:,} graphs {have(near.n_graphs)}"
    clash = f"; for {near.n_disagreeing:,} of them it has another class" if near.n_disagreeing else ""
    advice = "Folds that keep them together (groups=) are the harder, fairer test"
    return f"{share} a near duplicate (similarity at least {near.threshold:g}){clash}. {advice}."


def _about_learning(found: Audit) -> Said:
    learned = found.learning
    if learned is None:
        return
    *simple, own = learned.scores
    start, best = simple[0], max(simple[1:], key=lambda score: score.mean)
    reached = with_error(own.mean, own.error, learned.metric)
    yield "", f"The kernel reaches {reached}; the {start.name} {as_score(start.mean, learned.metric)}."
    yield _about_best(own, best, start, learned.metric)
    yield from _about_t(learned)
    yield _about_curve(learned)
    if learned.calibration is not None:
        yield _about_calibration(learned.calibration, learned.metric)
    if learned.score_without is not None and learned.score_with_duplicate is not None:
        known, others = (
            as_score(s, learned.metric) for s in (learned.score_with_duplicate, learned.score_without)
        )
        yield "", f"Graphs with a duplicate in training are predicted with {known}, all others with {others}."


def _about_best(own: Score, best: Score, start: Score, metric: str) -> tuple[str, str]:
    """How much of the kernel's score simple things explain."""
    slack = CLEAR * float((own.error**2 + best.error**2) ** 0.5)
    text = f"{best.name.capitalize()} alone reaches {with_error(best.mean, best.error, metric)}"
    if own.mean - best.mean <= slack:
        return "bad", f"{text}: nothing shows that the structure of these graphs matters beyond it."
    share = max(0.0, min(1.0, (best.mean - start.mean) / (own.mean - start.mean)))
    return "good", f"{text}: {100 * share:.0f} % of what the kernel gains over the {start.name}."


def _about_t(learned: Learning) -> Said:
    scores = learned.by_step
    if len(scores) < 2:
        return
    best = max(range(len(scores)), key=lambda t: (scores[t].mean, -t))
    top = scores[best]
    close = (t for t in range(best) if top.mean - scores[t].mean <= max(top.error, scores[t].error))
    enough = next(close, best)
    at_zero = as_score(scores[0].mean, learned.metric)
    if enough == 0:
        yield "", f"Steps add nothing clear: t = 0 reaches {at_zero}."
        return
    reached = as_score(scores[enough].mean, learned.metric)
    yield "", f"The signal is within t = {enough}: {reached}, against {at_zero} at t = 0."
    if best == enough == len(scores) - 1:
        yield "", "The largest t is the best: a larger t_max may gain more."


def _about_curve(learned: Learning) -> tuple[str, str]:
    (size, before, error), (whole, after, other) = learned.curve[-2:]
    gain, start = after - before, f"From {size:,} to {whole:,} training graphs the score"
    if gain <= max(error, other):
        return "", f"{start} hardly rises: more of the same will not help much."
    amount = f"{100 * gain:.1f} points" if learned.metric == "accuracy" else f"{gain:.3f}"
    return "", f"{start} rises by {amount}: more graphs would help."


def _about_calibration(report: CalibrationReport, metric: str) -> tuple[str, str]:
    is_bad = report.error > max(UNCALIBRATED, CLEAR * report.by_chance)
    what = "Stated probabilities" if metric == "accuracy" else "Intervals"
    verdict = "do not deserve trust" if is_bad else "can be taken at their word"
    off = f"off by {100 * report.error:.1f} percentage points on average"
    chance = f"{100 * report.by_chance:.1f} would be chance"
    return "bad" if is_bad else "good", f"{what} {verdict}: they are {off} ({chance})."


def _about_suspects(found: Audit) -> Said:
    wrong = found.suspects
    if wrong is None or found.learning is None:
        return
    every = f"in all of {wrong.repeats} cross-validations"
    number, looked = len(wrong.graphs), found.learning.n_graphs
    if not wrong.graphs:
        yield "good", f"No graph is wrong {every}."
        return
    kind = "is wrong" if number == 1 else "are wrong"
    if found.learning.metric == "R^2":
        kind = f"{have(number)} an error that is far out"
    first = listed(wrong.graphs[:5])
    yield (
        "",
        f"{number:,} of {looked:,} graphs {kind} {every}: candidates for errors in the target, "
        f"first of all {first}.",
    )

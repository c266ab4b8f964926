"""Audit: findings as numbers and sentences, exported as a page or JSON; and the sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from propkernels._utils.locks import cached_property
from propkernels._utils.safe_files import Pathlike, atomic_write
from propkernels._utils.typing import LabelNames, Record
from propkernels.auditing.duplicates import Duplicates, Leaks, NearDuplicates, Sameness
from propkernels.auditing.learning import Learning, Score, Suspects
from propkernels.auditing.statistics import Statistics, Target
from propkernels.explorer.page_contents import WORDS_OF_IMAGES, in_words, page_words
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase

Said = Iterator[tuple[str, str]]  # kind and text
CLEAR = 2.0  # standard errors of a clear difference
RARE = 0.1  # a class is rare below this share of the largest class


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


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    r"""Findings of an audit, returned by :func:`propkernels.audit`.

    Attributes
    ----------
    name : str
        Name of the data set.
    statistics : Statistics
        Sizes, degrees, components, labels, attributes and the target.
    sameness : Sameness
        Duplicates, conflicts, leaks, and the graphs that t steps distinguish.
    near : NearDuplicates
    learning : Learning or None
        Scores, by t and by training size; None without a target.
    suspects : Suspects or None
        Graphs that are misclassified in every cross-validation.
    sample : tuple of int or None
        Positions of the compared and scored graphs; None: all.
    t_max : int
    kernel : str
        The ``repr`` of the kernel.
    random_state : int
    seconds, processor_seconds : float
        Wall time and processor time.
    sentences : tuple of Sentence
        The findings.
    graphs, target, label_names
        The data; not part of ``to_dict``.

    See Also
    --------
    audit : Returns an Audit.

    References
    ----------
    .. [1] S. Ivanov, S. Sviridov and E. Burnaev (2019). Understanding isomorphism bias in graph data sets.
       arXiv:1910.12091.

    Examples
    --------
    >>> import propkernels as pk
    >>> report = pk.audit(pk.datasets.make_molecules(60, random_state=0))
    >>> report.sameness.duplicates.n_graphs, sorted(report.to_dict())[:3]
    (0, ['kernel', 'learning', 'name'])
    >>> print(str(report).splitlines()[0])
    Audit of make_molecules
    """

    name: str
    statistics: Statistics
    sameness: Sameness
    near: NearDuplicates
    learning: Learning | None
    suspects: Suspects | None
    sample: tuple[int, ...] | None
    t_max: int
    kernel: str
    random_state: int
    seconds: float
    processor_seconds: float
    sentences: tuple[Sentence, ...]
    graphs: GraphDatabase | GridDatabase = field(metadata={"is_data": True})
    target: Target | None = field(metadata={"is_data": True})
    label_names: LabelNames = field(metadata={"is_data": True})

    def to_dict(self) -> Record:
        """Return all numbers and sentences as dicts, lists and plain values."""
        return {
            part.name: _plain(getattr(self, part.name))
            for part in fields(self)
            if not part.metadata.get("is_data")
        }

    def to_json(self) -> str:
        """Return all numbers and sentences as JSON."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_html(self) -> str:
        """Return a self-contained page with sentences, tables, charts and drawings."""
        from propkernels.auditing.rendering import page

        return page(self)

    def save(self, path: Pathlike) -> None:
        """Write a report in the format given by the file suffix.

        Parameters
        ----------
        path : str or path
            ``.html``: a page; ``.json``: all numbers.
        """
        makers = {".html": self.to_html, ".json": self.to_json}
        maker = makers.get(Path(path).suffix.lower())
        if maker is None:
            raise ValueError(f"the file name must end with {', '.join(makers)}; got {str(path)!r}")
        text = maker()
        with atomic_write(path, text=True) as stream:
            stream.write(text if text.endswith("\n") else text + "\n")

    @cached_property
    def _words(self) -> dict[str, str]:
        graphs = self.graphs
        if isinstance(graphs, GridDatabase):
            return WORDS_OF_IMAGES
        return page_words(graphs.with_names(self.label_names) if self.label_names else graphs, None)

    def __str__(self) -> str:
        return "\n".join([f"Audit of {self.name}", *(f"- {sentence.text}" for sentence in self.sentences)])

    def __repr__(self) -> str:
        n_graphs, n_duplicates = self.statistics.n_graphs, self.sameness.duplicates.n_graphs
        return f"Audit({self.name}: {n_graphs} graphs, {n_duplicates} with a duplicate)"

    def _repr_html_(self) -> str:
        from propkernels.auditing.rendering import fragment

        return fragment(self)


def _plain(value: Any) -> Any:
    """Return a value as dicts, lists and scalars; NaN and infinity become None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def said(found: Audit, text: str) -> str:
    """Return a text on graphs, nodes and edges in their words: molecules, atoms and bonds."""
    return in_words(text, found._words)


def called(found: Audit, graph: int) -> str:
    """Return the id of a graph, or its number."""
    ids = getattr(found.graphs, "ids", None)  # images have none
    return str(graph if ids is None else ids[graph])


def sentences_of(found: Audit) -> tuple[Sentence, ...]:
    """Return all sentences, by topic."""
    topics = {
        "graphs": _about_graphs,
        "sameness": _about_sameness,
        "learning": _about_learning,
        "suspects": _about_suspects,
    }
    return tuple(
        Sentence(topic, kind, said(found, text))
        for topic, about in topics.items()
        for kind, text in about(found)
    )


def _about_graphs(found: Audit) -> Said:
    s = found.statistics
    if s.nodes is not None:
        labels = "" if s.node_labels is None else f" and {many(s.node_labels.n_texts, 'node label')}"
        size = f"{s.nodes.least:,.0f} to {s.nodes.most:,.0f} nodes (median {s.nodes.median:,.0f})"
        size = f"{s.nodes.most:,.0f} nodes each" if s.nodes.least == s.nodes.most else size
        yield "", f"{many(s.n_graphs, 'graph')} with {size}{labels}."
    if s.node_labels is None and not s.node_attributes:
        yield "", "Nodes have no labels and no attributes: kernels start from degrees."
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
            yield "bad", f"The {what.name} is constant."
        if what.missing:
            yield "bad", f"The {what.name} has {many(what.missing, 'missing value')}."


def _about_balance(found: Audit) -> Said:
    target = found.statistics.target
    if target is None:
        yield "", "No target was given: scores are not computed."
        return
    if target.missing:
        them = "it" if target.missing == 1 else "them"
        yield "", f"{many_have(target.missing, 'graph')} no target: scores leave {them} out."
    if target.kind == "classes":
        most, least = max(target.counts), min(target.counts)
        largest, share = target.classes[target.counts.index(most)], most / sum(target.counts)
        size = f"{many(most, 'graph')} ({percent(share)})"
        is_rare = least < RARE * most
        rest = f"; the smallest has {least:,}: report balanced accuracy too." if is_rare else "."
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
        yield "", f"{what} (attributes ignored)."
    yield from _about_steps(same, found.t_max, metric, found.statistics)
    if same.leaks is not None:
        yield from _about_leaks(same.leaks)
    near = found.near
    if near.n_graphs:
        share = f"{near.n_graphs:,} of {near.n_looked_at:,} graphs {have(near.n_graphs)}"
        clash = f", of another class for {near.n_disagreeing:,}" if near.n_disagreeing else ""
        advice = "Keep them in one fold for a fairer test"
        yield "", f"{share} a near duplicate (similarity at least {near.threshold:g}){clash}. {advice}."


def _about_duplicates(same: Duplicates, n_graphs: int, metric: str) -> Said:
    if not same.n_graphs:
        yield "good", "No graph has an exact duplicate."
    else:
        share = f"{same.n_graphs:,} of {n_graphs:,} graphs ({percent(same.n_graphs / n_graphs)})"
        groups = f"in {many(len(same.groups), 'group')}; {same.n_superfluous:,} can be removed"
        leak = f"shares {percent(same.expected_leak)} of its graphs with the training set"
        duplicate = f"{share} {have(same.n_graphs)} an exact duplicate"
        yield "bad", f"{duplicate}, {groups}. A random test set of 10 % {leak}."
    if same.conflicts:
        what = "classes" if metric == "accuracy" else "targets"
        groups = f"{many(len(same.conflicts), 'group')} of duplicates {have(len(same.conflicts))}"
        bound = as_score(same.bound or 0.0, metric)
        size = f"({same.n_conflicting:,} graphs)"
        yield "bad", f"{groups} different {what} {size}: no method can exceed {bound} on this data set."
    elif same.n_graphs and same.bound is not None:
        yield "good", "All duplicates have equal targets."
    if same.undecided:
        why = "color refinement does not distinguish them, and the exact comparison reached its limit"
        yield "", f"{many(same.undecided, 'graph')} may be duplicates: {why}."


def _about_steps(same: Sameness, t_max: int, metric: str, statistics: Statistics) -> Said:
    first, last = same.by_step[0], same.by_step[-1]
    differ = last.n_graphs - same.duplicates.n_graphs
    if differ > 0:
        some = f"{many(last.n_graphs, 'graph')} from another one ({differ:,} of them differ)"
        yield "", f"No kernel or network of {many(t_max, 'step')} can distinguish {some}."
    if same.by_step_without_edges and same.by_step_without_edges[-1].n_groups < last.n_groups:
        plain = same.by_step_without_edges[-1]
        noun = "labels" if statistics.edge_labels is not None else "attributes or weights"
        equal = f"{many_have(plain.n_graphs, 'graph')} an equal one but for edge {noun}"
        yield "", f"{equal}: use a kernel that reads them."
    if first.bound is not None and last.bound is not None and first.bound < last.bound:
        limit = f"with {many(t_max, 'step')} the limit is {as_score(last.bound, metric)}"
        node_data = "node degrees" if statistics.node_labels is None else "node labels"
        node_data += " and attributes" if statistics.node_attributes else ""
        start = f"{as_score(first.bound, metric)} from {node_data} alone"
        yield "", f"No model can exceed {start}; {limit}."


def _about_leaks(leaks: Leaks) -> Said:
    if not leaks.exact:
        yield "good", f"None of the {leaks.n_test:,} test graphs is a training graph."
    else:
        share = percent(len(leaks.exact) / leaks.n_test)
        conflict = f", {len(leaks.conflicting):,} of them with another target" if leaks.conflicting else ""
        there = f"{len(leaks.exact):,} of {leaks.n_test:,} test graphs ({share}) are training graphs"
        yield "bad", f"{there}{conflict}: remove them from one of the two sets."
    if leaks.alike:
        others = many(len(leaks.alike), "other test graph")
        yield "", f"t_max steps do not distinguish {others} from a training graph."
    if leaks.near:
        others = many_have(len(leaks.near), "other test graph")
        yield "", f"{others} a near duplicate among the training graphs."


def _about_learning(found: Audit) -> Said:
    learned = found.learning
    if learned is None:
        return
    metric, (*simple, own) = learned.metric, learned.scores
    start, best = simple[0], max(simple[1:], key=lambda score: score.mean)
    reached = with_error(own, metric)
    yield "", f"The kernel reaches {reached}; the {start.name} {as_score(start.mean, metric)}."
    alone = f"{best.name.capitalize()} alone reaches {with_error(best, metric)}"
    if own.mean - best.mean <= CLEAR * float((own.error**2 + best.error**2) ** 0.5):
        yield "bad", f"{alone}: the kernel is not clearly better."
    else:
        share = max(0.0, min(1.0, (best.mean - start.mean) / (own.mean - start.mean)))
        yield "good", f"{alone}, {100 * share:.0f} % of the kernel's gain over the {start.name}."
    if len(learned.by_step) > 1:
        yield from _about_t(learned.by_step, metric)
    yield "", _about_curve(learned)
    if learned.score_without is not None and learned.score_with_duplicate is not None:
        known, others = (as_score(s, metric) for s in (learned.score_with_duplicate, learned.score_without))
        yield "", f"Test graphs with a duplicate in training score {known}, all others {others}."


def _about_t(scores: tuple[Score, ...], metric: str) -> Said:
    """Say which t is enough: the smallest within a standard error of the best."""
    best = max(range(len(scores)), key=lambda t: (scores[t].mean, -t))
    top = scores[best]
    close = (t for t in range(best) if top.mean - scores[t].mean <= max(top.error, scores[t].error))
    enough = next(close, best)
    at_zero = as_score(scores[0].mean, metric)
    if enough == 0:
        yield "", f"More steps do not help clearly: t = 0 reaches {at_zero}."
        return
    yield "", f"t = {enough} is enough: {as_score(scores[enough].mean, metric)}, against {at_zero} at t = 0."
    if best == enough == len(scores) - 1:
        yield "", "The largest t scores best: try a larger t_max."


def _about_curve(learned: Learning) -> str:
    (size, before, error), (whole, after, other) = learned.curve[-2:]
    gain, noise = after - before, max(error, other)
    amount, within = (
        f"{100 * x:.1f} points" if learned.metric == "accuracy" else f"{x:.3f}" for x in (gain, noise)
    )
    verdict = f"rises by {amount}: more graphs would help."
    if gain <= noise:
        verdict = f"rises by {amount}, within its standard error ({within})."
    return f"From {size:,} to {whole:,} training graphs the score {verdict if gain > 0 else 'does not rise.'}"


def _about_suspects(found: Audit) -> Said:
    wrong = found.suspects
    if wrong is None or found.learning is None:
        return
    every = f"in all {wrong.repeats} cross-validations"
    number, total = len(wrong.graphs), found.learning.n_graphs
    is_classes = found.learning.metric == "accuracy"
    if not wrong.graphs:
        nothing = "is misclassified" if is_classes else "has an outlying error"
        yield "good", f"No graph {nothing} {every}."
        return
    verb = "is" if number == 1 else "are"
    kind = f"{verb} misclassified" if is_classes else f"{have(number)} an outlying error"
    first = listed([called(found, graph) for graph in wrong.graphs[:5]])
    check = f"their targets, first {first}" if number > 1 else f"its target: {first}"
    yield "", f"{number:,} of {total:,} graphs {kind} {every}: check {check}."


def many(number: int, noun: str) -> str:
    """Say "1 graph", "2,000 graphs".

    Examples
    --------
    >>> many(1, "graph"), many(2000, "class")
    ('1 graph', '2,000 classes')
    """
    ending = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun if number == 1 else noun + ending}"


def many_have(number: int, noun: str) -> str:
    """Say "1 graph has", "2 graphs have".

    Examples
    --------
    >>> many_have(1, "graph"), many_have(2, "graph")
    ('1 graph has', '2 graphs have')
    """
    return f"{many(number, noun)} {have(number)}"


def have(number: int) -> str:
    """Say "has" or "have"."""
    return "has" if number == 1 else "have"


def percent(share: float) -> str:
    """Return a share in percent with one digit, never rounded up to 100 or down to 0.

    Examples
    --------
    >>> [percent(share) for share in (0.0, 0.00001, 0.5, 0.99999, 1.0)]
    ['0 %', '0.1 %', '50.0 %', '99.9 %', '100 %']
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %" if 0 < share < 1 else f"{100 * share:.1f} %"


def as_score(value: float, metric: str) -> str:
    """Return an accuracy in percent, R^2 as a number.

    Examples
    --------
    >>> as_score(0.5, "accuracy"), as_score(0.5, "R^2"), as_score(0.9999, "R^2")
    ('50.0 %', 'an R^2 of 0.500', 'an R^2 just below 1')
    """
    if metric == "accuracy":
        return percent(value)
    return "an R^2 just below 1" if 0.9995 <= value < 1 else f"an R^2 of {value:.3f}"


def with_error(score: Score, metric: str) -> str:
    """Return a score with its standard error.

    Examples
    --------
    >>> with_error(Score("", 0.25, 0.011), "accuracy"), with_error(Score("", 0.25, 0.011), "R^2")
    ('25.0 ± 1.1 %', 'an R^2 of 0.250 ± 0.011')
    """
    if metric == "accuracy":
        return f"{100 * score.mean:.1f} ± {100 * score.error:.1f} %"
    return f"an R^2 of {score.mean:.3f} ± {score.error:.3f}"


def listed(graphs: Sequence[object]) -> str:
    """Say "1, 2 and 3".

    Examples
    --------
    >>> listed((4,)), listed((4, 5, 6))
    ('4', '4, 5 and 6')
    """
    texts = [str(graph) for graph in graphs]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"

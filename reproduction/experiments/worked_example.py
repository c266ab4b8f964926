"""The worked example: two small graphs, one step of label propagation, bins, counts and contributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import GraphDatabase, LabelDistributions, check_graphs
from propkernels.propagation import transition_matrix
from reproduction.drawings import new_figure
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.published import numbers_in_text
from reproduction.engine.sections import Section, State
from reproduction.protocols.recipes import build, pk

NAME = "worked_example"
BIN_WIDTH, SEED, SEEDS = 0.2, 17, 40
EDGES = (
    ((1, 0), (2, 1), (3, 1), (4, 0), (4, 1), (4, 3), (5, 3)),
    ((1, 0), (4, 0), (4, 2), (4, 3), (5, 2), (5, 3)),
)
LABELS: tuple[list[int | None], ...] = ([0, 0, None, 1, None, None], [None, 1, 0, None, 1, 0])
PLACES = np.array([[2, 3.5], [0.5, 2.5], [0.5, 1], [3.5, 1], [3.5, 2.5], [2, 0]])
NAMES = ("$G^{(i)}$", "$G^{(j)}$")
COLORS = "OrRd"


@dataclass(frozen=True)
class Step:
    """One iteration: P(label 1) of every node, its bin, the counts of both graphs, and the contribution."""

    probabilities: NDArray[np.float64]
    bins: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def contribution(self) -> int:
        """Dot product of the counts."""
        return int(self.counts[0] @ self.counts[1])


def jobs(scope: Scope) -> list[Job]:
    """Nothing has to be kept: the figure takes a moment."""
    return []


def sections(state: State) -> list[Section]:
    """Return the figure, with the contributions vs. the paper's."""
    steps = compute()
    paper = numbers_in_text(NAME)
    rows = [(f"t = {t}", str(step.contribution), f"{paper[f't = {t}']:g}") for t, step in enumerate(steps)]
    return [
        Section(
            "Propagation Kernel Computation",
            ("iteration", "contribution here", "paper"),
            rows,
            [
                f"Label propagation that pushes labels back before the step; bin width {BIN_WIDTH:g}. The "
                "hash functions "
                f"are those of a chosen seed, {SEED}: of the seeds 0 to {SEEDS - 1}, {_hits(paper)} give "
                "the paper's two values. "
                "The figure shows that the example can be had, not that it must come out."
            ],
            {"worked_example": draw},
        )
    ]


def _hits(paper: dict[str, float]) -> int:
    """How many seeds give the paper's contributions."""
    wanted = list(paper.values())
    return sum([step.contribution for step in compute(seed)] == wanted for seed in range(SEEDS))


def example_graphs() -> GraphDatabase:
    """Return the two graphs of the paper's figure."""
    graphs = []
    for edges, labels in zip(EDGES, LABELS, strict=True):
        adjacency = np.zeros((6, 6))
        for u, v in edges:
            adjacency[u, v] = adjacency[v, u] = 1
        graphs.append((adjacency, labels))
    return check_graphs(graphs)


def compute(seed: int = SEED) -> list[Step]:
    """Propagate, hash and count with the package itself.

    Examples
    --------
    >>> [step.contribution for step in compute()]
    [12, 10]
    """
    known = [label for labels in LABELS for label in labels]
    current = np.array([[0.5, 0.5] if label is None else [1 - label, label] for label in known])
    kernel = build(pk(), t_max=1, random_state=seed).set_params(bin_width=BIN_WIDTH)
    steps = []
    for t in range(2):
        # nodes without edges keep their distributions: those of one bin at t have a kernel value of 1
        alone = csr_array((len(known), len(known)))
        nodes = GraphDatabase(
            alone, np.arange(len(known) + 1), node_labels=LabelDistributions(current, [0, 1])
        )
        values = np.diff(kernel.fit_transform_cumulative(nodes), axis=0, prepend=0)[t]
        bins = np.unique(values.argmax(axis=1), return_inverse=True)[1]  # in the order of the nodes
        counts = [np.bincount(part, minlength=bins.max() + 1) for part in (bins[:6], bins[6:])]
        steps.append(Step(current[:, 1], bins, np.array(counts)))
        current = transition_matrix(example_graphs()) @ current
    return steps


def draw() -> Any:
    """Draw graphs above their bins, t = 0 on the left and t = 1 on the right."""
    steps = compute()
    figure = new_figure(9.0, 5.2)
    for panel, (t, step) in zip(figure.subfigures(1, 2), enumerate(steps), strict=True):
        axes = panel.subplots(2, 2, height_ratios=(2.2, 1))
        for graph in range(2):
            _draw_graph(axes[0, graph], graph, step)
            _draw_bins(axes[1, graph], graph, step)
            axes[0, graph].set_title(f"{NAMES[graph]}, $t = {t}$")
        left, right = (f"\\phi(G^{{({letter})}}_{t})" for letter in "ij")
        panel.supxlabel(f"$\\langle {left}, {right} \\rangle = {step.contribution}$")
    return figure


def _color(probability: float) -> Any:
    from matplotlib import colormaps

    return "white" if probability == 0 else colormaps[COLORS](0.1 + 0.9 * probability)


def _draw_graph(ax: Any, graph: int, step: Step) -> None:
    for u, v in EDGES[graph]:
        ax.plot(*PLACES[[u, v]].T, color="0.3", linewidth=1.5, zorder=1)
    for node, place in enumerate(PLACES):
        probability = float(step.probabilities[6 * graph + node])
        ax.scatter(*place, s=330, color=[_color(probability)], edgecolors="black", zorder=2)
        ink = "white" if probability > 0.7 else "black"
        ax.text(*place, f"{probability:.2g}", ha="center", va="center", fontsize=7.5, color=ink)
    ax.set_xlim(-0.3, 4.3)
    ax.set_ylim(-0.7, 4.2)
    ax.set_aspect("equal")
    ax.set_axis_off()


def _draw_bins(ax: Any, graph: int, step: Step) -> None:
    counts = step.counts[graph]
    for number in range(len(counts)):
        ax.plot(number + np.array([-0.35, -0.35, 0.35, 0.35]), [3, 0, 0, 3], color="black", linewidth=1)
        nodes = np.flatnonzero(step.bins[6 * graph : 6 * graph + 6] == number)
        for height, node in enumerate(nodes):
            color = _color(float(step.probabilities[6 * graph + node]))
            ax.scatter(number, 0.5 + height, s=70, color=[color], edgecolors="black", linewidths=0.8)
    ax.text((len(counts) - 1) / 2, -1.1, f"$\\phi$ = {counts.tolist()}", ha="center")
    ax.set_xlim(-0.8, len(counts) - 0.2)
    ax.set_ylim(-1.6, 3.6)
    ax.set_axis_off()

"""The figure and the sentences at the top of the README and of the site, from the measured tables."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OURS, THEIRS = "#0059a8", "#9aa3ad"
METHODS = {"WL": "Weisfeiler-Lehman", "SP": "shortest path", "PK": "propagation kernel"}
SHOWN = ("MUTAG", "ENZYMES", "PROTEINS", "NCI1")
MOST_METHODS = 7  # of MoleculeACE


@dataclass(frozen=True)
class Headline:
    """Figures of the measured pages.

    Attributes
    ----------
    seconds : list of (str, str, float, float or None)
        Data set, method, our seconds, and those of GraKeL; None: not within its time limit.
    accuracies : list of (str, float, float, float)
        Data set, our accuracy, its standard deviation, and the best accuracy of the fair comparison.
    errors : list of (str, float)
        Methods and their mean root mean squared error on MoleculeACE, best first; empty if not measured.
    nodes : list of (str, float, float)
        Graph, our accuracy on its nodes, and that of a graph convolutional network.
    """

    seconds: list[tuple[str, str, float, float | None]]
    accuracies: list[tuple[str, float, float, float]]
    errors: list[tuple[str, float]]
    nodes: list[tuple[str, float, float]] = field(default_factory=list)

    @classmethod
    def read(cls, docs: Path) -> Headline:
        """Return the figures of the measured pages of the site."""
        measured = docs / "measured"
        return cls(
            _seconds(measured / "results" / "benchmarks.json"),
            _accuracies((measured / "fair.md").read_text(encoding="utf-8")),
            _errors(measured / "moleculeace.md"),
            _nodes((measured / "nodes.md").read_text(encoding="utf-8")),
        )

    @property
    def sentences(self) -> list[str]:
        """The headline in words, with links to the pages."""
        ratios = {
            method: [theirs / ours for _, one, ours, theirs in self.seconds if theirs and one == method]
            for method in METHODS
        }
        refined = [*ratios["WL"], *ratios["SP"]]
        ahead = sum(ours > best for _, ours, _, best in self.accuracies)
        found = [
            f"**WL and shortest-path kernels {min(refined):.0f} to {max(refined):,.0f} times, propagation "
            f"kernels {min(ratios['PK']):.0f} to {max(ratios['PK']):,.0f} times as fast as GraKeL** "
            "(one thread).",
            f"**Above the best method of a fair comparison of graph neural networks on {ahead} of "
            f"{len(self.accuracies)} data sets**, with default settings.",
        ]
        if self.errors:
            ours = dict(self.errors)["propkernels"]
            best = min(error for name, error in self.errors if name != "propkernels")
            others = len(self.errors) - 1
            found.append(f"**RMSE {ours:.3f} on MoleculeACE**; the best of {others} methods has {best:.3f}.")
        if self.nodes:
            ahead = sum(ours > theirs for _, ours, theirs in self.nodes)
            found.append(
                f"**Nodes of one graph: above a graph convolutional network on {ahead} of "
                f"{len(self.nodes)} graphs**, in seconds on one core."
            )
        return found


def _seconds(path: Path) -> list[tuple[str, str, float, float | None]]:
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    names = {name: name.split(" | ")[1:] for name in rows if name.startswith("peer | ")}
    return [(data, method, rows[name]["ours"], rows[name]["peer"]) for name, (method, data) in names.items()]


def _accuracies(page: str) -> list[tuple[str, float, float, float]]:
    """Rows of fair.md: best published accuracy (of the comparison, or later), and ours."""
    found = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        ours = re.match(r"([\d.]+) ± ([\d.]+)", cells[3]) if len(cells) > 3 else None
        if ours:
            published = [float(number) for cell in cells[1:3] for number in re.findall(r"\d+\.\d", cell)]
            found.append((cells[0], float(ours[1]), float(ours[2]), max(published)))
    return found


def _errors(path: Path) -> list[tuple[str, float]]:
    """Rows of the table "By method" of moleculeace.md."""
    if not path.exists():
        return []
    table = path.read_text(encoding="utf-8").partition("## By method")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \**([^|*]+?)\** \| \**([\d.]+)\** \|", table, re.MULTILINE)
    return sorted(((name, float(error)) for name, error in rows), key=lambda row: row[1])


def _nodes(page: str) -> list[tuple[str, float, float]]:
    """Rows of nodes.md with a published accuracy of a graph convolutional network (GCN)."""
    table = page.partition("## Published splits")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\w+) \|[^|]*\| GCN ([\d.]+)[^|]*\|[^|]*\| ([\d.]+)", table, re.MULTILINE)
    return [(name, float(ours), float(theirs)) for name, theirs, ours in rows]


def draw(headline: Headline) -> Any:
    """Return the figure: seconds, accuracies and errors beside those of others."""
    from matplotlib import pyplot as plt

    n_panels = 3 if headline.errors else 2
    figure, axes = plt.subplots(1, n_panels, figsize=(4.6 * n_panels, 3.3), layout="constrained")
    _draw_seconds(axes[0], headline.seconds)
    _draw_accuracies(axes[1], headline.accuracies)
    if headline.errors:
        _draw_errors(axes[2], headline.errors)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.title.set_fontsize(11)
        ax.tick_params(labelsize=8.5)
    return figure


def _draw_seconds(ax: Any, seconds: list[tuple[str, str, float, float | None]]) -> None:
    rows = [row for row in seconds if row[1] in METHODS and row[0] in SHOWN]
    rows = sorted(rows, key=lambda row: (list(METHODS).index(row[1]), SHOWN.index(row[0])), reverse=True)
    for y, (_, _, ours, theirs) in enumerate(rows):
        ax.plot([ours, theirs or 75.0], [y, y], color="#d9dde3", lw=2, zorder=1)
        ax.plot(ours, y, "o", color=OURS, ms=6)
        ax.plot(theirs or 75.0, y, "o" if theirs else ">", color=THEIRS, ms=6)
    ax.set_yticks(range(len(rows)), [f"{method}  {data}" for data, method, _, _ in rows], fontsize=8)
    ax.set_xscale("log")
    ax.set_xlabel("seconds for the kernel matrix (log scale)", fontsize=9)
    ax.set_title("Seconds vs. GraKeL", loc="left")
    handles = [ax.plot([], [], "o", color=color)[0] for color in (OURS, THEIRS)]
    _below(ax, handles, ["propkernels", "GraKeL (arrow: over 75 s)"])


def _draw_accuracies(ax: Any, accuracies: list[tuple[str, float, float, float]]) -> None:
    for y, (_, ours, spread, best) in enumerate(reversed(accuracies)):
        ax.errorbar(ours, y, xerr=spread, fmt="o", color=OURS, capsize=2, ms=6, elinewidth=1.2)
        ax.plot(best, y, "D", color=THEIRS, ms=6)
    ax.set_yticks(range(len(accuracies)), [name for name, *_ in reversed(accuracies)], fontsize=8)
    ax.set_xlabel("accuracy on ten published folds, %", fontsize=9)
    ax.set_title("Accuracy beside graph neural networks", loc="left")
    handles = [ax.plot([], [], mark, color=color)[0] for mark, color in (("o", OURS), ("D", THEIRS))]
    _below(ax, handles, ["propkernels ± standard deviation", "best published"])


def _draw_errors(ax: Any, errors: list[tuple[str, float]]) -> None:
    rows = errors[:MOST_METHODS][::-1]
    colors = [OURS if name == "propkernels" else THEIRS for name, _ in rows]
    ax.barh(range(len(rows)), [error for _, error in rows], color=colors, height=0.66)
    for y, (_, error) in enumerate(rows):
        ax.text(error + 0.006, y, f"{error:.3f}", va="center", fontsize=8)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize=8)
    low = min(error for _, error in rows)
    ax.set_xlim(0.0, max(error for _, error in rows) * 1.15 if low else 1.0)
    ax.set_xlabel(f"RMSE, mean of 30 targets (best {len(rows)} methods)", fontsize=9)
    ax.set_title(f"Error beside {len(errors) - 1} methods of MoleculeACE", loc="left")


def _below(ax: Any, handles: list[Any], texts: list[str]) -> None:
    """Put the legend below the axes."""
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.45, -0.2)}
    ax.legend(handles, texts, frameon=False, fontsize=8.5, ncol=2, handletextpad=0.2, **place)


def write_headline(docs: Path) -> str:
    """Write the figure, and return the sentences for the README and the site."""
    headline = Headline.read(docs)
    figure = draw(headline)
    figure.savefig(docs / "pictures" / "headline.svg", metadata={"Date": None})
    figure.savefig(docs / "pictures" / "headline.png", dpi=200)
    return "\n".join(f"- {sentence}" for sentence in headline.sentences)

"""The chart and the sentences at the top of the README and of the site, from the measured pages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS, THEIRS, TEXT = "#1f77c9", "#9aa3ad", "#7a828c"  # readable on white and on black
METHODS = {"WL": "Weisfeiler-Lehman", "SP": "shortest paths", "PK": "propagation kernel"}
SHOWN = ("MUTAG", "ENZYMES", "PROTEINS", "NCI1", "NCI1:500")
BEGIN, END = "<!-- headline: python -m reproduction headline -->", "<!-- end of headline -->"


@dataclass(frozen=True)
class Headline:
    """Figures of the measured pages.

    Attributes
    ----------
    seconds : list of (str, str, float, float)
        Data set, method, our seconds, and those of GraKeL.
    leads : list of (str, float, float, float, float)
        Data set of the fair comparison, its best method, the best later method (or the same), ours, and the
        standard deviation of ours over the folds.
    paper : str
        The first sentence of the page of the paper's tables.
    """

    seconds: list[tuple[str, str, float, float]]
    leads: list[tuple[str, float, float, float, float]]
    paper: str

    @classmethod
    def read(cls, docs: Path) -> Headline:
        """Return the figures of the measured pages of the site."""
        measured = docs / "measured"
        names = ("fair", "results")
        pages = {name: (measured / f"{name}.md").read_text(encoding="utf-8") for name in names}
        return cls(
            _seconds(measured / "results" / "benchmarks.json"),
            _leads(pages["fair"]),
            pages["results"].partition("## In short")[2].partition("\n- ")[2].partition("\n")[0],
        )

    def sentences(self, pages: str) -> list[str]:
        """The headline in words, with links to the pages in a folder."""
        ratios = {m: [theirs / ours for _, one, ours, theirs in self.seconds if one == m] for m in METHODS}
        refined = [*ratios["WL"], *ratios["SP"]]
        ahead = sum(ours > best for _, best, _, ours, _ in self.leads)
        later = [ours > latest for _, best, latest, ours, _ in self.leads if latest > best]
        clearly = sum(ours > latest + spread for _, _, latest, ours, spread in self.leads)
        return [
            f"**WL and shortest-path kernels {int(min(refined))} to {int(max(refined)):,} times, propagation "
            f"kernels {int(min(ratios['PK']))} to {int(max(ratios['PK'])):,} times as fast as GraKeL** (one "
            f"thread, kernel matrix). [Benchmarks]({pages}/benchmarks.md)",
            f"**Above the best method of a fair comparison of graph neural networks on {ahead} of the "
            f"{len(self.leads)} data sets measured** (it has nine), above later methods on {sum(later)} of "
            f"the {len(later)} that have any, beyond the spread of folds on {clearly}; default settings. "
            f"[Fair comparison]({pages}/fair.md)",
            f"{self.paper} [The paper's tables]({pages}/results.md)",
        ]


def _seconds(path: Path) -> list[tuple[str, str, float, float]]:
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    names = {name: name.split(" | ")[1:] for name in rows if name.startswith("peer | ")}
    return [(data, method, rows[name]["ours"], rows[name]["peer"]) for name, (method, data) in names.items()]


def _leads(page: str) -> list[tuple[str, float, float, float, float]]:
    """Rows of fair.md."""
    found = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        ours = re.match(r"([\d.]+) ± ([\d.]+)", cells[3]) if len(cells) > 3 else None
        if ours:
            best, later = ([float(x) for x in re.findall(r"\d+\.\d", cell)] for cell in cells[1:3])
            found.append((cells[0], max(best), max(best + later), float(ours[1]), float(ours[2])))
    return found


def draw(headline: Headline) -> Any:
    """Return the chart: seconds of kernel matrices, ours and GraKeL's."""
    from matplotlib import pyplot as plt

    rows = [row for row in headline.seconds if row[1] in METHODS and row[0] in SHOWN]
    rows = sorted(rows, key=lambda row: (list(METHODS).index(row[1]), SHOWN.index(row[0])), reverse=True)
    figure, ax = plt.subplots(figsize=(4.4, 0.31 * len(rows) + 1.2), layout="constrained")
    for y, (_, _, ours, theirs) in enumerate(rows):
        ax.plot([ours, theirs], [y, y], color=THEIRS, lw=1.5, alpha=0.5, zorder=1)
        ax.plot(ours, y, "o", color=OURS, ms=8, label="propkernels" if y == 0 else None)
        ax.plot(theirs, y, "o", color=THEIRS, ms=8, label="GraKeL" if y == 0 else None)
    names = [f"{method}  {data.replace(':', ', first ')}" for data, method, _, _ in rows]
    ax.set_yticks(range(len(rows)), names, fontsize=12, color=TEXT)
    ax.set_xscale("log")
    ax.set_xlabel("seconds, one thread", fontsize=12, color=TEXT)
    ax.tick_params(axis="x", labelsize=12, colors=TEXT)
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.4, 1)}
    ax.legend(frameon=False, fontsize=12, labelcolor=TEXT, ncol=2, **place)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(TEXT)
    return figure


def write_headline(docs: Path) -> str:
    """Write the chart, and the sentences into the README and two pages of the site; return them."""
    from matplotlib import pyplot as plt

    headline = Headline.read(docs)
    with plt.rc_context({"svg.hashsalt": "propkernels"}):  # the same ids at every run
        draw(headline).savefig(docs / "pictures" / "headline.svg", metadata={"Date": None}, transparent=True)
    for page, measured in ((docs.parent / "README.md", "docs/measured"), (docs / "index.md", "measured")):
        before, rest = page.read_text(encoding="utf-8").split(BEGIN)
        lines = "\n".join(f"- {sentence}" for sentence in headline.sentences(measured))
        page.write_text(f"{before}{BEGIN}\n{lines}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return lines

"""Bounds of edit distances, ours and networkx's: ``python -m benchmarks.edit_distance`` writes their page."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import NamedTuple

import networkx as nx
import numpy as np

import propkernels as pk
from benchmarks import machine

PAGE = Path(__file__).parents[1] / "docs" / "measured" / "edit_distance.md"
ABOUT = ("tree", "date", "processor")  # of the machine
LONG = 0.1  # seconds that networkx may take in the last column
HEAD = """\
# Edit distances

Written by `python -m benchmarks.edit_distance`; do not edit.

Mean numbers of edits that turn one molecule into another, with costs of 1, for pairs that are drawn at
random. The exact distance of molecules of up to six atoms is that of networkx, of larger ones that of
`exact=True`. Bounds of networkx (`optimize_graph_edit_distance`) come one after the other: the last one
within the time that ours takes, or else its first, and the last one within a tenth of a second. "Excess" is
the mean difference to the exact distance. Times are those of the processor, for one pair.

"""
COLUMNS = (
    "graphs",
    "pairs",
    "nodes",
    "exact",
    "`pk.edit_distance`",
    "excess",
    "below exact",
    "ms",
    "`pk.align`",
    "networkx, same time or first",
    "excess",
    "ms",
    f"networkx, {LONG:g} s",
    "pairs where ours is smaller, equal, larger",
)


class Case(NamedTuple):
    """Graphs of a data set with at most so many nodes; ``exact`` computes their distance."""

    dataset: str
    most: int
    pairs: int
    exact: Callable[[nx.Graph, nx.Graph], float] | None = None


def same(one: dict[str, object], other: dict[str, object]) -> bool:
    return one.get("label") == other.get("label")


def of_networkx(g: nx.Graph, h: nx.Graph) -> float:
    return float(nx.graph_edit_distance(g, h, node_match=same, edge_match=same))


def of_ours(g: nx.Graph, h: nx.Graph) -> float:
    return float(pk.edit_distance(g, h, exact=True))


CASES = (
    Case("AIDS", 6, 60, of_networkx),
    Case("AIDS", 9, 100, of_ours),
    Case("MUTAG", 12, 20, of_ours),
    Case("AIDS", 30, 100),
    Case("MUTAG", 30, 100),
    Case("NCI1", 60, 100),
)


def bounds(g: nx.Graph, h: nx.Graph, seconds: Sequence[float]) -> tuple[list[float], float]:
    """Return networkx's last bound within each number of seconds, or its first; and the time of the first."""

    def expire(*_: object) -> None:
        raise TimeoutError

    start, found, first = process_time(), [float("inf")] * len(seconds), 0.0
    signal.signal(signal.SIGPROF, expire)  # networkx's own limit is the clock's, which other programs use up
    try:
        for bound in nx.optimize_graph_edit_distance(g, h, node_match=same, edge_match=same):
            now = process_time() - start
            found = [
                bound if now <= most or not first else old for old, most in zip(found, seconds, strict=True)
            ]
            if not first:
                first = now
                signal.setitimer(signal.ITIMER_PROF, max(max(seconds) - now, 1e-6))
    except TimeoutError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return found, first


def row(case: Case, seed: int = 0) -> list[str]:
    """Measure the pairs of a case; return the cells of its row."""
    graphs = pk.datasets.load(case.dataset).graphs
    few = graphs[np.flatnonzero((graphs.graph_sizes <= case.most) & (graphs.graph_sizes > 1))]
    chosen = np.random.default_rng(seed).integers(len(few), size=(case.pairs, 2))
    values: list[list[float]] = []
    for i, j in chosen.tolist():
        g, h = few[i], few[j]
        start = process_time()
        ours = float(pk.edit_distance(g, h))
        took = process_time() - start
        twins = pk.convert.to_networkx(few[[i, j]])
        (first, last), first_took = bounds(*twins, (took, LONG))
        exact = np.nan if case.exact is None else case.exact(*twins)
        values.append([exact, ours, took, pk.align(g, h).cost, first, first_took, last])
    exact, ours, took, aligned, first, first_took, last = np.array(values).T
    known = case.exact is not None
    return [
        f"{case.dataset}, up to {case.most} nodes",
        str(case.pairs),
        f"{few.graph_sizes[chosen].mean():.1f}",
        f"{exact.mean():.2f}" if known else "-",
        f"{ours.mean():.2f}",
        f"{(ours - exact).mean():.2f}" if known else "-",
        str(int((ours < exact).sum())) if known else "-",
        f"{1000 * took.mean():.2f}",
        f"{aligned.mean():.2f}",
        f"{first.mean():.2f}",
        f"{(first - exact).mean():.2f}" if known else "-",
        f"{1000 * first_took.mean():.2f}",
        f"{last.mean():.2f}",
        f"{(ours < last).sum()}, {(ours == last).sum()}, {(ours > last).sum()}",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edit_distance", description=__doc__)
    parser.add_argument("--pairs", type=int, help="so many pairs of each case")
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    wanted = parser.parse_args(arguments)
    pk.edit_distance(nx.path_graph(2), nx.path_graph(3))
    lines = [COLUMNS, ("---",) + ("---:",) * (len(COLUMNS) - 1)]
    for case in CASES:
        lines.append(tuple(row(case._replace(pairs=min(case.pairs, wanted.pairs or case.pairs)))))
        print(*lines[-1], sep=" | ", flush=True)
    about = machine.describe()
    tail = f"networkx {nx.__version__}; {'; '.join(str(about[name]) for name in ABOUT)}."
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    wanted.output.write_text(f"{HEAD}{table}\n{tail}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

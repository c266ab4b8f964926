"""What tests of collections promise, counted: level, power, bounds and leaks.

Parts of ``python -m benchmarks.collections FOLDER --only level alignment folds``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import kstest

import propkernels as pk

Values = dict[str, Any]
KERNEL = pk.WeisfeilerLehman(t_max=2, normalize=True)
N_NULL, N_POWER = 2000, 100
N_ALIGNED = 500
FOLDS = (("BBBP", 0.6), ("HIV", 0.9))


def measure_level(pool: pk.GraphDatabase, other: pk.GraphDatabase) -> Values:
    """Test samples of one distribution, and samples of two."""
    p_values = np.array([_p_value(pool, pool, 20, number) for number in range(N_NULL)])
    smoothed = p_values - np.random.default_rng(0).random(N_NULL) / 100
    found: Values = {
        "repetitions": N_NULL,
        "share": float(np.mean(p_values <= 0.05)),
        "uniform": float(kstest(smoothed, "uniform").pvalue),
    }
    found["power"] = {
        str(size): float(np.mean([_p_value(pool, other, size, i) <= 0.05 for i in range(N_POWER)]))
        for size in (100, 300, 1000)
    }
    return found


def _p_value(first: pk.GraphDatabase, second: pk.GraphDatabase, size: int, seed: int) -> float:
    """Return the p-value of random graphs of both; of different graphs, where both are one collection."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(len(first))[: 2 * size]
    others = places[size:] if second is first else rng.permutation(len(second))[:size]
    found = pk.two_sample_test(
        first[places[:size]], second[others], kernel=KERNEL, n_permutations=99, random_state=seed
    )
    return found.p_value


def measure_alignment() -> Values:
    """Align random pairs of the 208 graphs with up to six nodes of networkx's atlas, with two node labels."""
    import networkx as nx

    rng = np.random.default_rng(0)
    atlas = [graph for graph in nx.graph_atlas_g() if 0 < len(graph) <= 6]
    gaps, distances = [], []
    for _ in range(N_ALIGNED):
        pair = [atlas[int(i)].copy() for i in rng.choice(len(atlas), 2, replace=False)]
        for graph in pair:
            nx.set_node_attributes(graph, {node: int(rng.integers(2)) for node in graph}, "label")
        exact = nx.graph_edit_distance(*pair, node_match=lambda a, b: a["label"] == b["label"])
        gaps.append(pk.align(*pair).cost - exact)
        distances.append(exact)
    return {
        "pairs": N_ALIGNED,
        "graphs": len(atlas),
        "below": int(np.sum(np.array(gaps) < 0)),
        "median": float(np.median(gaps)),
        "mean": float(np.mean(gaps)),
        "exact": float(np.mean(np.array(gaps) == 0)),
        "distance": float(np.median(distances)),
    }


def measure_folds() -> Values:
    """Split BBBP and HIV into five folds, and count test molecules with a near training molecule."""
    found: Values = {}
    for name, threshold in FOLDS:
        graphs = pk.datasets.load(name).graphs
        kernel = pk.WeisfeilerLehman(t_max=2)
        splitter = pk.sets.SimilarityGroupKFold(5, threshold=threshold, kernel=kernel, random_state=0)
        start = time.process_time()
        groups = splitter.groups(graphs)
        taken = time.process_time() - start
        leaks = _leaks(graphs, list(splitter.split(graphs, groups=groups)), kernel, threshold)
        sizes = np.bincount(groups)
        found[name] = {
            "graphs": len(graphs),
            "threshold": threshold,
            "seconds": taken,
            "groups": len(sizes),
            "largest": int(sizes.max()),
            "leaks": leaks,
        }
    return found


def _leaks(graphs: pk.GraphDatabase, folds: list[Any], kernel: Any, threshold: float) -> int:
    """Return the number of graphs, over all test folds, with a training graph at the threshold or more."""
    n_leaks = 0
    for train, test in folds:
        known = pk.GraphIndex(kernel=kernel, similarity="jaccard").fit(graphs[train])
        n_leaks += sum(len(one) > 0 for one in known.query(graphs[test], at_least=threshold).ids)
    return n_leaks


def check_lines(found: dict[str, Values]) -> Iterator[str]:
    """Yield the section on what was counted."""
    yield from ["## What tests promise, counted", "", "| question | promise | counted |", "|---|---|---|"]
    for question, promise, counted in _rows(found):
        yield f"| {question} | {promise} | {counted} |"


def _rows(found: dict[str, Values]) -> Iterator[tuple[str, str, str]]:
    """Yield question, promise and count."""
    if "level" in found:
        one = found["level"]
        question = (
            f"p up to 0.05 by `two_sample_test`, {one['repetitions']:,} pairs of samples of one distribution"
        )
        yield (
            question,
            "5 %",
            f"{100 * one['share']:.1f} % (uniform: Kolmogorov-Smirnov p = {one['uniform']:.2f})",
        )
        power = ", ".join(f"{100 * share:.0f} % of {size} + {size}" for size, share in one["power"].items())
        yield "differences found at 0.05: training molecules, test molecules without sulfur", "-", power
    if "alignment" in found:
        one = found["alignment"]
        question = f"`align` below the exact edit distance, {one['pairs']} pairs of graphs of up to 6 nodes"
        gap = f"median gap {one['median']:.0f}, mean {one['mean']:.2f}, none for {100 * one['exact']:.0f} %"
        yield question, "0", f"{one['below']} ({gap}; median distance {one['distance']:.0f})"
    for name, one in found.get("folds", {}).items():
        if name != "machine":
            question = f"{name}, {one['graphs']:,} molecules, five folds: test graphs with a training graph"
            groups = f"{one['groups']:,} groups, the largest of {one['largest']:,}; {one['seconds']:.1f} s"
            yield f"{question} at {one['threshold']} or more", "0", f"{one['leaks']} ({groups})"

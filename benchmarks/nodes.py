"""Processor seconds and memory of a fit of NodeClassifier: ``python -m benchmarks.nodes [NAME] [--nodes N]``.

``--results FOLDER`` keeps them for the page of ``python -m reproduction nodes -o FOLDER``.

NAME is a graph of ``python -m reproduction nodes``, fitted on its first split. "planted" is a random graph
with N nodes, ten edges per node, most of them within one of ten groups, and 100 attributes that differ a
little from group to group; one node in a hundred is labeled. Each fit has its own process, and one thread.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array

import propkernels as pk
from reproduction.extra.nodes import LARGE, LargeFit, read, split_of
from reproduction.extra.records import keep_records

PLANTED = "planted"
N_GROUPS, N_ATTRIBUTES, EDGES_PER_NODE, WITHIN, LABELED = 10, 100, 10, 0.7, 0.01


def planted(n_nodes: int, seed: int = 0) -> tuple[pk.GraphDatabase, np.ndarray]:
    """Return a graph with planted groups, and the group of each node."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(N_GROUPS, size=n_nodes)
    by_group = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[by_group], np.arange(N_GROUPS + 1))
    source = np.repeat(np.arange(n_nodes), EDGES_PER_NODE)
    target = rng.integers(n_nodes, size=len(source))
    inside = rng.random(len(source)) < WITHIN
    low, high = starts[groups[source[inside]]], starts[groups[source[inside]] + 1]
    target[inside] = by_group[rng.integers(low, high)]
    ones = np.ones(2 * len(source))
    ends = (np.concatenate([source, target]), np.concatenate([target, source]))
    adjacency = coo_array((ones, ends), shape=(n_nodes, n_nodes)).tocsr()
    adjacency.data[:] = 1.0
    centers = rng.normal(size=(N_GROUPS, N_ATTRIBUTES)) / 4
    attributes = rng.normal(size=(n_nodes, N_ATTRIBUTES))
    for group, center in enumerate(centers):
        attributes[groups == group] += center
    return pk.GraphDatabase(adjacency, [0, n_nodes], node_attributes=attributes), groups


def fit(name: str, n_nodes: int) -> LargeFit:
    """Fit one graph, and return what it took."""
    validation = None
    if name == PLANTED:
        graph, truth = planted(n_nodes)
        train = np.flatnonzero(np.random.default_rng(1).random(n_nodes) < LABELED)
    else:
        nodes = read(name)
        graph, truth = nodes.graph, nodes.labels
        train, held, _ = split_of(name, 0)
        validation = held if len(held) else None
        train = np.concatenate([train, held]).astype(np.int64)
    before = _peak()
    start, wall = time.process_time(), time.perf_counter()
    model = pk.NodeClassifier(random_state=0).fit(graph, truth[train], nodes=train, validation=validation)
    seconds, waited = time.process_time() - start, time.perf_counter() - wall
    rest = np.setdiff1d(np.flatnonzero(truth >= 0), train)
    score = float(np.mean(model.predict()[rest] == truth[rest]))
    width = 0 if graph.attribute_matrix is None else graph.attribute_matrix.shape[1]
    return LargeFit(name, graph.n_nodes, graph.n_edges, width, seconds, waited, before, _peak(), score)


def shown(fit: LargeFit) -> str:
    """Return one line of the table."""
    return (
        f"{fit.dataset:<20}{fit.n_nodes:>11,}{fit.n_edges:>12,}{fit.processor_seconds:>13.1f}{fit.seconds:>9.1f}"
        f"{fit.megabytes_before:>12,.0f}{fit.megabytes_peak:>10,.0f}{100 * fit.score:>10.1f}"
    )


def _peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Fit each graph in a new process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", default=["coauthor_physics", PLANTED])
    parser.add_argument("--nodes", type=int, default=10**6)
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="keep what was measured")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        found = fit(options.names[0], options.nodes)
        print(shown(found))
        keep_records([found], None if options.results is None else options.results / LARGE)
        return
    head = f"{'graph':<20}{'nodes':>11}{'edges':>12}{'processor s':>13}{'wall s':>9}"
    print(head + f"{'MB before':>12}{'peak MB':>10}{'score':>10}", flush=True)
    for name in options.names:
        command = [sys.executable, "-m", "benchmarks.nodes", name, "--nodes", str(options.nodes), "--here"]
        if options.results is not None:
            options.results.mkdir(parents=True, exist_ok=True)
            command += ["--results", str(options.results)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()

"""Graphs in time and graphs that change: tables in another order, and live graphs beside new ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import Case, Refused, Wrong, same, try_to
from fuzz.forging import pick
from fuzz.hostile import thing
from fuzz.values import near_power

Generator = np.random.Generator
KERNELS = {
    "walk": pk.PropagationKernel(t_max=2, random_state=0),
    "hashes": pk.PropagationKernel(t_max=2, n_hashes=2, metric="l2", base_kernel="jaccard", random_state=0),
    "refinement": pk.WeisfeilerLehman(t_max=3, base_kernel="intersection"),
    "degrees": pk.WeisfeilerLehman(t_max=2, labels="degree", normalize=True),
}


@cache
def model(name: str) -> Any:
    """A small trained classifier."""
    data = pk.datasets.make_molecules(30, random_state=0)
    return pk.PropagationClassifier(kernel=KERNELS[name], C=1.0, random_state=0).fit(data.graphs, data.target)


@cache
def molecules() -> Any:
    return pk.datasets.make_molecules(30, random_state=0).graphs


def live(case: Case, rng: Generator) -> None:
    """After any changes, possible and impossible, a live graph equals the changed graph from scratch."""
    name = pick(rng, sorted(KERNELS))
    graph = molecules()[int(rng.integers(len(molecules())))]
    changing, trained = model(name).live(graph), model(name)
    for _ in range(int(rng.integers(1, 12))):
        if rng.random() < 0.2:
            _impossible(changing, rng)
        else:
            _possible(changing, rng)
        if rng.random() < 0.3:
            _check(changing, trained)
    _check(changing, trained)


def _possible(changing: Any, rng: Generator) -> None:
    if rng.random() < 0.2:
        changing.add_node(pick(rng, ("C", "N", "new", 3, (1, "a"))))
        return
    u, v = (int(end) for end in rng.choice(changing.n_nodes, 2, replace=False))
    if rng.random() < 0.3:
        changing.set_label(u, pick(rng, ("C", "O", "other", 7)))
    elif changing.graph.adjacency[u, v]:
        changing.remove_edge(u, v)
    else:
        changing.add_edge(u, v)


def _impossible(changing: Any, rng: Generator) -> None:
    """A change that is refused, and changes nothing."""
    before = changing.graph
    odd = pick(rng, (-1, changing.n_nodes, near_power(rng), thing(rng), 0.5, "0", None))
    calls: tuple[Callable[[], Any], ...] = (
        lambda: changing.add_edge(0, odd),
        lambda: changing.remove_edge(odd, 0),
        lambda: changing.add_edge(0, 0),
        lambda: changing.add_edges([(0, odd)]),
        lambda: changing.remove_edges(odd),
        lambda: changing.set_label(odd, "C"),
        lambda: changing.set_label(0, [odd]),
    )
    try:
        try_to(pick(rng, calls), IndexError, OverflowError)
    except Refused:
        if changing.graph != before:
            raise Wrong("a refused change changed the graph") from None


def _check(changing: Any, trained: Any) -> None:
    same(changing.decision, trained.decision_function(changing.graph)[0], "decision of a live graph", True)


def _contacts(rng: Generator) -> Any:
    import pandas as pd

    n = int(rng.integers(1, 25))
    rows = {
        "graph": rng.integers(0, 3, n),
        "source": rng.integers(0, 5, n),
        "target": rng.integers(5, 9, n),
        "time": rng.integers(0, 6, n) * float(pick(rng, (1.0, 0.5, 1e9, 1e-9))),
        "length": rng.integers(0, 3, n).astype(float),
        "wait": rng.integers(0, 3, n).astype(float),
    }
    return pd.DataFrame(rows)


def rows_of_contacts(case: Case, rng: Generator) -> None:
    """Kernels of graphs in time do not depend on the order of contacts, nor on the names of vertices."""
    contacts = _contacts(rng)
    given: dict[str, Any] = {"duration": pick(rng, (None, "length")), "delay": pick(rng, (None, "wait"))}
    given["directed"] = bool(rng.random() < 0.5)
    time = pick(rng, ("auto", "forward", "both", "static"))
    other = contacts.sample(frac=1, random_state=int(case.seed % 2**31)).reset_index(drop=True)
    names = rng.permutation(20)
    other = other.assign(source=names[other["source"]], target=names[other["target"]])
    if not given["directed"]:
        other = other.rename(columns={"source": "target", "target": "source"})
    graphs, again = pk.from_contacts(contacts, **given), pk.from_contacts(other, **given)
    order = [list(again.ids).index(one) for one in graphs.ids]
    kernel = pick(rng, (pk.PropagationKernel, pk.WeisfeilerLehman))
    options: dict[str, Any] = {} if kernel is pk.WeisfeilerLehman else {"random_state": 0}
    made = [kernel(t_max=2, time=time, **options) for _ in range(2)]
    expected = try_to(lambda: made[0].fit_transform(graphs))
    same(made[1].fit_transform(again)[np.ix_(order, order)], expected, "contacts in another order")


def shifted_times(case: Case, rng: Generator) -> None:
    """Kernels of graphs in time depend on the order of times alone."""
    contacts = _contacts(rng).drop(columns=["length", "wait"])
    later = contacts.assign(time=contacts["time"] * 2.0 + 100.0 * float(contacts["time"].max() + 1.0))
    ranks = contacts["time"].rank(method="dense").tolist() == later["time"].rank(method="dense").tolist()
    if not ranks:
        return  # the sum was rounded
    kernel = pk.WeisfeilerLehman(t_max=3, time="forward")
    graphs = [pk.from_contacts(table) for table in (contacts, later)]
    same(kernel.fit_transform(graphs[1]), kernel.fit_transform(graphs[0]), "later contacts")


def hostile_snapshots(case: Case, rng: Generator) -> None:
    """Snapshots of anything are graphs in time, or refused in one sentence."""
    import networkx as nx

    several = [
        nx.gnp_random_graph(4, 0.5, seed=int(rng.integers(100))) for _ in range(int(rng.integers(0, 4)))
    ]
    for graph in several:
        for node in graph:
            if rng.random() < 0.3:
                graph.nodes[node]["label"] = pick(rng, ("a", 1, thing(rng)))
    given: Any = pick(rng, (several, several, [*several, thing(rng)], thing(rng)))
    numbers = [pick(rng, (0, 1, 2.5, thing(rng))) for _ in several]
    times: Any = pick(rng, (None, None, numbers, thing(rng)))
    label = pick(rng, (None, "label", "odd"))
    read = try_to(lambda: pk.convert.from_snapshots(given, times, node_label=label), OverflowError)
    if len(read) != 1 or not read.is_temporal:
        raise Wrong("snapshots are one graph in time")


CHECKS: dict[str, Callable[[Case, Generator], None]] = {
    check.__name__: check for check in (live, rows_of_contacts, shifted_times, hostile_snapshots)
}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 34])
    names = sorted(CHECKS)
    return Case("changes", seed, names[rng.integers(len(names))])


def run(case: Case) -> None:
    CHECKS[case.check](case, np.random.default_rng([case.seed, 35]))

"""Smaller cases that show the same: fewer graphs, nodes, edges and parameters. Each is tried in a fork."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace

from fuzz.cases import Case, outcome_of
from fuzz.families import run

SECONDS, LIMIT = 20, 60.0


def verdict(case: Case) -> tuple[str, str]:
    """What comes of a case, and where: run in a child, so that crashes and hangs are verdicts too."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(SECONDS)
        outcome = outcome_of(lambda: run(case))
        os.write(write, f"{outcome.kind}\n{outcome.where}".encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return ("hang" if os.WTERMSIG(status) == signal.SIGALRM else "crash"), ""
    kind, where = said.split("\n", 1)
    return kind, where


def smaller(case: Case) -> Iterator[Case]:
    """Cases that lack one thing."""
    for i in range(len(case.graphs)):
        if len(case.graphs) > 1:
            yield replace(case, graphs=case.graphs[:i] + case.graphs[i + 1 :])
    for name in case.parameters:
        yield replace(case, parameters={k: v for k, v in case.parameters.items() if k != name})
    for i, graph in enumerate(case.graphs):
        for node in range(graph.n):
            yield replace(case, graphs=[*case.graphs[:i], graph.without_node(node), *case.graphs[i + 1 :]])
        for edge in range(len(graph.edges)):
            yield replace(case, graphs=[*case.graphs[:i], graph.without_edge(edge), *case.graphs[i + 1 :]])


def shrunk(case: Case) -> Case:
    """The smallest case found that gives the same verdict."""
    expected, end = verdict(case), time.monotonic() + LIMIT
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for candidate in smaller(case):
            if time.monotonic() > end:
                break
            if verdict(candidate) == expected:
                case, progress = candidate, True
                break
    return case

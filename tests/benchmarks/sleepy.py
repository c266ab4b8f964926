"""Cases for the tests: a peer that answers at once, one that never does, one that fails."""

from __future__ import annotations

import time

from benchmarks.case import estimator
from benchmarks.peers import PeerCase

PK = estimator("PropagationKernel", t_max=1)


def obliging(graphs):
    return lambda: PK(_Holder(graphs), 1)()


def sleepy(graphs):
    return lambda: time.sleep(600)


def broken(graphs):
    raise ValueError("this peer does not work")


class _Holder:
    def __init__(self, graphs):
        self.graphs = graphs


def case(name, peer):
    return PeerCase(
        name, "MOLECULES", PK, peer, "propkernels", first=5, at_least=2.0, table="tests.benchmarks.sleepy"
    )


CASES = (case("obliging", obliging), case("sleepy", sleepy), case("broken", broken))

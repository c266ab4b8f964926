"""Other libraries on the same graphs: how many times longer they take.

Ours and the peer run in one fresh process, ours before and after it; graphs are converted outside of the
timing. A peer that takes longer than the limit is ended and reported as such.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from benchmarks import grakel_peer, graphkit_peer
from benchmarks.case import Call, Prepare, Result, Settings, estimator
from benchmarks.data import load
from benchmarks.process import Outcome, run_module, say
from benchmarks.timing import best_of, limit_threads, once

ALLOWANCE = 120.0  # seconds that a process may take besides the peer's call


@dataclass(frozen=True)
class PeerCase:
    """One of our estimators against a peer's.

    Attributes
    ----------
    name, dataset, slow
        As in :class:`benchmarks.case.Case`.
    ours : callable
        ``ours(data, threads)`` returns our call.
    peer : callable
        ``peer(graphs)`` converts the graphs and returns the peer's call.
    library : str
        The peer's import name.
    first : int or None
        Compare on the first graphs only.
    at_least : float or None
        Target of the ratio peer / ours.
    """

    name: str
    dataset: str
    ours: Prepare
    peer: Callable[[Any], Call]
    library: str = "grakel"
    first: int | None = None
    at_least: float | None = None
    slow: bool = False


PK = estimator("PropagationKernel", t_max=10, bin_width=grakel_peer.BIN_WIDTH)
WL = estimator("WeisfeilerLehman", t_max=10)
SP = estimator("ShortestPath")
GH = estimator("GraphHopper")
CSM = estimator("SubgraphMatching", k=3, edge_labels=True)
GRAKEL_PK, GRAKEL_WL, GRAKEL_SP = (
    grakel_peer.PEERS["PK"],
    grakel_peer.PEERS["WL"],
    grakel_peer.PEERS["SP"],
)
GRAKEL_GH, GRAKEL_CSM = grakel_peer.PEERS["GH"], grakel_peer.PEERS["CSM"]
GRAPHKIT_WL, GRAPHKIT_SP = graphkit_peer.weisfeiler_lehman, graphkit_peer.shortest_path

CASES = (
    PeerCase("grakel-pk-mutag", "MUTAG", PK, GRAKEL_PK),
    PeerCase("grakel-pk-enzymes", "ENZYMES", PK, GRAKEL_PK),
    PeerCase("grakel-pk-proteins", "PROTEINS", PK, GRAKEL_PK, at_least=300, slow=True),
    PeerCase("grakel-pk-nci1-500", "NCI1", PK, GRAKEL_PK, first=500, slow=True),
    PeerCase("grakel-wl-nci1", "NCI1", WL, GRAKEL_WL, at_least=15),
    PeerCase("grakel-sp-nci1", "NCI1", SP, GRAKEL_SP, slow=True),
    PeerCase("grakel-gh-mutag", "MUTAG", GH, GRAKEL_GH, slow=True),
    PeerCase("grakel-csm-mutag", "MUTAG", CSM, GRAKEL_CSM, slow=True),
    PeerCase("graphkit-wl-mutag", "MUTAG", WL, GRAPHKIT_WL, library="gklearn"),
    PeerCase("graphkit-sp-mutag-40", "MUTAG", SP, GRAPHKIT_SP, library="gklearn", first=40),
)


def measure(case: PeerCase, settings: Settings) -> Iterator[Result]:
    """Run both in one process and compare."""
    if find_spec(case.library) is None:
        yield _result(case, status="absent", note=f"{case.library} is not installed")
        return
    outcome = run_comparison(case, settings)
    peer = [line for line in outcome.lines if line["what"] == "peer"]
    if not peer and outcome.returncode and outcome.returncode > 0:
        raise RuntimeError((outcome.errors.strip().splitlines() or ["no message"])[-1])
    yield from _compare(case, outcome, peer, settings)


def run_comparison(case: PeerCase, settings: Settings) -> Outcome:
    """Start the process; it ends itself when the peer's call takes longer than the limit."""
    repeats = 1 if settings.quick else settings.repeats
    arguments = (case.name, str(settings.peer_limit), str(repeats), str(settings.repeats))
    return run_module("benchmarks.peers", *arguments, limit=settings.peer_limit + ALLOWANCE)


def _compare(case: PeerCase, outcome: Outcome, peer: list[Any], settings: Settings) -> Iterator[Result]:
    for threads in settings.threads:
        ours = [o for o in outcome.lines if o["what"] == "ours" and o["threads"] == threads]
        if not ours:
            yield _result(case, threads=threads, status="timed out", note="our own call did not end")
            continue
        mine, theirs = _best(ours, "min"), _best(peer, "seconds") if peer else settings.peer_limit
        words = f"{theirs:.3g} s" if peer else f"over {settings.peer_limit:g} s (ended)"
        note = f"ours {mine:.3g} s, {case.library} {words}" + _remarks(ours, peer, outcome)
        details = {"ours": mine, "peer": theirs if peer else None, "limit": settings.peer_limit}
        status, bound = ("measured", "") if peer else ("timed out", ">")
        result = _result(case, threads=threads, measured=theirs / mine, note=note, details=details)
        result.status, result.bound = status, bound
        yield result


def _best(lines: list[Any], key: str) -> float:
    return min(line[key] for line in lines)


def _remarks(ours: list[Any], peer: list[Any], outcome: Outcome) -> str:
    """The ratio in processor time, one thread each, and how far the two kernel matrices agree."""
    differences = [line["difference"] for line in outcome.lines if line["what"] == "agreement"]
    agreement = "".join(f"; kernels differ by {each:.1e}" for each in differences)
    if not peer or ours[0]["threads"] > 1:
        return agreement
    return f"; processor {_best(peer, 'processor') / _best(ours, 'processor'):.0f} x" + agreement


def _result(case: PeerCase, **values: Any) -> Result:
    return Result(
        case.name, "peers", case.dataset, unit="times", target=case.at_least, at_least=True, **values
    )


# the process in which both run


def main(name: str, limit: float, repeats: int, ours: int) -> None:
    """Time ours, the peer, and ours again, with so many repeats each; print JSON lines at once."""
    warnings.simplefilter("ignore")  # the peer's: deprecations in numpy
    case = next(case for case in CASES if case.name == name)
    data = _Part(load(case.dataset).graphs[: case.first])
    settings = Settings(repeats=ours, seconds=1.0)
    peer = case.peer(data.graphs)
    time_ours(case, data, settings)
    theirs = time_peer(peer, limit, repeats)
    time_ours(case, data, settings)
    say(what="agreement", difference=difference(case.ours(data, 1)(), theirs))


class _Part:
    """The first graphs of a data set."""

    def __init__(self, graphs: Any) -> None:
        self.graphs = graphs


def time_ours(case: PeerCase, data: Any, settings: Settings) -> None:
    for threads in settings.threads:
        with limit_threads(threads):
            say(what="ours", threads=threads, **best_of(case.ours(data, threads), settings))


def time_peer(call: Call, limit: float, repeats: int) -> Any:
    """Repeat the peer's call while that fits the limit; each call by itself is ended at the limit."""
    results: list[Any] = []
    spent, last = 0.0, 0.0
    for _ in range(repeats):
        if spent + last > limit:
            break
        _alarm(limit)
        last, processor = once(lambda: results.append(call()))
        _alarm(0)
        spent += last
        say(what="peer", seconds=last, processor=processor)
    return results[-1]


def _alarm(seconds: float) -> None:
    """End this process after so many seconds, whatever it does; without an alarm, the parent does."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def difference(ours: Any, theirs: Any) -> float:
    """Relative difference of two kernel matrices, in Frobenius norm."""
    import numpy as np

    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))

"""Longest chains of a fit: ``python -m benchmarks.chains [--write]``, for the default classifiers.

Items that threads would share are computed one after the other, as for ``--cores`` threads, and the
processor time of each is measured. The chain of a call is that of its longest item: its own time, plus the
chains of the calls inside it. No number of cores makes a fit faster than its chain.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.data import is_present, load
from benchmarks.pages import put

DATASETS = ("NCI1", "ENZYMES")
REPEATS = 3
STEPS = {
    "_compare": "rungs: kernels of some graphs, and quick machines",
    "_finalists": "kernels of all graphs, and machines of the first fold",
    "choose_finalist": "machines of all folds, without two folds, and of all graphs",
}
REST = "the model, and its fold models"


@dataclass
class Item:
    """Processor seconds of an item, and the calls inside it."""

    seconds: float = 0.0
    calls: list[Shared] = field(default_factory=list)

    @property
    def chain(self) -> float:
        """Seconds of the steps that follow one another."""
        return self.seconds - sum(call.work for call in self.calls) + sum(call.chain for call in self.calls)


@dataclass
class Shared:
    """A call whose items threads may share."""

    name: str
    items: list[Item] = field(default_factory=list)

    @property
    def work(self) -> float:
        """Seconds of all items."""
        return sum(item.seconds for item in self.items)

    @property
    def chain(self) -> float:
        """Seconds of the longest item."""
        return max((item.chain for item in self.items), default=0.0)


@contextmanager
def one_by_one(root: Item, cores: int = 16) -> Iterator[None]:
    """Compute the items of all calls one after the other inside the block, and record them below an item.

    Pieces of compiled stages are computed by one call, and count as equal shares of the cores.
    """
    from propkernels._utils import parallel
    from propkernels._utils.crew import NOBODY

    current = [root]

    def mapped(function: Callable[[Any], Any], items: Sequence[Any], n: int, spare: Any, *rest: Any) -> Any:
        shared = Shared(_step())
        current[-1].calls.append(shared)
        spare.give(n - 1)  # no thread is started
        return [_timed(function, item, shared, current) for item in items]

    def in_pieces(
        stage: Callable[..., None], work: tuple[Any, ...], n_pieces: int, n_jobs: int | None
    ) -> None:
        start = time.process_time()
        stage(NOBODY, 0, n_pieces, work)
        n_shares = max(min(n_pieces, cores), 1)
        shares = [Item((time.process_time() - start) / n_shares) for _ in range(n_shares)]
        current[-1].calls.append(Shared(_step(), shares))

    with _replaced(parallel.map_in_threads, mapped), _replaced(parallel.run_pieces, in_pieces), _timing(root):
        yield


@contextmanager
def _replaced(function: Callable[..., Any], other: Callable[..., Any]) -> Iterator[None]:
    """Replace a function in all modules of the package inside the block."""
    name = function.__name__
    modules = [module for key, module in sys.modules.items() if key.startswith("propkernels.")]
    holders = [module for module in modules if getattr(module, name, None) is function]
    for module in holders:
        setattr(module, name, other)
    try:
        yield
    finally:
        for module in holders:
            setattr(module, name, function)


def _timed(function: Callable[[Any], Any], item: Any, shared: Shared, current: list[Item]) -> Any:
    """Return the result of an item, whose time is recorded."""
    shared.items.append(Item())
    current.append(shared.items[-1])
    try:
        with _timing(current[-1]):
            return function(item)
    finally:
        current.pop()


@contextmanager
def _timing(item: Item) -> Iterator[None]:
    start = time.process_time()
    yield
    item.seconds = time.process_time() - start


def _step() -> str:
    """Return the step of a fit that shares items."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_name not in STEPS:
        frame = frame.f_back
    return REST if frame is None else STEPS[frame.f_code.co_name]


def chains_of(name: str, cores: int) -> tuple[Item, float]:
    """Return the steps of a default fit, and seconds on one core: best of some, after a fit to compile."""
    import propkernels as pk

    data, fits = load(name), []
    model = pk.PropagationClassifier(random_state=0, n_jobs=cores)
    model.fit(data.graphs, data.target)
    for _ in range(REPEATS):
        root, alone = Item(), Item()
        with one_by_one(root, cores):
            model.set_params(n_jobs=cores).fit(data.graphs, data.target)
        with _timing(alone):
            model.set_params(n_jobs=1).fit(data.graphs, data.target)
        fits.append((root, alone.seconds))
    return min((root for root, _ in fits), key=lambda root: root.chain), min(seconds for _, seconds in fits)


def rows_of(name: str, fit: Item, one_core: float) -> list[str]:
    """Return rows of the table: the steps of a fit, with what lies between them, all, and the bound."""
    found = {step: [0.0, 0.0] for step in [*STEPS.values(), REST]}
    for call in fit.calls:
        found[call.name][0] += call.work
        found[call.name][1] += call.chain
    between = fit.seconds - sum(work for work, _ in found.values())
    found[REST] = [seconds + between for seconds in found[REST]]
    found["all of it"] = [fit.seconds, fit.chain]
    found["**all of it, work on one core**"] = [one_core, fit.chain]
    return [
        f"| {name} | {step} | {1e3 * work:,.0f} | {1e3 * chain:,.0f} | {work / chain:.1f} |"
        for step, (work, chain) in found.items()
        if chain > 0
    ]


def table(fits: dict[str, tuple[Item, float]], cores: int) -> str:
    """Return the table of all fits."""
    head = [
        "Milliseconds of processor time of a fit whose items are computed one after the other, cut for "
        f"{cores} threads, and of its longest chain: the steps that must follow one another. With many "
        "threads, machines of all graphs are fitted before it is known which one is chosen. The gain cannot "
        "exceed the work on one core over the chain.",
        "",
        "| data set | step | work | chain | work / chain |",
        "|---|---|--:|--:|--:|",
    ]
    return "\n".join([*head, *(row for name, fit in fits.items() for row in rows_of(name, *fit))])


def main() -> None:
    """Measure, print and, with ``--write``, put the table into docs/measured/benchmarks.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chains", description=__doc__)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--write", action="store_true", help="put the table into docs/measured/benchmarks.md")
    options = parser.parse_args()
    fits = {name: chains_of(name, options.cores) for name in DATASETS if is_present(name)}
    text = table(fits, options.cores)
    print(text)
    if options.write:
        put("measured/benchmarks.md", "chains", text)


if __name__ == "__main__":
    main()

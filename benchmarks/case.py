"""Case, Settings and Result: what is measured, how hard, and what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Call = Callable[[], Any]
Prepare = Callable[[Any, int], Call]  # (data set, threads) -> the call to be timed


@dataclass(frozen=True)
class Settings:
    """How hard to measure.

    Attributes
    ----------
    repeats : int
        The least number of repeats, of which the best counts.
    seconds : float
        Short calls are repeated more often, for about this long.
    patience : float
        Long calls are repeated less often, for at most about this long.
    threads : tuple of int
        Values of n_jobs; the linear algebra library gets as many threads.
    peer_limit : float
        Seconds after which a peer's single call is given up.
    quick : bool
    """

    repeats: int = 7
    seconds: float = 3.0
    patience: float = 90.0
    threads: tuple[int, ...] = (1, 2)
    peer_limit: float = 300.0
    quick: bool = False


QUICK = Settings(repeats=3, seconds=0.5, patience=3.0, peer_limit=75.0, quick=True)


@dataclass(frozen=True)
class Case:
    """One line of a table of cases.

    Attributes
    ----------
    name : str
        What ``--only`` takes.
    dataset : str or None
        Data set to load, outside of the timing.
    prepare : callable
        ``prepare(data, threads)`` returns the call to be timed.
    seconds, megabytes : float or None
        Targets.
    slow : bool
        Left out in quick mode.
    """

    name: str
    dataset: str | None
    prepare: Prepare
    seconds: float | None = None
    megabytes: float | None = None
    slow: bool = False


@dataclass
class Result:
    """One measurement: a line of the report.

    Attributes
    ----------
    case, group, dataset : str
    threads : int or None
    unit : {"s", "MB", "times"}
    measured : float or None
        None where nothing could be measured; then ``status`` says why.
    target : float or None
    at_least : bool
        Whether more is better.
    bound : {"", ">", "<"}
        Set where the truth is only known to lie above or below ``measured``.
    status : {"measured", "absent", "timed out", "failed"}
    processor : float or None
        Seconds of all processors together: what another program's load changes least.
    part : str
        The part of the case that was measured: a stage.
    note : str
    details : dict
        All statistics; for the JSON.
    """

    case: str
    group: str
    dataset: str | None = None
    threads: int | None = None
    unit: str = "s"
    measured: float | None = None
    target: float | None = None
    at_least: bool = False
    bound: str = ""
    status: str = "measured"
    processor: float | None = None
    part: str = ""
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Met or missed and by what factor; the status where nothing was measured."""
        if self.measured is None:
            return self.status
        if self.target is None:
            return ""
        good = self.measured / self.target if self.at_least else self.target / self.measured
        if good < 1 and self.bound:
            return "unknown"
        return f"met, {good:.3g} x better" if good >= 1 else f"missed by {1 / good:.3g} x"


def estimator(name: str, **parameters: Any) -> Prepare:
    """Prepare ``NAME(...).fit_transform(graphs)`` of a kernel, whose class is looked up when a case runs."""

    def prepare(data: Any, threads: int) -> Call:
        model = build(name, threads, parameters)
        return lambda: model.fit_transform(data.graphs)

    return prepare


def build(name: str, threads: int, parameters: dict[str, Any]) -> Any:
    """Construct an estimator, with threads and a seed where it has such parameters."""
    from propkernels import kernels

    cls = getattr(kernels, name)
    known = cls().get_params()
    common = {key: value for key, value in (("n_jobs", threads), ("random_state", 0)) if key in known}
    return cls(**common, **parameters)

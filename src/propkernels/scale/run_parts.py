"""run_parts: compute the missing files of a plan on any executor, with retries after lost workers."""

from __future__ import annotations

import errno
import os
from collections import Counter, deque
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

from propkernels._utils.progress import ProgressBar
from propkernels._utils.safe_files import NO_SPACE, atomic_write
from propkernels.scale.executors import Engine, is_worker_loss, resolve_executor
from propkernels.scale.folder import (
    HashedStream,
    Manifest,
    OutputFolder,
    Receipt,
    confirmed_digest,
    write_checksum,
)
from propkernels.scale.plan import Part, Plan

MOST_FAILURES = 3  # attempts per part
MOST_LOSSES = 5  # worker losses per part tolerated while other parts were running
MOST_BREAKS = 10  # worker losses tolerated before the first part is complete
IN_FLIGHT_PER_WORKER = 2
MOST_NAMED = 5


class Work(Protocol):
    """Computation of one part; pickled and sent to workers.

    :class:`propkernels.scale.featurizing.FeatureWork` is an example.
    """

    @property
    def suffix(self) -> str:
        """Suffix of the files, such as ".parquet"."""

    @property
    def n_jobs(self) -> int | None:
        """Number of threads if there is no executor."""

    def describe(self) -> dict[str, Any]:
        """Return everything except the part that determines the output, as JSON."""

    def write(self, part: Part, name: str, stream: IO[bytes]) -> None:
        """Compute a part and write it sequentially; every run writes the same bytes."""

    def inspect(self, part: Part, name: str, path: Path) -> dict[str, int]:
        """Return counts of a file ("n_graphs", ...); raise ValueError if it is damaged."""


class PartsFailedError(ValueError):
    """Parts failed; all other parts are complete.

    Attributes
    ----------
    failures : dict
        Part and error message, by the number of the part.

    See Also
    --------
    featurize : Run it again after removing the cause; complete parts are kept.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> folder = tempfile.TemporaryDirectory()
    >>> for seed in range(2):
    ...     data = pk.datasets.make_molecules(100, random_state=seed)
    ...     data.graphs.to_parquet(f"{folder.name}/graphs{seed}.parquet")
    >>> plan = pk.partition(folder.name)
    >>> data.graphs[:50].to_parquet(f"{folder.name}/graphs1.parquet")
    >>> try:
    ...     pk.featurize(plan, pk.WeisfeilerLehmanFeatures(n_features=2**20), f"{folder.name}/features")
    ... except pk.scale.PartsFailedError as error:
    ...     print(list(error.failures))
    [1]
    >>> folder.cleanup()
    """

    def __init__(self, failures: dict[int, tuple[Part, str]], n_parts: int) -> None:
        self.failures, self.n_parts = failures, n_parts
        shown = list(failures.items())[:MOST_NAMED]
        named = "; ".join(f"part {i} ({part}): {reason}" for i, (part, reason) in shown)
        more = "; ..." if len(failures) > MOST_NAMED else ""
        super().__init__(f"{len(failures)} of {n_parts} parts failed, all others are complete: {named}{more}")

    def __reduce__(self) -> Any:
        return type(self), (self.failures, self.n_parts)


def run_parts(
    plan: Plan, work: Work, out: Any, executor: Any = None, *, text: str = "Computing parts"
) -> Manifest:
    """Compute the missing parts of a plan in an output folder.

    Parameters
    ----------
    plan : Plan
    work : Work
    out : str or path
        Output folder, created if missing and locked during the run.
    executor : optional
        See :func:`propkernels.featurize`.
    text : str
        Text of the progress bar.

    Returns
    -------
    Manifest

    Raises
    ------
    PartsFailedError
        If parts failed three times; all others are complete.
    OSError
        If the disk is full; complete parts are kept, and the next run resumes.
    """
    folder = OutputFolder(Path(os.fspath(out)), plan, work.describe(), work.suffix)
    with folder.opened():
        todo = [i for i, receipt in enumerate(folder.receipts) if receipt is None]
        if not todo and (folder.path / "manifest.json").exists():
            return folder.write_manifest()
        engine = resolve_executor(executor, work.n_jobs)
        run = _Run(folder, work, engine, todo)
        try:
            try:
                with ProgressBar(text, total=len(plan), done=len(plan) - len(todo)) as bar:
                    run.complete(bar)
            finally:
                run.cancel()
                engine.close()
        except BaseException:
            with suppress(OSError):  # the first error, such as a full disk, is reported
                folder.write_manifest()
            raise
        manifest = folder.write_manifest()
    if run.failures:
        failed = {i: (plan.parts[i], reason) for i, reason in sorted(run.failures.items())}
        raise PartsFailedError(failed, len(plan))
    return manifest


def compute_part(work: Work, part: Part, folder: str, name: str) -> Receipt:
    """Write the file of a part unless it exists with a checksum, and return its receipt; runs on a worker."""
    path = Path(folder) / name
    digest = confirmed_digest(path) if path.exists() else None
    if digest is None:
        with atomic_write(path, follow_links=False) as stream:
            hashed = HashedStream(stream)
            work.write(part, name, hashed)
            digest = hashed.sha256
            write_checksum(path, digest)  # before the file: an existing file always has its checksum
    return Receipt(name, path.stat().st_size, digest, work.inspect(part, name, path))


class _Run:
    """State of a run: parts waiting, in flight, complete and failed."""

    def __init__(self, folder: OutputFolder, work: Work, engine: Engine, todo: list[int]) -> None:
        self.folder, self.work, self.engine = folder, work, engine
        self.waiting, self.suspects = deque(todo), deque[int]()
        self.flight: dict[Future[Any], int] = {}
        self.failures: dict[int, str] = {}
        self.tries, self.losses = Counter[int](), Counter[int]()
        self.full: OSError | None = None
        self.n_breaks = 0

    def complete(self, bar: ProgressBar) -> None:
        """Compute all waiting parts, a bounded number at a time."""
        while self.waiting or self.suspects or self.flight:
            self._submit()
            for future in self.engine.wait(self.flight):
                bar.step(self._take(future))
            if self.full is not None:
                self._stop()

    def cancel(self) -> None:
        """Cancel parts that have not started."""
        self.engine.cancel(self.flight)

    def _submit(self) -> None:
        """Submit parts to idle workers; parts suspected of killing workers run last, one at a time."""
        most = IN_FLIGHT_PER_WORKER * self.engine.n_workers() if self.waiting else 1
        queue = self.waiting or self.suspects
        while queue and len(self.flight) < most and (queue is self.waiting or not self.flight):
            i = queue.popleft()
            part, name = self.folder.plan.parts[i], self.folder.names[i]
            try:
                future = self.engine.submit(compute_part, self.work, part, str(self.folder.path), name)
            except BrokenExecutor:
                queue.appendleft(i)
                self._renew()
            else:
                self.flight[future] = i

    def _take(self, future: Future[Any]) -> int:
        """Record the outcome of a part; return the number of parts finished by it (complete or failed)."""
        i = self.flight.pop(future, None)
        if i is None:  # already recorded when the pool was renewed
            return 0
        try:
            self.folder.receipts[i] = future.result()
            return 1
        except BaseException as error:
            if isinstance(error, OSError) and error.errno in NO_SPACE:
                self.full = error
                return 0
            if is_worker_loss(error):
                return self._lose(i)
            if not isinstance(error, Exception):
                raise
            return self._fail(i, error)

    def _fail(self, i: int, error: Exception) -> int:
        self.tries[i] += 1
        if self.tries[i] < MOST_FAILURES:
            self.waiting.append(i)
            return 0
        self.failures[i] = " ".join(str(error).split()) or type(error).__name__
        return 1

    def _lose(self, i: int) -> int:
        """Count the loss of a part's worker, and renew the engine."""
        finished = self._count_loss(i)
        return finished + (self._renew() if self.engine.loses_all else self._check())

    def _count_loss(self, i: int) -> int:
        """Queue a part again, first among others, then alone: a part whose worker dies alone has failed."""
        self.losses[i] += 1
        if self.losses[i] < MOST_LOSSES:
            self.waiting.append(i)
        elif self.losses[i] < MOST_LOSSES + MOST_FAILURES:
            self.suspects.append(i)
        else:
            self.failures[i] = (
                f"its worker died {self.losses[i]} times, perhaps out of memory: try a smaller nodes_per_part"
            )
            return 1
        return 0

    def _check(self) -> int:
        """Renew the engine; raise RuntimeError if workers die before any part is complete."""
        self.n_breaks += 1
        if self.n_breaks >= MOST_BREAKS and not any(self.folder.receipts):
            raise RuntimeError(
                "workers die before they complete a part: a script that starts processes needs "
                'if __name__ == "__main__", and parts need less memory than a worker has'
            )
        self.engine.renew()
        return 0

    def _renew(self) -> int:
        """Replace a broken pool; parts in flight count as lost unless they had ended."""
        wait(self.flight)
        finished = 0
        for future, i in list(self.flight.items()):
            error = CancelledError() if future.cancelled() else future.exception()
            if error is None or not is_worker_loss(error):
                finished += self._take(future)
            else:
                del self.flight[future]
                finished += self._count_loss(i)
        self._check()
        return finished

    def _stop(self) -> None:
        """Let running parts end, and raise OSError: the disk is full."""
        self.waiting.clear()
        self.suspects.clear()
        self.cancel()
        wait(self.flight)
        for future in list(self.flight):
            if not future.cancelled():
                self._take(future)
        done = sum(receipt is not None for receipt in self.folder.receipts)
        reason = self.full.strerror if self.full is not None else ""
        error = OSError(
            f"the disk of {self.folder.path} is full ({reason}): {done} of {len(self.folder.names)} parts "
            "are complete; free some space and run again to resume"
        )
        error.errno = errno.ENOSPC
        raise error

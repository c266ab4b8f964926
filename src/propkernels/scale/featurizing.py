"""featurize: compute the features of a plan, one Parquet file per part, on any executor."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from propkernels._utils.checks import check_integer, shown
from propkernels._utils.optional import import_optional
from propkernels._utils.parallel import thread_count, workers
from propkernels._utils.progress import LOG, ProgressBar
from propkernels._utils.safe_files import NO_SPACE, atomic_write
from propkernels._utils.typing import Estimator, PathLike
from propkernels.graphs.database import GraphDatabase
from propkernels.scale.opened import FeatureFolder, open_features, schema_of, write_blocks, write_manifest
from propkernels.scale.partition import iter_part, partition
from propkernels.scale.pure import PureFeatures, pure_features
from propkernels.scale.readers import Part, Plan

if TYPE_CHECKING:
    from distributed import Client

# A number of processes, an executor, a Dask client or cluster, or the address of a Dask scheduler
ExecutorLike: TypeAlias = "Executor | Client | int | str | None"
SAMPLE = 100  # graphs used to resolve "auto"
MOST_STALLS = 3  # rounds in a row in which workers were lost and no part was completed
MOST_NAMED = 5  # failed parts in a message
LOST = ("KilledWorker", "FutureCancelledError", "FuturesCancelledError", "CommClosedError")  # errors of Dask


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
    >>> plan = pk.scale.partition(folder.name)
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
        named = [f"part {i} ({part}): {reason}" for i, (part, reason) in sorted(failures.items())]
        more = "; ..." if len(named) > MOST_NAMED else ""
        text = "; ".join(named[:MOST_NAMED]) + more
        super().__init__(f"{len(failures)} of {n_parts} parts failed, all others are complete: {text}")

    def __reduce__(self) -> tuple[type[PartsFailedError], tuple[Any, ...]]:
        return type(self), (self.failures, self.n_parts)


def featurize(
    plan: Plan | PathLike | Sequence[PathLike],
    features: Estimator,
    out: PathLike,
    executor: ExecutorLike = None,
) -> FeatureFolder:
    """Compute features of all graphs of a plan and write one Parquet file per part.

    A file is either complete or absent, computing it again gives the same bytes, and all executors write the
    same files. After an interruption, a second run computes the missing parts.

    Parameters
    ----------
    plan : Plan, or source accepted by :func:`~propkernels.scale.partition`
    features : estimator
        PropagationFeatures, WeisfeilerLehmanFeatures, ShortestPathFeatures or LabelHistogramFeatures with
        ``n_features`` and an integer ``random_state``. Features that learn from graphs (attributes, missing
        labels) must be fitted on a sample first.
    out : str or path
        Output folder. Its files have the columns ``graph_id`` (the number of the graph in the plan),
        ``indices`` and ``counts`` (lists) and ``target``; ``features.json`` lists them.
    executor : optional
        None: ``features.n_jobs`` threads of this process. An integer: number of processes. An executor of
        ``concurrent.futures`` (ProcessPoolExecutor, loky), a Dask ``Client`` or cluster, or the address of a
        Dask scheduler ("tcp://..."): workers need access to the same files. Parts of lost workers are
        submitted again, as long as others are completed.

    Returns
    -------
    FeatureFolder
        Same as ``open_features(out)``.

    Raises
    ------
    PartsFailedError
        If parts failed; the message names their files and rows. All other parts are complete.
    OSError
        If the disk is full.
    ValueError
        If the folder holds features of other graphs or with other parameters; nothing is changed.

    See Also
    --------
    propkernels.scale.partition : Make the plan.
    propkernels.scale.open_features : Read the features.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(1000, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet", row_group_size=100)
    >>> plan = pk.scale.partition(f"{folder.name}/graphs.parquet", nodes_per_part=10_000)
    >>> features = pk.PropagationFeatures(n_features=2**20, random_state=0)
    >>> pk.featurize(plan, features, f"{folder.name}/features")
    FeatureFolder(1,000 graphs, 1,048,576 columns, 4 parts)
    >>> folder.cleanup()
    """
    plan = plan if isinstance(plan, Plan) else partition(plan)
    pure = pure_features(features, _sample_of(plan))
    names = [f"part-{i:05}-{part.digest(pure.description)[:16]}.parquet" for i, part in enumerate(plan)]
    folder = Path(os.fspath(out))
    folder.mkdir(parents=True, exist_ok=True)
    write_manifest(folder, pure.description, names)
    places = [folder / name for name in names]
    with workers(getattr(features, "n_jobs", None)):
        failures = _complete(pure, plan, places, executor)
    if failures:
        raise PartsFailedError({i: (plan.parts[i], reason) for i, reason in failures.items()}, len(plan))
    return open_features(out)


def _sample_of(plan: Plan) -> GraphDatabase:
    """Return graphs of the first part that has some; unreadable parts are reported later."""
    first: Exception | None = None
    for part in plan:
        try:
            graphs = next(iter_part(part)).graphs[:SAMPLE]
        except (ValueError, OSError, StopIteration) as error:
            first = first or error
        else:
            if len(graphs):
                return graphs
    reason = "" if first is None else f": {plan.parts[0]}: {first}"
    raise ValueError(f"no graph of the plan can be read{reason}")


def _complete(
    features: PureFeatures, plan: Plan, places: list[Path], executor: ExecutorLike
) -> dict[int, str]:
    """Write the files that are missing; return the reasons of parts that failed, by their number."""
    todo = [i for i, place in enumerate(places) if not place.exists()]
    failures: dict[int, str] = {}
    stalls = 0
    with ProgressBar("Featurizing", total=len(plan), done=len(plan) - len(todo)) as bar:
        while todo and stalls < MOST_STALLS:
            lost: list[int] = []
            with _pool(executor) as pool:
                futures = {pool.submit(write_part, features, plan.parts[i], str(places[i])): i for i in todo}
                try:
                    for future in as_completed(futures):
                        try:
                            future.result()
                        except Exception as error:
                            if _is_lost(error):
                                lost.append(futures[future])
                                continue
                            if isinstance(error, OSError) and error.errno in NO_SPACE:
                                raise
                            failures[futures[future]] = " ".join(str(error).split()) or type(error).__name__
                            LOG.warning("%s failed: %s", plan.parts[futures[future]], error)
                        else:
                            LOG.info("%s is written", places[futures[future]])
                        bar.step()
                finally:
                    for future in futures:
                        future.cancel()
            stalls = stalls + 1 if len(lost) == len(todo) else 0
            todo = sorted(lost)
    why = (
        "its worker was lost again and again, perhaps out of memory: try a smaller nodes_per_part; a script "
        'that starts processes also needs if __name__ == "__main__"'
    )
    return failures | dict.fromkeys(todo, why)


def write_part(features: PureFeatures, part: Part, path: str) -> None:
    """Write the features of a part, unless they are there; runs on a worker."""
    if os.path.exists(path):
        return
    schema = schema_of(part.target, features.is_whole, features.description)
    read = (block for block in iter_part(part) if len(block.graphs))  # all rows may have been left out
    blocks = ((features.transform(block.graphs), block) for block in read)
    with atomic_write(path, follow_links=False) as stream:
        write_blocks(stream, schema, blocks)


@contextmanager
def _pool(executor: Any) -> Iterator[Executor]:
    """Yield an executor of ``concurrent.futures`` for an ``executor`` argument."""
    if executor is None:
        name = f"featurize {secrets.token_hex(8)}"
        threads = ThreadPoolExecutor(thread_count(), thread_name_prefix=name)
        try:
            yield threads
        finally:
            threads.shutdown(cancel_futures=True)
            # Ctrl-C while a thread starts leaves one that the pool does not know, and that may write a file
            while any(thread.name.startswith(name) for thread in threading.enumerate()):
                time.sleep(0.01)
    elif isinstance(executor, int) and not isinstance(executor, bool):
        context = multiprocessing.get_context("spawn")  # forking a process with threads is not safe
        n_workers = check_integer(executor, "executor", 1)
        with ProcessPoolExecutor(n_workers, context, _start_worker) as processes:
            yield processes
    elif isinstance(executor, str):
        distributed = import_optional("distributed", extra="dask", purpose="clusters need")
        with distributed.Client(executor) as client, _pool(client) as pool:
            yield pool
    elif hasattr(executor, "get_executor"):  # a Dask client
        if executor.status not in ("running", "connecting"):
            raise ConnectionError("the connection to the Dask scheduler was lost: run again to resume")
        yield executor.get_executor(pure=False)  # a call that failed is not remembered
    elif hasattr(executor, "get_client"):  # a Dask cluster
        with executor.get_client() as client, _pool(client) as pool:
            yield pool
    elif hasattr(executor, "submit"):
        yield executor
    else:
        raise TypeError(
            "executor must be None, a number of processes, an executor of concurrent.futures, a Dask client "
            f"or the address of a Dask scheduler; got {shown(executor)}"
        )


def _start_worker() -> None:
    """Let a worker process ignore Ctrl-C, which its parent handles, and end when its parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _is_lost(error: Exception) -> bool:
    """Whether an error means that a worker was lost, not that its work failed."""
    kind = type(error)
    of_dask = kind.__module__.partition(".")[0] == "distributed" and kind.__name__ in LOST
    return of_dask or isinstance(error, (BrokenExecutor, CancelledError))

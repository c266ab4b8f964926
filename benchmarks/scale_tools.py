"""Files of graphs and clusters of Dask for :mod:`benchmarks.scale`, whose workers preload this module."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

GRAPHS_PER_FILE = 100_000
N_FEATURES = 2**20


def generate(folder: Path, n_graphs: int, graphs_per_file: int = GRAPHS_PER_FILE) -> Path:
    """Write molecule-like graphs to Parquet files, in two processes."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [(folder / f"graphs{i:04}.parquet", i) for i in range(-(-n_graphs // graphs_per_file))]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(write_file, *zip(*tasks, strict=True), [graphs_per_file] * len(tasks)))
    return folder


def write_file(path: Path, seed: int, n_graphs: int) -> None:
    import propkernels as pk

    if not path.exists():
        data = pk.datasets.make_molecules(n_graphs, random_state=seed)
        data.graphs.to_parquet(path, target=data.target)


def estimator() -> Any:
    import propkernels as pk

    return pk.PropagationFeatures(n_features=N_FEATURES, random_state=0)


@contextmanager
def cluster(n_workers: int, preload: bool = False) -> Iterator[Any]:
    """Workers of Dask, one thread each; ``preload``: they import everything before they take work."""
    import dask
    import distributed

    settings: dict[str, Any] = {
        "distributed.deploy.lost-worker-timeout": "300s",  # 15 s are too few under load
        "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,  # as docs/guide/scale.md says
    }
    options = {"preload": ["benchmarks.scale_tools"]} if preload else {}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50, **options
        ) as found,
    ):
        yield found


def dask_setup(worker: Any) -> None:
    """Load all compiled loops before a worker registers, so that short lives suffice for a part.

    Dask calls this when a worker that preloads this module starts.
    """
    import propkernels as pk

    with tempfile.TemporaryDirectory() as folder:
        pk.datasets.make_molecules(20, random_state=0).graphs.to_parquet(f"{folder}/graphs.parquet")
        pk.featurize(f"{folder}/graphs.parquet", estimator(), f"{folder}/features")

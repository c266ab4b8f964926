"""What a worker does before it registers: load all compiled loops, so that short lives suffice for a part."""

from __future__ import annotations

import tempfile
from typing import Any


def dask_setup(worker: Any) -> None:
    """Called by Dask when a worker with ``--preload benchmarks.scale_worker`` starts."""
    import propkernels as pk
    from benchmarks.scale import estimator

    with tempfile.TemporaryDirectory() as folder:
        pk.datasets.make_molecules(20, random_state=0).graphs.to_parquet(f"{folder}/graphs.parquet")
        pk.featurize(f"{folder}/graphs.parquet", estimator(), f"{folder}/features")

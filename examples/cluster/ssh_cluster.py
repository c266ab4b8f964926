"""Featurize files of graphs on machines that are reached by SSH; run it again to resume."""

from __future__ import annotations

import argparse

import propkernels as pk


def main() -> None:
    """Start a scheduler on the first host, workers on the others, and compute what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="files or a folder of graphs, on a file system that all hosts share")
    parser.add_argument("out", help="folder of the features, on that file system")
    parser.add_argument("--hosts", nargs="+", required=True, help="the scheduler's host, then the workers'")
    parser.add_argument("--workers-per-host", type=int, default=8)
    parser.add_argument("--n-features", type=int, default=2**20)
    chosen = parser.parse_args()

    import dask
    from distributed import SSHCluster

    # arrays keep their memory, which saves a third of the time (docs/guide/scale.md)
    dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25})

    plan = pk.scale.partition(chosen.source)
    print(plan)
    features = pk.PropagationFeatures(n_features=chosen.n_features, random_state=0)
    workers = {"nthreads": 1, "n_workers": chosen.workers_per_host, "memory_limit": "1500MB"}
    with SSHCluster(chosen.hosts, worker_options=workers) as cluster:
        print(pk.featurize(plan, features, chosen.out, cluster))


if __name__ == "__main__":
    main()

"""Time and memory of graphs in time: ``python -m benchmarks.contacts [--contacts 10000000]``.

Random contacts of groups of twenty people become graphs, and a Weisfeiler-Lehman kernel with t_max = 3 counts
the surroundings of their nodes.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pandas as pd

import propkernels as pk

PER_GRAPH = 200  # contacts


def random_contacts(n_contacts: int, seed: int) -> pd.DataFrame:
    """Return contacts of groups of twenty people, at whole minutes of a day."""
    rng = np.random.default_rng(seed)
    first, step = rng.integers(20, size=n_contacts), rng.integers(1, 20, size=n_contacts)
    return pd.DataFrame(
        {
            "graph": np.arange(n_contacts) // PER_GRAPH,
            "source": first,
            "target": (first + step) % 20,
            "time": rng.integers(1440, size=n_contacts),
        }
    )


def peak() -> float:
    """Return the largest memory of the process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Print processor seconds and peak memory of the conversion and of the features."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contacts", type=int, default=10**7)
    parser.add_argument("--time", default="forward", choices=("forward", "both", "static"))
    options = parser.parse_args()
    table = random_contacts(options.contacts, 0)
    print(f"{options.contacts:,} contacts, {peak():.1f} GB")
    start = time.process_time()
    graphs = pk.from_contacts(table)
    print(f"from_contacts: {time.process_time() - start:.1f} s, {peak():.1f} GB\n{graphs}", flush=True)
    start = time.process_time()
    features = pk.WeisfeilerLehmanFeatures(t_max=3, time=options.time, n_features=2**20).fit_transform(graphs)
    seconds = time.process_time() - start
    print(f"features, {options.time}: {seconds:.1f} s, {peak():.1f} GB, {features.nnz:,} counts")


if __name__ == "__main__":
    main()

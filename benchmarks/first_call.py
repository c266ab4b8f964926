"""Time a fresh process from before ``import propkernels`` to a kernel matrix: ``first_call DATASET``."""

from time import perf_counter

started = perf_counter()

import sys  # noqa: E402

import propkernels as pk  # noqa: E402


def main(name: str) -> None:
    """Load, compute, print the seconds since the start of this file."""
    graphs = pk.datasets.load(name).graphs
    loaded = perf_counter() - started
    kernel = pk.PropagationKernel(t_max=10, random_state=0).fit_transform(graphs)
    seconds = perf_counter() - started
    print(f'{{"loaded": {loaded}, "seconds": {seconds}, "graphs": {len(kernel)}}}')


if __name__ == "__main__":
    main(sys.argv[1])

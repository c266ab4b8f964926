"""Time a fresh process from before ``import propkernels`` to a kernel matrix: ``first_call DATASET [plain]``.

With "plain" pandas cannot be imported, as where only the package itself is installed.
"""

from time import perf_counter

started = perf_counter()

import sys  # noqa: E402

if sys.argv[2:] == ["plain"]:
    sys.modules["pandas"] = None  # type: ignore[assignment]

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

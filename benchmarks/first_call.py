"""Compute a kernel matrix in a fresh process, and say when it is there: ``first_call DATASET [plain]``.

With "plain" pandas cannot be imported, as where only the package itself is installed.
"""

import sys
from time import time

if sys.argv[2:] == ["plain"]:
    sys.modules["pandas"] = None  # type: ignore[assignment]

import propkernels as pk


def main(name: str) -> None:
    """Load, compute, print the time."""
    graphs = pk.datasets.load(name).graphs
    kernel = pk.PropagationKernel(t_max=10, random_state=0).fit_transform(graphs)
    print(f'{{"answered": {time()}, "graphs": {len(kernel)}}}')


if __name__ == "__main__":
    main(sys.argv[1])

"""What the default model costs beside one folded kernel: ``python -m benchmarks.default_model [MUTAG ...]``.

``PropagationClassifier()`` and a model of one kernel, with the kernel's t_max, are fitted on the same
graphs, and predict and explain them in turn, in one process and one thread: processor time, the
smallest of several rounds, which other work on the machine lengthens least. Then the default model
predicts single graphs. BBBP comes from ``moleculenet.zip`` in the folder that PROPKERNELS_DATA names.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

DATA = ("MUTAG", "NCI1", "BBBP", "BZR")
PREDICT, EXPLAIN, SINGLE = 4.0, 6.0, 4.0  # largest ratios, and milliseconds of a single graph
ROUNDS = 7
GRAPHS = 40  # that are predicted one by one


def folded_kernel(name: str) -> Any:
    """Return the kernel to compare with; of BZR, the one with attributes that is chosen most often."""
    import propkernels as pk

    if name == "BZR":
        return pk.PropagationKernel(attributes="sum", base_kernel="intersection", n_hashes=6)
    return pk.PropagationKernel()


def data_of(name: str) -> tuple[Any, Any]:
    """Return graphs and classes of a data set."""
    from benchmarks.counterfactuals import molecules
    from benchmarks.data import load

    if name == "BBBP":
        return molecules(name)
    data = load(name)
    return data.graphs, data.target


def milliseconds(calls: Sequence[Callable[[], Any]], rounds: int = ROUNDS) -> list[float]:
    """Return the processor time of each call, the smallest of several rounds in turn, after one more."""
    times = np.full((rounds + 1, len(calls)), np.inf)
    for row in times:
        for number, call in enumerate(calls):
            before = time.process_time()
            call()
            row[number] = 1000 * (time.process_time() - before)
    return [float(value) for value in times[1:].min(axis=0)]


def measure(graphs: Any, target: Any, kernel: Any, rounds: int = ROUNDS) -> dict[str, float]:
    """Return ratios of the default model to one folded kernel, and milliseconds of a single graph."""
    import propkernels as pk

    default = pk.PropagationClassifier(random_state=0).fit(graphs, target)
    settings = {"kernel": kernel, "t_max": kernel.t_max, "C": 1.0, "normalize": None}
    folded = pk.PropagationClassifier(**settings, random_state=0).fit(graphs, target)
    predict = milliseconds([lambda: default.predict(graphs), lambda: folded.predict(graphs)], rounds)
    explain = milliseconds([lambda: default.explain(graphs), lambda: folded.explain(graphs)], rounds)
    chosen = np.random.default_rng(0).choice(len(graphs), min(GRAPHS, len(graphs)), replace=False)
    singles = [graphs[[number]] for number in chosen]
    single = [milliseconds([lambda one=one: default.predict(one)], rounds)[0] for one in singles]  # type: ignore[misc]
    return {
        "predict": predict[0] / predict[1],
        "explain": explain[0] / explain[1],
        "single, ms": float(np.median(single)),
        "members": float(len(default.rule_.members)),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one row per data set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.default_model", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(DATA), metavar="NAME")
    names = parser.parse_args(arguments).names
    print(
        f"{'data':8}{'predict':>10}{'at most':>9}{'explain':>10}{'at most':>9}{'single, ms':>12}{'below':>7}"
    )
    for name in names:
        found = measure(*data_of(name), folded_kernel(name))
        ratios = f"{found['predict']:>10.1f}{PREDICT:>9.0f}{found['explain']:>10.1f}{EXPLAIN:>9.0f}"
        members = f"  {found['members']:.0f} members"
        print(f"{name:8}{ratios}{found['single, ms']:>12.1f}{SINGLE:>7.0f}{members}", flush=True)


if __name__ == "__main__":
    main()

"""How many edited graphs per second a model decides about: ``python -m benchmarks.counterfactuals``.

Molecules come from ``moleculenet.zip`` in the folder that PROPKERNELS_DATA names.
Seconds are those of the one thread that works. Decisions of the compiled loops are checked against the whole
pipeline on a sample, which is timed too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

TARGET = 10_000  # single edits per second, on one core
GRAPHS = 20
SAMPLE = 500
TRAINING = 1000  # graphs


def models() -> dict[str, Any]:
    """Models of single kernels, and the one that is chosen by cross-validation among all default kernels."""
    import propkernels as pk

    kernels = {
        "walk, t_max=10": pk.PropagationKernel(t_max=10),
        "summed, t_max=10, normalized": pk.PropagationKernel(
            propagation=pk.Diffusion(0.5, "none"), t_max=10, normalize=True
        ),
        "WL, t_max=6, intersection": pk.WeisfeilerLehman(t_max=6, base_kernel="intersection"),
    }
    own = {
        name: pk.PropagationClassifier(
            kernel=kernel, t_max=_steps(kernel), C=1.0, normalize=None, random_state=0
        )
        for name, kernel in kernels.items()
    }
    return own | default_model(False)


def default_model(is_regression: bool) -> dict[str, Any]:
    """The model as it comes."""
    import propkernels as pk

    return {
        "default": pk.PropagationRegressor() if is_regression else pk.PropagationClassifier(random_state=0)
    }


def molecules(name: str) -> tuple[Any, Any]:
    """Graphs and target of a set of MoleculeNet, from ``moleculenet.zip``."""
    import propkernels as pk
    from reproduction.molecules.sets import load

    data = load(name)
    target = data.target[:, 0]
    return pk.MoleculesToGraphs().fit_transform(data.mols), target.astype(int) if data.is_class else target


def _steps(kernel: Any) -> int:
    return int(kernel.get_params()["t_max"])


def measure(model: Any, graphs: Any) -> tuple[int, float, float, float]:
    """Single edits of some graphs, seconds of all, those of the pipeline per edit, and the largest error."""
    from propkernels.explain.edit_engine import Engine
    from propkernels.explain.edits import Allowed, in_pairs
    from propkernels.explain.find_counterfactuals import Model, _editor, _fast, _slow

    view = Model(model._decisions, model.rule_, model.intercept_, True)
    n_edits, seconds, slow, error = 0, 0.0, [], 0.0
    for graph in graphs:
        one = graph.database
        editor, _, _ = _editor(model.rule_, one, Allowed(), None, False)
        edits = in_pairs(None, editor.single_edits())
        engine = Engine.of(model.rule_, one, editor.alphabet)
        assert engine is not None, "the pipeline would decide"
        decide = _fast(view, engine, False)
        decide(edits[:1])
        begin = time.thread_time()
        found = decide(edits)
        seconds += time.thread_time() - begin
        n_edits += len(edits)
        chosen = np.random.default_rng(0).choice(len(edits), min(SAMPLE // GRAPHS, len(edits)), replace=False)
        begin = time.thread_time()
        expected = _slow(view, editor, False)(edits[chosen])
        slow.append((time.thread_time() - begin) / len(chosen))
        error = max(error, float(np.abs(found[chosen] - expected).max()))
    return n_edits, seconds, float(np.median(slow)), error


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line per data set and model."""
    argparse.ArgumentParser(prog="python -m benchmarks.counterfactuals", description=__doc__).parse_args(
        arguments
    )
    from benchmarks.data import load

    head = f"{'data set':10}{'model':32}{'edits':>9}{'edits/s':>10}{'pipeline':>10}{'error':>10}"
    print(f"{head}  target {TARGET:,}/s")
    for name in ("MUTAG", "NCI1"):
        data = load(name)
        report(name, data.graphs, data.target, models())
    for name in ("BBBP", "ESOL"):
        report(name, *molecules(name), default_model(name == "ESOL"))


def report(name: str, graphs: Any, target: Any, several: dict[str, Any]) -> None:
    """Fit models and print their rates; default models learn from all graphs."""
    chosen = np.random.default_rng(0).choice(len(graphs), GRAPHS, replace=False)
    some = np.random.default_rng(1).permutation(len(graphs))[:TRAINING]
    for text, model in several.items():
        part = np.arange(len(graphs)) if text == "default" else some
        model.fit(graphs[part], target[part])
        best = min((measure(model, graphs[chosen]) for _ in range(3)), key=lambda m: m[1])
        n_edits, seconds, slow, error = best
        rate = n_edits / seconds
        verdict = "met" if rate >= TARGET else "missed"
        print(
            f"{name:10}{text:32}{n_edits:>9,}{rate:>10,.0f}{1 / slow:>10,.0f}{error:>10.1e}  {verdict}",
            flush=True,
        )


if __name__ == "__main__":
    main()

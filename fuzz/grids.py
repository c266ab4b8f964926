"""Random small grids: convolution beside diffusion on the same grid as a graph, and the usual invariances."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np

import propkernels as pk
from fuzz.cases import Case, same, try_to

Generator = np.random.Generator
NEIGHBORHOODS = ("nearest", (1, 4), (1, 8), (1.5, 6))


def random_grids(rng: Generator) -> pk.GridDatabase:
    """Images of one dimension with few labels; some pixels unobserved, some outside masks."""
    dimension, hidden = int(rng.choice([1, 2, 2, 2, 3])), float(rng.choice([0.0, 0.0, 0.2]))
    images, masks = [], []
    for _ in range(int(rng.integers(1, 4))):
        image = rng.integers(0, 3, size=rng.integers(1, 5, size=dimension))
        image[rng.random(image.shape) < hidden] = -1
        mask = rng.random(image.shape) < 0.8
        mask.flat[0] = True
        images.append(image)
        masks.append(mask if rng.random() < 0.3 else None)
    return pk.GridDatabase(images, masks)


def kernel(rng: Generator, grids: pk.GridDatabase, **parameters: object) -> pk.PropagationKernel:
    options = {"t_max": 3, "random_state": 0, "bin_width": float(rng.choice([1e-5, 0.3])), **parameters}
    return pk.PropagationKernel(**options)


def equal_to_graphs(grids: pk.GridDatabase, rng: Generator) -> None:
    """On the nearest neighbors, the renormalized convolution is the random walk on the finite grid."""
    known = grids.with_labels(np.where(grids.node_labels < 0, 0, grids.node_labels))
    estimator = kernel(rng, known, bin_width=1e-5)
    expected = estimator.set_params(propagation=pk.Diffusion()).fit_transform(known.to_graphs())
    same(estimator.set_params(propagation=pk.Convolution()).fit_transform(known), expected, "grids as graphs")


def batches(grids: pk.GridDatabase, rng: Generator) -> None:
    estimator = kernel(rng, grids)
    whole = try_to(lambda: estimator.fit(grids)).transform(grids)
    parts = [estimator.transform(grids[[i]]) for i in range(len(grids))]
    same(np.concatenate(parts), whole, "one at a time", exact=True)


def order(grids: pk.GridDatabase, rng: Generator) -> None:
    permutation = rng.permutation(len(grids))
    estimator = kernel(rng, grids)
    expected = try_to(lambda: estimator.fit_transform(grids))[np.ix_(permutation, permutation)]
    same(estimator.fit_transform(grids[permutation]), expected, "images in another order")


def copies(grids: pk.GridDatabase, rng: Generator) -> None:
    same(pickle.loads(pickle.dumps(grids)), grids, "pickled grids")
    same(pk.GridDatabase.concat(list(grids)), grids, "joined grids")


def neighborhoods(grids: pk.GridDatabase, rng: Generator) -> None:
    if grids.dimension != 2:
        return
    around = NEIGHBORHOODS[rng.integers(len(NEIGHBORHOODS))]
    boundary = ("renormalize", "zero", "wrap", "reflect")[rng.integers(4)]
    scheme = pk.Convolution(around, boundary=boundary)
    first, again = (
        try_to(
            lambda n=n: kernel(rng, grids, propagation=scheme, bin_width=0.3, n_jobs=n).fit_transform(grids)
        )
        for n in (1, 2)
    )
    same(again, first, f"{around} {boundary} in two threads", exact=True)


CHECKS: dict[str, Callable[[pk.GridDatabase, Generator], None]] = {
    function.__name__: function for function in (equal_to_graphs, batches, order, copies, neighborhoods)
}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 6])
    names = sorted(CHECKS)
    return Case("grids", seed, names[rng.integers(len(names))])


def run(case: Case) -> None:
    rng = np.random.default_rng([case.seed, 7])
    CHECKS[case.check](random_grids(rng), rng)

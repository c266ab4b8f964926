"""Training graphs, folds and similarities that the tests of scores share."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.novelty.novelty_scores import Training
from propkernels.search.index import GraphIndex

GRAPHS = pk.datasets.make_molecules(30, random_state=1, mean_nodes=9).graphs
TRAIN, NEW = GRAPHS[:22], GRAPHS[22:]
FOLDS = np.arange(22) % 4
KERNELS = {
    "default": pk.PropagationKernel(base_kernel="intersection", t_max=2, random_state=0),
    "linear": pk.PropagationKernel(t_max=2, n_hashes=2, random_state=0),
    "weisfeiler-lehman": pk.WeisfeilerLehman(t_max=2),
    "shortest path": pk.ShortestPath(),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def training(kernel, k=3):
    return Training(TRAIN, GraphIndex(kernel=kernel).fit(TRAIN), FOLDS, k, None)


def similarities(kernel, graphs):
    """Normalized kernel by transform, (graphs, training graphs)."""
    return (
        kernel.__class__(**{**kernel.get_params(deep=False), "normalize": True}).fit(TRAIN).transform(graphs)
    )


def groups(i=None):
    """Yield the training graphs outside each fold, and at last all of them, without graph i."""
    for fold in range(5):
        yield [j for j in range(22) if FOLDS[j] != fold and j != i]

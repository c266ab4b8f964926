"""Arrays of whole numbers in files: what each of them points to, and the check that it stays there.

Compiled loops and numpy believe offsets and indices. Each field of a savable class that holds whole numbers
is either in the table of offsets, or in that of indices, or holds hashes, of which every value is possible. A
test finds all such fields, so that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from propkernels.utils.arrays import check_indices, check_offsets

Length = Callable[[Any], int]


def _n_prepared(kernel: Any) -> int:
    """Number of training graphs of a kernel that compares pairs."""
    prepared = kernel.prepared_
    if isinstance(prepared, list):
        return int(prepared[0].counts.shape[0])
    return len(getattr(prepared, "nodes", prepared).ptr) - 1


def _n_training_nodes(kernel: Any) -> int:
    """Number of their nodes; counts do not say it, and nothing but sizes of tiles depends on it."""
    prepared = kernel.prepared_
    if isinstance(prepared, list):
        return int(kernel.train_ptr_[-1])
    return len(getattr(prepared, "nodes", prepared).keys)


_TRAINING: dict[str, tuple[Length, Length]] = {"train_ptr_": (_n_training_nodes, _n_prepared)}

# What offsets cut into pieces: the length of it, and the number of pieces.
OFFSETS: dict[str, dict[str, tuple[Length, Length]]] = {
    "AttributeKernel": _TRAINING,
    "GraphHopper": _TRAINING,
    "ShortestPath": _TRAINING,
    "SubgraphMatching": _TRAINING,
    "Nodes": {"ptr": (lambda nodes: len(nodes.keys), lambda nodes: len(nodes.ptr) - 1)},
    "Paths": {"pair_ptr": (lambda paths: len(paths.distances), lambda paths: len(paths.nodes.ptr) - 1)},
    "Wired": {"pair_ptr": (lambda wired: len(wired.edges), lambda wired: len(wired.nodes.ptr) - 1)},
    "Postings": {
        "stream_ptr": (lambda part: len(part.codes), lambda part: len(part.stream_ptr) - 1),
        "bin_ptr": (lambda part: len(part.graphs), lambda part: len(part.codes)),
    },
    "FoldedMember": {
        "level_ptr": (
            lambda member: len(member.weights),
            lambda member: member.vocabulary.starts[len(member.stream_weights)],
        ),
    },
    "TiledMatrix": {
        "rows": (lambda matrix: matrix.values.shape[1], lambda matrix: len(matrix.rows) - 1),
        "columns": (lambda matrix: matrix.values.shape[2], lambda matrix: len(matrix.columns) - 1),
    },
}

_FOLDS: dict[str, Length] = {"folds": lambda score: len(score.folds)}

# What indices point into: the length of it.
INDICES: dict[str, dict[str, Length]] = {
    "CategoryPrior": {"target_": lambda prior: len(prior.classes_)},
    "DensityScore": _FOLDS,
    "JoinedCounter": {"parts": lambda counter: len(counter.counters)},
    "NeighborScore": _FOLDS,
    "NoveltyDetector": {
        "folds_": lambda detector: len(detector.folds_),
        "judged_": lambda detector: len(detector.folds_),
    },
    "Postings": {"graphs": lambda part: part.n_graphs},
}

# Hashes of labels, bins and edges, and numbers of iterations, which are only shown and compared.
ANY_NUMBER = {
    "FoldedRule.codes",
    "Vocabulary.codes",
    "Nodes.keys",
    "Postings.codes",
    "RarityScore.codes",
    "StreamCounts.codes",
    "Wired.edges",
    "stream_codes_",
    "stream_iterations_",
}


def check_numbers(thing: Any, name: str) -> None:
    """Refuse an object whose offsets or indices lead outside of what they point to.

    Raises
    ------
    ValueError
    """
    for field, (length, pieces) in OFFSETS.get(name, {}).items():
        if getattr(thing, field, None) is not None:
            check_offsets(getattr(thing, field), length(thing), f"{name}.{field}", pieces=pieces(thing))
    for field, length in INDICES.get(name, {}).items():
        if hasattr(thing, field):
            check_indices(getattr(thing, field), length(thing), f"{name}.{field}")

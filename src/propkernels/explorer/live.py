"""What a page needs in order to give any graph its codes, and a model its decisions, as Python does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels.counting.counters import Coder, looked_up
from propkernels.counting.levels import LevelCounter, level_codes
from propkernels.explorer.packing import words
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.hashing.codes import NO_BIN, in_key_order, stream_numbers
from propkernels.kernels.propagation import PropagationCoder
from propkernels.kernels.weisfeiler_lehman import ExactCoder, RefinementCoder

FoldedRule = object
from propkernels.propagation.edge_labels import EdgeFactors
from propkernels.propagation.initial import UNKNOWN, initial_distributions
from propkernels.propagation.schemes import Diffusion
from propkernels.utils.randomness import label_keys

Arrays = dict[str, NDArray[Any]]
EXPONENTS = 31  # of degrees, whose number the page holds in 32 bits
SPARE_DEGREES = 64  # beyond twice the largest degree: what edits may lead to
_LABELS = 0  # the purpose of the hash of labels


class NotLive(ValueError):
    """The reason why a page cannot compute what a model computes."""


def code_function(rule: Any, graphs: Any) -> tuple[dict[str, Any], Arrays]:
    """Describe how nodes get their codes, for ``coder.js``.

    Parameters
    ----------
    rule : FoldedRule or KernelRule
    graphs : GraphDatabase or GridDatabase
        The graphs of the page.

    Returns
    -------
    dict
        Settings.
    dict of arrays
        Keys of labels, or their projections.

    Raises
    ------
    NotLive
        If the page cannot do it.
    """
    if not isinstance(rule, FoldedRule):
        raise NotLive("its kernel is not a dot product of counts")
    if not isinstance(graphs, GraphDatabase):
        raise NotLive("pictures are too large to be edited node by node")
    counter = rule.counter.counter if isinstance(rule.counter, LevelCounter) else rule.counter
    values = start_values(counter, graphs)
    common = {
        "source": getattr(counter, "source", None),
        "largest": len(values) - 1,
        "unknown": len(values),
        "assigned": isinstance(rule.counter, LevelCounter),
    }
    if type(counter) is RefinementCoder:
        settings, arrays = _refinement(counter, values, graphs)
    elif type(counter) is PropagationCoder:
        settings, arrays = _diffusion(counter, values, graphs)
    else:
        raise NotLive(f"the page does not know how {type(counter).__name__} codes nodes")
    return common | settings, arrays


def start_values(counter: Any, graphs: GraphDatabase) -> tuple[Any, ...]:
    """Return the labels with which nodes may start, those that edits may lead to included."""
    source = getattr(counter, "source", None)
    if isinstance(counter, ExactCoder) or not isinstance(counter, Coder):
        raise NotLive(f"the page does not know how {type(counter).__name__} codes nodes")
    if source is None:
        return (0,)
    if source != "node":
        if not graphs.is_unweighted:
            raise NotLive("degrees of weighted edges cannot be told from edits")
        if source == "log_degree":
            return (*range(EXPONENTS), "isolated")
        return tuple(range(2 * int(graphs.degrees.max(initial=0)) + SPARE_DEGREES))
    column = graphs.label_column
    if not isinstance(column, LabelColumn):
        raise NotLive("its graphs have no labels, or uncertain ones")
    return column.values


def _edge_values(graphs: GraphDatabase) -> tuple[Any, ...]:
    column = graphs.edge_label_column
    return (UNKNOWN,) if column is None else (*column.values, UNKNOWN)


def _refinement(
    counter: RefinementCoder, values: tuple[Any, ...], graphs: GraphDatabase
) -> tuple[dict[str, Any], Arrays]:
    if counter.edge_weights:
        raise NotLive("it tells edges apart by their weights")
    arrays = {"keys": words(label_keys((*values, UNKNOWN)))}
    if counter.edge_labels:
        arrays["edgeKeys"] = words(label_keys(_edge_values(graphs)))
    settings = {
        "kind": "refinement",
        "steps": counter.n_iter,
        "unknownEdge": len(_edge_values(graphs)) - 1,
        "iterations": list(range(counter.n_iter + 1)),
    }
    return settings, arrays


def _diffusion(
    counter: PropagationCoder, values: tuple[Any, ...], graphs: GraphDatabase
) -> tuple[dict[str, Any], Arrays]:
    scheme = counter.scheme
    if type(scheme) is not Diffusion or scheme.normalization == "symmetric" or scheme.direction != "follow":
        raise NotLive(f"the page does not know the propagation scheme {scheme}")
    if counter.attributes is not None:
        raise NotLive("it compares attributes, which the page does not")
    if counter.lsh.takes_root or not graphs.is_unweighted:
        raise NotLive("the page only knows unweighted edges and hashes that project")
    streams = stream_numbers(counter.t_max, counter.n_hashes)
    every = LabelColumn(np.array([*range(len(values)), -1], dtype=np.int32), values)
    initial, keys = in_key_order(initial_distributions(every, counter.prior))
    projected = (initial.table @ counter.lsh.vectors(keys, streams))[initial.rows]
    arrays = {"projected": np.asarray(projected).ravel(), "offsets": counter.lsh.offsets(streams)}
    if counter.edge_labels:
        factors = EdgeFactors(counter.lsh.seed, _LABELS)
        drawn = factors.draw(label_keys(_edge_values(graphs)), streams, np.arange(1, counter.t_max + 1))
        arrays["factors"] = drawn.ravel()
    settings = {
        "kind": "diffusion",
        "streams": len(streams),
        "hashes": counter.n_hashes,
        "row": scheme.normalization == "row",
        "laziness": float(scheme.laziness),
        "vanish": scheme.isolated == "vanish",
        "edgeLabels": len(_edge_values(graphs)),
        "iterations": np.repeat(np.arange(counter.t_max + 1), counter.n_hashes).tolist(),
    }
    return settings, arrays


def plain_rule(kernel: Any, graphs: GraphDatabase) -> FoldedRule:
    """Return a rule without decisions, for a page that has no model: it only knows how nodes are coded."""
    fitted = clone(kernel).fit(graphs)
    counts = fitted.training_counts_
    codes: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64) for _ in counts]
    weights = [np.empty((0, 1)) for _ in counts]
    return FoldedRule(fitted.counter_, codes, weights, np.array([stream.weight for stream in counts]), False)


def folded_weights(rule: FoldedRule, graphs: GraphDatabase, n_jobs: int | None) -> tuple[int, Arrays]:
    """Return the weights of all bins in the order in which the page numbers them, and the sum of all codes.

    Bins are numbered stream by stream in the order of nodes, so that their codes need not be stored: the page
    computes them. Bins of the model that none of the graphs has come with their codes. With levels, the
    levels of a bin follow each other; ``most`` says how many each has.

    Parameters
    ----------
    rule : FoldedRule
    graphs : GraphDatabase
    n_jobs : int or None

    Returns
    -------
    int
        The sum of the lower halves of all codes, modulo 2^32: what the page compares with its own.
    dict of arrays
    """
    assigned = isinstance(rule.counter, LevelCounter)
    arrays: Arrays = {}
    total = 0
    for s, found in enumerate(rule.counter.occurrences(graphs, n_jobs)):
        total += int((found.codes.astype(np.int64) & 0xFFFFFFFF).sum())
        bins, number = _in_order(found.codes)
        codes = bins
        if assigned:
            most = _largest_counts(number, graphs, len(bins))
            arrays[f"most{s}"], codes = most, level_codes(bins, most)
        arrays |= _weights_of(codes, rule.codes[s], rule.weights[s], s)
    return total % 2**32, arrays


def _in_order(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bins in the order of their first nodes, and the number of each node's; -1 for nodes not counted."""
    counted = np.flatnonzero(codes != NO_BIN)
    values, first, inverse = np.unique(codes[counted], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    number = np.full(len(codes), -1, dtype=np.int64)
    number[counted] = rank[inverse]
    return values[order], number


def _largest_counts(number: NDArray[np.int64], graphs: GraphDatabase, n_bins: int) -> NDArray[np.int64]:
    """For each bin, how many nodes at most a graph has in it."""
    counted = number >= 0
    pairs = graphs.graph_ids[counted].astype(np.int64) * max(n_bins, 1) + number[counted]
    pair, count = np.unique(pairs, return_counts=True)
    most = np.zeros(n_bins, dtype=np.int64)
    np.maximum.at(most, pair % max(n_bins, 1), count)
    return most


def _weights_of(codes: NDArray[np.int64], known: NDArray[np.int64], weights: Any, stream: int) -> Arrays:
    columns = [looked_up(codes, known, weights[:, column]) for column in range(weights.shape[1])]
    arrays: Arrays = {f"weights{stream}": np.stack(columns, axis=1).ravel()}
    elsewhere = ~np.isin(known, codes) & (weights != 0).any(axis=1)
    if elsewhere.any():
        arrays[f"extra{stream}"] = words(known[elsewhere])
        arrays[f"extraWeights{stream}"] = np.asarray(weights[elsewhere]).ravel()
    return arrays

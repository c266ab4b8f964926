"""What the code relies on, checked before anything from a file reaches it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from propkernels.storage.classes import FORGOTTEN, name_of
from propkernels.storage.fitted import ALWAYS, FITTED
from propkernels.storage.numbers import check_numbers
from propkernels.storage.types import check_of, declared_types
from propkernels.utils.arrays import MOST_THINGS


def check_fields(thing: Any) -> None:
    """Refuse a value that is not what its class declares, or that fit never leaves behind.

    Raises
    ------
    ValueError
    """
    cls: Any = type(thing)
    for name, annotation in declared_types(cls).items():
        if name not in FORGOTTEN and not check_of(annotation)(getattr(thing, name)):
            raise ValueError(f"{cls.__name__}.{name} is not {_text(annotation)}")
    if hasattr(cls, "_get_param_names"):
        for name, value in vars(thing).items():
            if name in FITTED and not FITTED[name](value):
                raise ValueError(f"{cls.__name__}.{name} is not what fit makes it")
        missing = set(ALWAYS.get(cls.__name__, ())) - vars(thing).keys()
        if missing and FITTED.keys() & vars(thing).keys():
            raise ValueError(f"{cls.__name__} lacks {min(missing)}")


def _text(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def check_object(thing: Any) -> None:
    """Refuse an object whose arrays do not fit together.

    Raises
    ------
    ValueError
    """
    name = str(name_of(thing))
    try:
        check_numbers(thing, name)
        if hasattr(thing, "check_parts"):
            thing.check_parts()
        fits = name not in CHECKS or CHECKS[name](thing)
    except ValueError as error:
        raise ValueError(f"the parts of {name} do not fit together: {error}") from None
    except (AttributeError, TypeError, IndexError):
        fits = False
    if not fits:
        raise ValueError(f"the parts of {name} do not fit together")


def _is(array: Any, kinds: str, ndim: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in kinds and array.ndim == ndim


def _whole(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def _prior(prior: Any) -> bool:
    return _is(prior.weights, "f", 1) and len(set(prior.values)) == len(prior.values) == len(prior.weights)


SOURCES = (None, "node", "degree", "log_degree")  # of initial labels
METRICS = ("tv", "hellinger", "l1", "l2")
DIRECTIONS = ("follow", "reverse", "both")


def _propagation_coder(coder: Any) -> bool:
    return _whole(coder.t_max, 0) and _whole(coder.n_hashes, 1) and coder.source in SOURCES


def _refinement_coder(coder: Any) -> bool:
    return _whole(coder.n_iter, 0) and coder.source in SOURCES


def _entry_coder(coder: Any) -> bool:
    entries = _whole(coder.width, 1) and all(_whole(entry, 0) for entry in coder.entries)
    return _refinement_coder(coder) and entries and 0 <= max(coder.entries, default=-1) < coder.width


def _exact_coder(coder: Any) -> bool:
    numbers = [number for table in coder.tables for number in table.values()]
    fits = _refinement_coder(coder) and len(coder.tables) == coder.n_iter + 1
    return fits and min(numbers, default=0) >= 0 and max(numbers, default=0) < MOST_THINGS


def _hash(lsh: Any) -> bool:
    return lsh.metric in METRICS and 0 < lsh.bin_width < np.inf


def _attribute_coder(coder: Any) -> bool:
    return coder.combine in ("sum", "product", "joint")


def _spreading_attributes(learned: Any) -> bool:
    fits = 0 <= learned.laziness <= 1 and learned.direction in DIRECTIONS
    return fits and _is(learned.elsewhere, "f", 1)


def _spreading_mixtures(learned: Any) -> bool:
    """Whether all sample points, Gaussians and scales are there, for attributes of one dimension."""
    points, refit, scales = learned.points, learned.refit_every, learned.scales
    if not (_is(points, "f", 2) and _is(scales, "f", 2) and (refit is None or _whole(refit, 1))):
        return False
    n_points, dimensions = points.shape
    fitted_at = range(0, len(scales), len(scales) if refit is None else refit) if len(scales) else (0,)
    return (
        learned.direction in DIRECTIONS
        and 0 <= learned.laziness <= 1
        and scales.shape[1] == n_points
        and learned.overall.shape == (n_points,)
        and learned.centre.shape == (dimensions,)
        and set(fitted_at) <= set(learned.families)
        and all(_family(family, dimensions) for family in learned.families.values())
    )


def _family(family: Any, dimensions: int) -> bool:
    """Whether attributes can be whitened; directions in which they do not vary are left out of the map."""
    return _is(family.whitening, "f", 2) and len(family.whitening) == dimensions >= family.whitening.shape[1]


def _calibration(calibration: Any) -> bool:
    fits = _is(calibration.coefficients, "f", 2) and _is(calibration.intercepts, "f", 1)
    return fits and calibration.coefficients.shape[1] == len(calibration.intercepts)


def _posterior(posterior: Any) -> bool:
    roots, factors = posterior.roots, posterior.factors
    return _is(roots, "f", 2) and factors.shape == (*roots.shape, roots.shape[1])


def _n_decisions(model: Any) -> int:
    return int(model.rule_.n_decisions)


def _regressor(model: Any) -> bool:
    return not hasattr(model, "rule_") or model.intercept_.shape == (_n_decisions(model),)


def _classifier(model: Any) -> bool:
    """Whether decisions, classes and probabilities fit each other."""
    if not hasattr(model, "rule_"):
        return True
    n_classes, layout, calibration = len(model.classes_), model.layout_, model.calibration_
    n_pairs = n_classes * (n_classes - 1) // 2
    n_decisions = n_pairs if layout.pairwise else (1 if n_classes == 2 else n_classes)
    n_scores = 1 if n_classes == 2 else n_classes
    if layout.multilabel:  # one decision, and one logistic model of it, per label
        n_decisions, n_scores = n_classes, 1
    if calibration is not None and calibration.multilabel != layout.multilabel:
        return False
    return (
        layout.n_classes == n_classes >= 2
        and _regressor(model)
        and _n_decisions(model) == n_decisions
        and (calibration is None or calibration.coefficients.shape == (n_scores, n_classes))
    )


def _count_kernel(kernel: Any) -> bool:
    """Whether the counts of all streams are of the same graphs."""
    if not hasattr(kernel, "counts_"):
        return True
    sizes = {stream.counts.shape[0] for stream in kernel.counts_}
    if len(sizes) != 1:
        return False
    n_graphs = sizes.pop()
    diagonal = getattr(kernel, "diagonal_", None)
    return diagonal is None or diagonal.shape == (n_graphs,)


def _count_features(features: Any) -> bool:
    if not hasattr(features, "stream_codes_"):
        return True
    columns = features.n_columns_
    fits = all(_is(codes, "i", 1) for codes in features.stream_codes_) and (columns is None or columns >= 1)
    return fits and features.stream_iterations_.shape == (len(features.stream_codes_),)


def _category_prior(prior: Any) -> bool:
    """Whether every training graph has a class."""
    if not hasattr(prior, "target_"):
        return True
    n_graphs = getattr(prior.kernel_, "_n_features_out", len(prior.target_))
    return len(prior.target_) == n_graphs >= 1 and prior.n_neighbors_ >= 1


def _linear_model(model: Any) -> bool:
    """Whether there are as many coefficients as columns, and as many machines as classes need."""
    if not hasattr(model, "coef_"):
        return True
    shape: tuple[int, ...] = (model.n_features_in_,)
    n_machines = 1
    if model.loss in ("logistic", "squared_hinge"):
        n_classes = len(set(model.classes_.tolist()))
        if n_classes < 2 or n_classes != len(model.classes_):
            return False
        n_machines = 1 if n_classes == 2 else n_classes
        shape = (n_machines, model.n_features_in_)
    stream = [getattr(model, name) for name in ("gradients_", "squares_") if hasattr(model, name)]
    return (
        model.loss in ("logistic", "squared_hinge", "squared")
        and model.coef_.shape == shape
        and model.intercept_.shape == (n_machines,)
        and all(array.shape == (n_machines, model.n_features_in_ + 1) for array in stream)
        and bool(np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all())
    )


def _joined_counter(counter: Any) -> bool:
    """Whether every counter has a weight, and every stream is of one of them."""
    n_counters = len(counter.counters)
    fits = counter.weights.shape == counter.normalized.shape == (n_counters,) and n_counters >= 1
    return fits and _not_negative(counter.weights)


def _colors(quantizer: Any) -> bool:
    return not hasattr(quantizer, "colors_") or quantizer.colors_.shape == (quantizer.n_labels_, 3)


def _stream_counts(stream: Any) -> bool:
    fits = stream.counts.format == "csr" and stream.counts.shape[1] == len(stream.codes)
    fits = fits and stream.iteration >= 0 and 0 <= stream.weight < np.inf
    fits = fits and stream.counts.dtype == np.float64 and stream.codes.ndim == 1
    return fits and _not_negative(stream.counts.data)


def _postings(postings: Any) -> bool:
    return (
        _whole(postings.n_graphs, 0)
        and _is(postings.codes, "i", 1)
        and postings.counts.dtype in (np.float32, np.float64)
        and postings.counts.shape == postings.graphs.shape
        and _not_negative(postings.counts)
    )


def _inverted_file(file: Any) -> bool:
    n_graphs = sum(part.n_graphs for part in file.segments)
    return (
        _is(file.weights, "f", 1)
        and all(len(part.stream_ptr) == len(file.weights) + 1 for part in file.segments)
        and _is(file.squares, "f", 1)
        and _is(file.alive, "b", 1)
        and len(file.squares) == len(file.alive) == n_graphs
        and _not_negative(file.weights)
        and _not_negative(file.squares)
    )


def _not_negative(values: Any) -> bool:
    """Whether square roots can be taken."""
    return bool((np.isfinite(values) & (values >= 0)).all())


def _graph_index(index: Any) -> bool:
    if not hasattr(index, "file_"):
        return True
    return name_of(index.file_) == "InvertedFile" and len(index.names_) == len(index.file_.alive)


def _novelty_detector(detector: Any) -> bool:
    if not hasattr(detector, "index_"):
        return True
    folds, n_graphs = detector.folds_, len(detector.index_.names_)
    scores = (detector.training_scores_, detector.held_out_scores_)
    if (
        folds.shape != (n_graphs,)
        or not all(array.shape == detector.judged_.shape for array in scores)
        or not 0 <= folds.min() <= folds.max() < n_graphs
    ):
        return False
    n_rows = int(folds.max()) + 2
    shape = (len(detector.used_), n_rows)
    fits = detector.centers_.shape == detector.scales_.shape == shape and 1 <= shape[0] <= 2
    fits = fits and all(_has_rows(score, n_graphs, n_rows) for score in detector.scores_.values())
    return fits and {"rarity", *detector.used_} == set(detector.scores_)


def _has_rows(score: Any, n_graphs: int, n_rows: int) -> bool:
    """Whether a score is about so many training graphs, and about so many folds and all of them."""
    name = name_of(score)
    if name == "RarityScore":
        return all(table.shape[1] == n_rows for table in score.numbers)
    if name == "SizeScore":
        return bool(score.centers.shape == score.scales.shape == (n_rows, 3))
    if name == "OneClassScore":
        return score.coefficients.shape == (n_graphs, n_rows) and score.intercepts.shape == (n_rows,)
    return len(score.folds) == n_graphs and int(score.folds.max()) + 2 == n_rows


def _neighbor_score(score: Any) -> bool:
    """Whether so many neighbors are left outside every fold."""
    folds = score.folds
    return _is(folds, "i", 1) and 1 <= score.k <= max(len(folds) - int(np.bincount(folds).max()), 1)


def _density_score(score: Any) -> bool:
    shape = (int(score.folds.max()) + 2, len(score.folds))
    return _neighbor_score(score) and score.reaches.shape == score.densities.shape == shape


def _rarity_score(score: Any) -> bool:
    fits = len(score.codes) == len(score.numbers)
    tables = zip(score.codes, score.numbers, strict=True) if fits else ()
    return fits and all(
        _is(table, "f", 2) and codes.shape == table.shape[:1] and bool((table >= 0).all())
        for codes, table in tables
    )


def _nodes(nodes: Any) -> bool:
    return _is(nodes.keys, "u", 1) and _is(nodes.points, "f", 2) and len(nodes.keys) == len(nodes.points)


def _pairs(nodes: Any, pair_ptr: Any, values: Any) -> bool:
    """Whether there is one value for each ordered pair of nodes of each graph."""
    if name_of(nodes) != "Nodes" or values.ndim != 1:
        return False
    return bool(np.array_equal(np.diff(pair_ptr), np.diff(nodes.ptr) ** 2))


def _hops(hops: Any) -> bool:
    fits = name_of(hops.nodes) == "Nodes" and all(_is(counts, "f", 2) for counts in hops.counts)
    return fits and [len(counts) for counts in hops.counts] == np.diff(hops.nodes.ptr).tolist()


def _node_comparison(nodes: Any) -> bool:
    """Attributes are compared if and only if it is known how they are standardized."""
    standardizer = None if nodes.kind == 0 else "Standardizer"
    return nodes.kind in range(4) and name_of(nodes.standardizer) == standardizer


def _subgraph_comparison(comparison: Any) -> bool:
    return comparison.lambdas.ndim == 1 and len(comparison.lambdas) >= 1


def _subgraph_counts(comparison: Any) -> bool:
    counter = comparison.counter
    fits = name_of(counter) == "SubgraphCounter" and _whole(counter.k, 1)
    return fits and _is(comparison.lambdas, "f", 1) and len(comparison.lambdas) == counter.k


def _streams_of_subgraphs(comparison: Any, streams: Any) -> bool:
    """Whether there are counts of every size, of kinds with so many symmetries."""
    kinds = [(stream.iteration, stream.weight) for stream in streams]
    sizes = {size for size, _ in kinds}
    whole = all(weight >= 1 and float(weight).is_integer() for _, weight in kinds)
    return whole and len(set(kinds)) == len(kinds) and sizes == set(range(comparison.counter.k))


PREPARED = {
    "MeanOverPairs": "Nodes",
    "EqualLengths": "Paths",
    "HopComparison": "Hops",
    "SubgraphComparison": "Wired",
}


def _pairwise_kernel(kernel: Any) -> bool:
    """Whether training graphs are prepared as the comparison expects, with as many attributes as new ones."""
    if not hasattr(kernel, "comparison_"):
        return True
    comparison, prepared = kernel.comparison_, kernel.prepared_
    if name_of(comparison) in ("CountedComparison", "SubgraphCounts"):
        counted = all(name_of(stream) == "StreamCounts" for stream in prepared)
        is_plain = name_of(comparison) == "CountedComparison"
        return counted and (is_plain or _streams_of_subgraphs(comparison, prepared))
    if name_of(prepared) != PREPARED.get(str(name_of(comparison))):
        return False
    nodes = prepared if name_of(prepared) == "Nodes" else prepared.nodes
    standardizer = comparison.nodes.standardizer
    dimensions = 0 if standardizer is None else len(standardizer.mean)
    return name_of(comparison.nodes) == "NodeComparison" and nodes.points.shape[1] == dimensions


def _sum_kernel(kernel: Any) -> bool:
    """Whether there is one weight for each part, and all parts are fitted to the same graphs."""
    if not hasattr(kernel, "kernels_"):
        return True
    sizes = {part._n_features_out for part in kernel.kernels_}
    parts = len(kernel.kernels_) >= 1 and all(hasattr(part, "self_similarities") for part in kernel.kernels_)
    return parts and kernel.weights_.shape == (len(kernel.kernels_),) and sizes == {len(kernel.diagonal_)}


def _standardizer(standardizer: Any) -> bool:
    return standardizer.mean.ndim == 1 and standardizer.mean.shape == standardizer.deviation.shape


CHECKS: dict[str, Callable[[Any], bool]] = {
    "Prior": _prior,
    "PropagationCoder": _propagation_coder,
    "RefinementCoder": _refinement_coder,
    "ExactCoder": _exact_coder,
    "EntryCoder": _entry_coder,
    "LocalitySensitiveHash": _hash,
    "AttributeCoder": _attribute_coder,
    "SpreadingAttributes": _spreading_attributes,
    "SpreadingMixtures": _spreading_mixtures,
    "Calibration": _calibration,
    "Posterior": _posterior,
    "PropagationClassifier": _classifier,
    "PropagationRegressor": _regressor,
    "PropagationKernel": _count_kernel,
    "P2K": _count_kernel,
    "WeisfeilerLehman": _count_kernel,
    "LabelHistogram": _count_kernel,
    "PropagationFeatures": _count_features,
    "WeisfeilerLehmanFeatures": _count_features,
    "ShortestPathFeatures": _count_features,
    "LabelHistogramFeatures": _count_features,
    "CategoryPrior": _category_prior,
    "LinearModel": _linear_model,
    "JoinedCounter": _joined_counter,
    "NeighborScore": _neighbor_score,
    "DensityScore": _density_score,
    "KMeansColors": _colors,
    "StreamCounts": _stream_counts,
    "Postings": _postings,
    "InvertedFile": _inverted_file,
    "GraphIndex": _graph_index,
    "NoveltyDetector": _novelty_detector,
    "RarityScore": _rarity_score,
    "Nodes": _nodes,
    "NodeComparison": _node_comparison,
    "Standardizer": _standardizer,
    "SubgraphComparison": _subgraph_comparison,
    "SubgraphCounts": _subgraph_counts,
    "Paths": lambda paths: _pairs(paths.nodes, paths.pair_ptr, paths.distances),
    "Wired": lambda wired: _pairs(wired.nodes, wired.pair_ptr, wired.edges),
    "Hops": _hops,
    "AttributeKernel": _pairwise_kernel,
    "ShortestPath": _pairwise_kernel,
    "GraphHopper": _pairwise_kernel,
    "SubgraphMatching": _pairwise_kernel,
    "SumKernel": _sum_kernel,
}

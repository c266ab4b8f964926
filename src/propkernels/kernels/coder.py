"""What fit learns about turning graphs into codes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from propkernels.checks import check_choice, check_integer, check_positive
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase
from propkernels.hashing.attribute_codes import AttributeCoder
from propkernels.hashing.codes import CodeStreams, label_codes
from propkernels.hashing.lsh import METRICS, LocalitySensitiveHash
from propkernels.propagation.attributes import resolve_attributes
from propkernels.propagation.initial import (
    Prior,
    initial_distributions,
    label_column,
    label_source,
    learn_prior,
)
from propkernels.propagation.registry import resolve_scheme
from propkernels.propagation.scheme import PropagationScheme
from propkernels.propagation.standardize import Standardizer
from propkernels.randomness import draw_seed

LABEL_SOURCES = ("auto", "node", "degree", None)
_LABELS, _ATTRIBUTES = 0, 1


@dataclass(frozen=True)
class PropagationCoder:
    """Settings of a fitted propagation kernel, enough to give any graph its codes.

    Attributes
    ----------
    scheme : PropagationScheme
    source : {"node", "degree", None}
        Where labels come from.
    prior : Prior
        The distribution with which unobserved nodes start.
    lsh : LocalitySensitiveHash
    t_max, n_hashes : int
    attributes : AttributeCoder or None
        How attributes are coded, if they are.
    """

    scheme: PropagationScheme
    source: str | None
    prior: Prior
    lsh: LocalitySensitiveHash
    t_max: int
    n_hashes: int
    attributes: AttributeCoder | None = None

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any, attributes: Any) -> PropagationCoder:
        """Check an estimator's parameters and resolve them on the training graphs."""
        check_choice(parameters.labels, LABEL_SOURCES, "labels")
        check_choice(parameters.metric, METRICS, "metric")
        t_max = check_integer(parameters.t_max, "t_max", 0)
        n_hashes = check_integer(parameters.n_hashes, "n_hashes", 1)
        bin_width = check_positive(parameters.bin_width, "bin_width")
        source = label_source(graphs, parameters.labels)
        column = label_column(graphs, source)
        on_grids = isinstance(graphs, GridDatabase)
        scheme = resolve_scheme(parameters.propagation, not bool(column.observed.all()), on_grids)
        seed = draw_seed(parameters.random_state)
        lsh = LocalitySensitiveHash(parameters.metric, bin_width, seed, _LABELS)
        attribute_coder = _learn_attributes(graphs, parameters, attributes, scheme, t_max, seed)
        prior = learn_prior(column, parameters.prior)
        return cls(scheme, source, prior, lsh, t_max, n_hashes, attribute_coder)

    def codes(self, graphs: GraphDatabase, n_jobs: int | None) -> CodeStreams | Iterable[CodeStreams]:
        """Codes of all nodes for t = 0..t_max; with attributes, one block an iteration."""
        initial = initial_distributions(label_column(graphs, self.source), self.prior)
        arguments = (self.scheme, initial, self.lsh, self.t_max, self.n_hashes, n_jobs)
        labels = label_codes(graphs, *arguments)
        return labels if self.attributes is None else self.attributes.join(graphs, labels, n_jobs)


def _learn_attributes(
    graphs: GraphDatabase,
    parameters: Any,
    attributes: Any,
    scheme: PropagationScheme,
    t_max: int,
    seed: int,
) -> AttributeCoder | None:
    """Check the parameters that concern attributes, and learn how to code them."""
    check_choice(parameters.attribute_metric, METRICS, "attribute_metric")
    width = check_positive(parameters.attribute_bin_width, "attribute_bin_width")
    if attributes is None:
        return None
    treatment = resolve_attributes(attributes)
    standardizer = Standardizer.learn(graphs, bool(parameters.standardize))
    direction = getattr(scheme, "direction", "follow")
    learned = treatment.learn(graphs, standardizer(graphs), t_max, direction, seed)
    lsh = LocalitySensitiveHash(parameters.attribute_metric, width, seed, _ATTRIBUTES)
    return AttributeCoder(standardizer, learned, treatment.combine, lsh)

"""What fit learns about turning graphs into codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from propkernels.checks import check_choice, check_integer, check_positive
from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.codes import CodeStreams, label_codes
from propkernels.hashing.lsh import METRICS, LocalitySensitiveHash
from propkernels.hashing.randomness import draw_seed
from propkernels.propagation.initial import (
    Prior,
    initial_distributions,
    label_column,
    label_source,
    learn_prior,
)
from propkernels.propagation.registry import resolve_scheme
from propkernels.propagation.scheme import PropagationScheme

LABEL_SOURCES = ("auto", "node", "degree", None)
_LABELS = 0


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
    """

    scheme: PropagationScheme
    source: str | None
    prior: Prior
    lsh: LocalitySensitiveHash
    t_max: int
    n_hashes: int

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any) -> PropagationCoder:
        """Check an estimator's parameters and resolve them on the training graphs."""
        check_choice(parameters.labels, LABEL_SOURCES, "labels")
        check_choice(parameters.metric, METRICS, "metric")
        t_max = check_integer(parameters.t_max, "t_max", 0)
        n_hashes = check_integer(parameters.n_hashes, "n_hashes", 1)
        bin_width = check_positive(parameters.bin_width, "bin_width")
        source = label_source(graphs, parameters.labels)
        column = label_column(graphs, source)
        scheme = resolve_scheme(parameters.propagation, not bool(column.observed.all()))
        lsh = LocalitySensitiveHash(parameters.metric, bin_width, draw_seed(parameters.random_state), _LABELS)
        return cls(scheme, source, learn_prior(column, parameters.prior), lsh, t_max, n_hashes)

    def codes(self, graphs: GraphDatabase, n_jobs: int | None) -> CodeStreams:
        """Codes of all nodes for t = 0..t_max."""
        initial = initial_distributions(label_column(graphs, self.source), self.prior)
        return label_codes(graphs, self.scheme, initial, self.lsh, self.t_max, self.n_hashes, n_jobs)

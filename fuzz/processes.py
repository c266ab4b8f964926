"""One result in every process: what a case gives here is compared with another interpreter's, which hashes
strings in another order.
"""  # noqa: D205

from __future__ import annotations

import numpy as np

from fuzz.cases import Case, digest, try_to
from fuzz.estimators import build, random_estimator
from fuzz.graphs import database, random_graphs


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 13])
    name, parameters = random_estimator(rng)
    return Case("processes", seed, "digest", name, parameters, random_graphs(rng))


def run(case: Case) -> str:
    """Return a digest of the result, to the bit."""
    estimator = build(case.estimator, case.parameters)
    return digest(try_to(lambda: estimator.fit_transform(database(case.graphs))))

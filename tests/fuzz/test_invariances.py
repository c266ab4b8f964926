"""The contract of kernels on generated graphs and parameters; files, scales and forms of input."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from tests import test_contract as contract
from tests.fuzz.cases import Refused, pick, run_cases, same, try_to
from tests.fuzz.graphs import FORMS, Plain, database, random_graphs, tuples
from tests.test_contract_discovery import fitted, has, make, under_contract, variations

# settings that are tried here beside those of the contract
MORE = (
    {"labels": "log_degree"},
    {"bin_width": 10.0},
    {"attributes": "truncated"},
    {"k": 1},
    {"k": 4, "connected": True},
    {"weighted": False},
    {"edge_weights": True},
    {"n_features": 1},
)


def random_setting(rng, *kinds):
    """An estimator that gives rows or graphs, with the parameters of up to two variations."""
    cls = pick(rng, list(under_contract(*kinds).values()))
    several = [*variations(cls), *(one for one in MORE if has(cls, *one))]
    first, second = pick(rng, several), pick(rng, several)
    return cls, first | second if rng.random() < 0.5 else first


def accepted(rng, *kinds):
    """A random estimator and random graphs that it takes, and its output on them."""
    cls, parameters = random_setting(rng, *(kinds or contract.ROWS))
    plain = random_graphs(rng)
    return cls, parameters, plain, try_to(lambda: fitted(cls, parameters, database(plain))[1])


def of_the_contract(test):
    """A test of the contract as a check on random graphs."""

    def check(rng):
        cls, parameters, plain, _ = accepted(rng)
        if "semidefinite" in test.__name__ and parameters.get("attributes") == "truncated":
            raise Refused("documented: not semidefinite")
        try:
            test(cls, parameters, database(plain))
        except pytest.skip.Exception as error:
            raise Refused(str(error)) from error

    check.__name__ = test.__name__
    return check


def graphs_that_become_graphs(rng):
    cls, _, plain, _ = accepted(rng, "graph")
    contract.test_graphs_that_become_graphs(cls, database(plain))


def forms_of_graphs(rng):
    cls, parameters, plain, expected = accepted(rng)
    form, graphs = pick(rng, FORMS), list(database(plain))
    for given in (tuples(plain, form), graphs, tuple(graphs), iter(graphs)):
        same(
            make(cls, **parameters).fit_transform(given),
            expected,
            f"a list of graphs, or adjacency as {form}",
        )


def saved_and_loaded(rng):
    cls, parameters, plain, _ = accepted(rng)
    estimator, graphs = make(cls, **parameters).fit(database(plain)), database(plain)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pk"
        try_to(lambda: pk.save_model(estimator, path))
        loaded = pk.load_model(path)
    same(loaded.transform(graphs), estimator.transform(graphs), "saved and loaded", exact=True)


def scale_of_weights(rng):
    """Powers of two are exact: kernels that divide by degrees do not notice them, to the bit."""
    cls, parameters, plain, expected = accepted(rng)
    scheme = parameters.get("propagation")
    grows = getattr(scheme, "normalization", None) == "none" or getattr(scheme, "rate", None)
    if (
        not issubclass(cls, (pk.PropagationKernel, pk.PropagationFeatures))
        or grows
        or plain[0].labels is None
    ):
        return
    exponent = int(rng.integers(-1000, 1000))
    scaled = [
        Plain(g.n, tuple((i, j, float(np.ldexp(w, exponent))) for i, j, w in g.edges), g.labels, g.attributes)
        for g in plain
    ]
    computed = make(cls, **parameters).fit_transform(database(scaled))
    same(computed, expected, f"weights times 2**{exponent}")


def refitted(rng):
    cls, parameters, plain, expected = accepted(rng)
    estimator = make(cls, **parameters)
    try_to(lambda: estimator.fit(database(plain[::-1])))
    same(estimator.fit_transform(database(plain)), expected, "fitted again", exact=True)


CHECKS = (
    *map(of_the_contract, (contract.test_node_order_does_not_matter, *contract.OF_ALL_GRAPHS)),
    graphs_that_become_graphs,
    forms_of_graphs,
    saved_and_loaded,
    scale_of_weights,
    refitted,
)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract_holds_on_random_graphs(check):
    run_cases(check, 10)

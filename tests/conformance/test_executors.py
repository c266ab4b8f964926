"""One list of kernels and graphs for all executors: the codes of JavaScript and CUDA are those of C++."""

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels._utils.parallel import running_on
from propkernels.explain.rule import Rule, dual_members
from propkernels.gpu.pipeline import Device
from tests.conformance.cases import CODERS, NOT_ON_PAGES, carrying_everything, codes_in_python
from tests.zoo import labelled_databases

CODES = """
const {app} = propkernels;
return Array.from({length: app.n}, (_, g) =>
  app.index.count(app.graphs.graph(g)).parts.map((part) => part.codes.map((row) => [...row])));
"""


def unweighted_zoo():
    """Awkward graphs (empty, with loops, directed or parallel edges) with all that kernels ask for."""
    kept = [graphs.with_attributes(None) for _, graphs in labelled_databases() if graphs.is_unweighted]
    return carrying_everything(pk.GraphDatabase.concat(kept))


@pytest.mark.slow
def test_javascript_codes_the_zoo(browser, tmp_path):
    """One page with the code functions of all kernels."""
    graphs = unweighted_zoo()
    target = np.arange(len(graphs)) % 2
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    model.fit(graphs, target)
    fitted = [clone(kernel).fit(graphs) for name, kernel in CODERS.items() if name not in NOT_ON_PAGES]
    nothing = np.zeros((len(graphs), 1))
    model.rule_ = Rule.of([member for kernel in fitted for member in dual_members(kernel, nothing)])
    browser.open(pk.explore(graphs, target, model).save(tmp_path / "zoo.html"))
    found = browser.run(CODES)
    assert len(found) == len(graphs) > 20
    for g, parts in enumerate(found):
        for codes, vocabulary in zip(parts, model.rule_.vocabularies, strict=True):
            assert codes == codes_in_python(vocabulary.counter, graphs[[g]])
    assert browser.complaints() == []


def counted(kernel, graphs):
    """For each stream, the codes of the bins in ascending order, and the counts of all graphs."""
    streams = kernel._counting.counter.count(graphs, None)
    return [(np.sort(s.codes), s.counts.toarray()[:, np.argsort(s.codes)]) for s in streams]


@pytest.mark.slow
@pytest.mark.parametrize("name", CODERS)
def test_cuda_counts_the_zoo(runtime, name):
    graphs = unweighted_zoo()
    kernel = clone(CODERS[name]).fit(graphs)
    with running_on(Device(runtime)):
        computed = counted(kernel, graphs)
    for (codes, counts), (expected_codes, expected) in zip(computed, counted(kernel, graphs), strict=True):
        np.testing.assert_array_equal(codes, expected_codes)
        np.testing.assert_array_equal(counts, expected)

"""What kernels refuse, each in one sentence that names the parameter or the graphs."""

import re

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import (
    AttributeKernel,
    DescriptorKernel,
    LabelHistogram,
    ShortestPathFeatures,
    SubgraphMatching,
)
from tests.test_contract_discovery import has
from tests.zoo import one

PLAIN = one(2, [(0, 1)], ["C", "O"])
NUMBERS = PLAIN.with_attributes([[0.0, 1.0], [2.0, 3.0]])
PAIRS = one(2, [(0, 1)], [("C", 1), ("O", 2)], attributes=[[0.0], [1.0]], edge_labels=["a"])
LENGTHS = one(2, [(0, 1)], [("C",), ("O", 1)])
RANKED = PLAIN.with_descriptors([[0.5]])
UNSURE = PLAIN.with_labels(pk.LabelDistributions(np.full((2, 2), 0.5), values=("a", "b")))
FITTED = {
    "two attributes": pk.PropagationKernel(attributes="sum", t_max=1, random_state=0).fit(NUMBERS),
    "entries": pk.WeisfeilerLehman(t_max=1, labels="entries").fit(PAIRS),
    "descriptors": DescriptorKernel().fit(RANKED),
}
BOTH = [pk.WeisfeilerLehman(t_max=1), LabelHistogram()]


def attributed(**parameters):
    return pk.PropagationKernel(**{"attributes": "sum", "random_state": 0, **parameters})


BAD = [
    ("metric", "euclid", ValueError),
    ("bin_width", 0, ValueError),
    ("bin_width", True, TypeError),
    ("t_max", -1, ValueError),
    ("t_max", 2.0, TypeError),
    ("n_hashes", 0, ValueError),
    ("n_hashes", np.True_, TypeError),
    ("labels", "edge", ValueError),
    ("labels", ["node"], ValueError),
    ("base_kernel", "poly", ValueError),
    ("n_features", -8, ValueError),
    ("n_features", 2.0**20, TypeError),
    ("normalize", "yes", TypeError),
    ("sparse_output", 1, TypeError),
    ("random_state", -1, ValueError),
    ("random_state", 0.5, ValueError),
    ("n_jobs", 0, ValueError),
    ("n_jobs", "all", TypeError),
]
FITS = [
    *(
        (cls(**{name: value}), PLAIN, kind, f"{name}.*{re.escape(repr(value))}")
        for cls in (pk.PropagationKernel, pk.PropagationFeatures)
        for name, value, kind in BAD
        if has(cls, name)
    ),
    (attributed(attribute_bin_width=0), NUMBERS, ValueError, "^attribute_bin_width .*, got 0$"),
    (attributed(attribute_bin_width=np.inf), NUMBERS, ValueError, "^attribute_bin_width"),
    (attributed(attribute_bin_width=()), NUMBERS, ValueError, "attribute_bin_width"),
    (attributed(attribute_metric="cosine"), NUMBERS, ValueError, "^attribute_metric must be one of"),
    (attributed(standardize="no"), NUMBERS, TypeError, "^standardize must be True or False, got 'no'"),
    (AttributeKernel(), PLAIN, ValueError, "no node attributes"),
    (AttributeKernel(attributes=None), NUMBERS, ValueError, "attributes must be one of"),
    (AttributeKernel(gamma=0), NUMBERS, ValueError, "gamma must be"),
    (DescriptorKernel(gamma=0), RANKED, ValueError, "gamma must be"),
    (pk.WeisfeilerLehman(labels="entries"), PLAIN, ValueError, "tuples, got the label 'C'"),
    (pk.WeisfeilerLehman(labels="entries"), LENGTHS, ValueError, r"one length, got lengths \[1, 2\]"),
    (pk.WeisfeilerLehman(labels=2), PAIRS, ValueError, "labels=2: .* entries 0 to 1"),
    (pk.WeisfeilerLehman(labels="entrys"), PAIRS, ValueError, "labels must be one of"),
    (pk.WeisfeilerLehman(t_max=-1), PLAIN, ValueError, "t_max must be at least 0"),
    (pk.WeisfeilerLehman(edge_labels="yes"), PLAIN, TypeError, "edge_labels must be True or False"),
    (pk.WeisfeilerLehman(edge_labels=True), PLAIN, ValueError, "no edge labels"),
    (pk.WeisfeilerLehman(), UNSURE, ValueError, "LabelImputer"),
    (pk.WeisfeilerLehmanFeatures(), UNSURE, ValueError, "LabelImputer"),
    (LabelHistogram(), UNSURE, ValueError, "LabelImputer"),
    (pk.PropagationKernel(labels="node"), one(3, [(0, 1)], None), ValueError, "labels='node'.*no node"),
    (pk.PropagationKernel(time="forward"), PLAIN, ValueError, "from_contacts"),
    (pk.ShortestPath(edge_labels=True, attributes="gaussian"), PAIRS, ValueError, "edge_labels=True"),
    (pk.ShortestPath(labels=0, attributes="gaussian"), PAIRS, ValueError, "entry of labels with attributes"),
    (pk.ShortestPath(labels=2), PAIRS, ValueError, "labels=2: .* entries 0 to 1"),
    (ShortestPathFeatures(labels=2), PAIRS, ValueError, "labels=2: .* entries 0 to 1"),
    *(
        (SubgraphMatching(k=3, lambdas=bad), PLAIN, ValueError, "lambdas must be")
        for bad in ([1, 2], [1, 2, -3], [1, 2, np.nan], [1, 2, np.longdouble("1e400")])
    ),
    (pk.SumKernel(kernels=[]), PLAIN, TypeError, "at least one kernel"),
    (pk.SumKernel(kernels=[3]), PLAIN, TypeError, "kernels of this library"),
    (pk.SumKernel(BOTH, weights=[1.0]), PLAIN, ValueError, "weights must be 2 finite numbers"),
    (pk.SumKernel(BOTH, weights=[1.0, -1.0]), PLAIN, ValueError, "not negative"),
    (pk.SumKernel(BOTH, weights=[1, 10**400]), PLAIN, ValueError, "weights must be 2 finite numbers"),
    (pk.SumKernel(BOTH, weights="equal"), PLAIN, ValueError, "weights must be 2 finite numbers"),
    (pk.SumKernel(BOTH, normalize_parts=1), PLAIN, TypeError, "normalize_parts must be"),
]


@pytest.mark.parametrize(("kernel", "graphs", "kind", "words"), FITS)
def test_fit_refuses(kernel, graphs, kind, words):
    with pytest.raises(kind, match=words) as error:
        kernel.fit(graphs)
    assert "\n" not in str(error.value)
    assert not [name for name in vars(kernel) if name.endswith("_")]


@pytest.mark.parametrize(
    ("fitted", "graphs", "words"),
    [
        ("two attributes", PLAIN, "no node attributes: use with_attributes"),
        ("two attributes", PLAIN.with_attributes([0.0, 1.0]), "have 1 attribute dimension, .* fitted to 2"),
        ("entries", one(2, [(0, 1)], [("C",), ("O",)]), "have 1 entries, .* training graphs have 2"),
        ("descriptors", PLAIN.with_descriptors([[0.5, 1.0]]), "have 2 descriptors"),
    ],
)
def test_transform_refuses(fitted, graphs, words):
    with pytest.raises(ValueError, match=words):
        FITTED[fitted].transform(graphs)

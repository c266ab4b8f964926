"""carried: members of a model as arrays of a page."""

import numpy as np

import propkernels as pk
from propkernels.codes.codes import NO_BIN
from propkernels.explorer.carried import carried_rule, in_order


def test_kept_graphs_that_are_on_the_page_are_stored_as_numbers(data):
    kernel = pk.WeisfeilerLehman(t_max=1, base_kernel="jaccard")
    model = pk.PropagationClassifier(kernel=kernel, C=10, random_state=0).fit(data.graphs, data.target)
    for graphs, expected in [(data.graphs, True), (data.graphs[20:], False)]:
        carried = carried_rule(model.rule_, graphs)
        assert bool((carried.arrays["m0.graphs"] >= 0).all()) is expected
        (member,) = model.rule_.members
        n_stored = sum(carried.arrays[f"m0.counts{s}"].sum() for s in range(len(member.stream_weights)))
        assert bool(n_stored == 0) is expected


def test_bins_are_numbered_by_first_appearance():
    assert in_order(np.array([7, NO_BIN, 3, 7, 5, 3])).tolist() == [7, 3, 5]


def test_codes_of_bins_that_no_graph_of_the_page_has_are_stored(data, model):
    for graphs, is_training in [(data.graphs, True), (data.graphs[:5], False)]:
        (bins,) = carried_rule(model.rule_, graphs).bins
        stored = sum(len(array) // 2 for name, array in bins.arrays.items() if name.startswith("extra"))
        on_page = sum(int((columns >= 0).sum()) for columns in bins.columns)
        assert bins.are_those_of_training is is_training
        assert stored + on_page == sum(map(len, bins.vocabulary.codes))

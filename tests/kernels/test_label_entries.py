"""WeisfeilerLehman(labels="entries"): the sum of the kernels of the entries, and all that rests on counts."""

import numpy as np
import pytest

import propkernels as pk

rng = np.random.default_rng(0)


def one_graph(n):
    adjacency = np.triu(rng.random((n, n)) < 0.4, 1).astype(float)
    adjacency = adjacency + adjacency.T
    return adjacency, [("CNO"[i], (int(i), int(j))) for i, j in rng.integers(0, 3, (n, 2))]


GRAPHS = [one_graph(n) for n in (5, 7, 4, 9, 1, 6)]
LABELED = pk.check_graphs(GRAPHS)


def view(entry):
    return pk.check_graphs([(adjacency, [label[entry] for label in labels]) for adjacency, labels in GRAPHS])


@pytest.mark.parametrize("base_kernel", ["linear", "intersection"])
def test_the_kernel_is_the_sum_over_the_entries(base_kernel):
    kernel = pk.WeisfeilerLehman(t_max=2, labels="entries", base_kernel=base_kernel)
    plain = pk.WeisfeilerLehman(t_max=2, base_kernel=base_kernel)
    each = [plain.fit_transform_cumulative(view(entry)) for entry in (0, 1)]
    np.testing.assert_array_equal(kernel.fit_transform_cumulative(LABELED), each[0] + each[1])
    kernel.fit(LABELED[:4])
    parts = [plain.fit(view(entry)[:4]).transform(view(entry)[4:]) for entry in (0, 1)]
    np.testing.assert_array_equal(kernel.transform(LABELED[4:]), parts[0] + parts[1])
    shorter = pk.WeisfeilerLehman(t_max=1, labels="entries", base_kernel=base_kernel).fit(LABELED[:4])
    np.testing.assert_array_equal(
        kernel._restricted(1, False).transform(LABELED[4:]), shorter.transform(LABELED[4:])
    )


def test_one_entry_alone():
    for entry in (0, 1):
        kernel = pk.WeisfeilerLehman(t_max=2, labels=entry)
        expected = pk.WeisfeilerLehman(t_max=2).fit_transform(view(entry))
        np.testing.assert_array_equal(kernel.fit_transform(LABELED), expected)


def test_unobserved_labels_are_so_in_every_entry():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    graphs = [(path, [("C", 1), None, ("O", 2)]), (path, [("C", 1), ("O", 1), None])]
    expected = sum(
        pk.WeisfeilerLehman(t_max=1).fit_transform(
            [(a, [None if label is None else label[entry] for label in labels]) for a, labels in graphs]
        )
        for entry in (0, 1)
    )
    np.testing.assert_array_equal(
        pk.WeisfeilerLehman(t_max=1, labels="entries").fit_transform(graphs), expected
    )

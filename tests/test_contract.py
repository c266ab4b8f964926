"""What every kernel must satisfy, for every public estimator, on the zoo and beyond."""

import copy
import inspect
import itertools
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

import propkernels as pk
from propkernels.propagation import Diffusion, GaussianMixtures, LabelPropagation
from tests.strategies import permute_graphs, permute_nodes
from tests.test_contract_discovery import (
    assert_same,
    attributed,
    cases,
    classes,
    dense,
    fitted,
    fitted_on_the_zoo,
    gram,
    grid_schemes,
    has,
    is_derived,
    kind,
    make,
    takes,
    the_zoo,
    under_contract,
)
from tests.zoo import hide_labels, without_label, zoo

ROWS = ("kernel", "features")
ATTRIBUTES_FIRST = (
    "AttributeKernel",
    "GraphHopper",
    "SubgraphMatching",
)  # no labels where there are attributes
every_case, every_class = cases(*ROWS), classes(*ROWS)
also_graphs = classes()


@pytest.fixture
def graphs():
    """The zoo; ``tests/fuzz/test_invariances.py`` gives other graphs."""
    return the_zoo()


def fitted_on(graphs, cls, parameters):
    """As ``fitted``, once for all tests on the zoo."""
    if graphs is the_zoo():
        return fitted_on_the_zoo(cls, parameters)
    return fitted(cls, parameters, graphs)


# invariances


@every_class
@pytest.mark.parametrize("labels", ["auto", "degree"])
def test_degrees_are_numbers_of_neighbors_whatever_the_weights(cls, labels):
    """Without labels, nodes start with their numbers of neighbors; weights change walks alone."""
    if not has(cls, "labels") or (labels == "auto" and cls.__name__ in ATTRIBUTES_FIRST):
        pytest.skip("does not read labels here")
    rng, graphs = np.random.default_rng(2), the_zoo()
    bare = graphs.with_labels(None).with_weights(rng.uniform(0.5, 1.5, graphs.adjacency.nnz))
    counted = bare.with_labels(np.diff(bare.adjacency.indptr))
    expected = make(cls, labels="node").fit_transform(counted)
    computed = make(cls, labels=labels).fit_transform(bare)
    assert_same(computed, expected)
    plain = make(cls, labels=labels).fit_transform(bare.with_weights(None))
    assert_same(make(cls, labels="node").fit_transform(counted.with_weights(None)), plain)


@pytest.mark.slow
@every_case
def test_node_order_does_not_matter(cls, parameters, graphs):
    _, reference = fitted_on(graphs, cls, parameters)
    turned = permute_nodes(graphs, np.random.default_rng(0))
    assert_same(fitted(cls, parameters, turned)[1], reference)


@pytest.mark.slow
@every_case
def test_graph_order_only_reorders(cls, parameters, graphs):
    permuted, order = permute_graphs(graphs, np.random.default_rng(0))
    reference = gram(cls, fitted_on(graphs, cls, parameters)[1])[np.ix_(order, order)]
    computed = gram(cls, fitted(cls, parameters, permuted)[1])
    assert_same(computed, reference)


@pytest.mark.slow
@every_case
def test_gram_is_symmetric_and_positive_semidefinite(cls, parameters, graphs):
    matrix = gram(cls, fitted_on(graphs, cls, parameters)[1])
    assert np.array_equal(matrix, matrix.T)
    values = np.linalg.eigvalsh(matrix)
    assert values.min() >= -1e-9 * max(values.max(), 1)


@pytest.mark.slow
@every_class
def test_every_animal_alone(cls):
    for name, graphs in zoo().items():
        graphs = attributed(graphs)
        if not takes(cls, graphs):
            continue
        estimator, output = fitted(cls, {}, graphs)
        assert output.shape[0] == len(graphs), name
        assert np.isfinite(dense(output)).all(), name
        assert_same(estimator.transform(graphs), output)


# missing labels


def between_others(cls, parameters, graphs, hidden=False):
    """The kernel, or features in any order of columns, of all graphs but that with the rarest label."""
    column = graphs.label_column
    ids = column.ids[column.observed]
    node = np.flatnonzero(column.observed)[np.argmin(np.bincount(ids)[ids])]
    output = dense(fitted(cls, parameters, without_label(graphs, node) if hidden else graphs)[1])
    others = np.delete(np.arange(len(graphs)), graphs.graph_ids[node])
    if kind(cls) == "kernel":
        return output[np.ix_(others, others)]
    used = output[others][:, output[others].any(axis=0)]
    return used[:, np.lexsort(used)]


@every_case
def test_hiding_a_label_changes_nothing_between_other_graphs(cls, parameters):
    if parameters.get("base_kernel") == "rbf":
        pytest.skip("learns its width from all graphs")
    reference = between_others(cls, parameters, the_zoo())
    assert np.array_equal(between_others(cls, parameters, the_zoo(), hidden=True), reference)


@every_class
def test_hiding_one_more_label_changes_nothing_between_other_graphs(cls):
    """With default parameters also if others have gaps, as long as each has a label."""
    graphs = hide_labels(the_zoo(), 0.3)
    graphs = graphs[np.bincount(graphs.graph_ids, graphs.label_column.observed, len(graphs)) > 1]
    reference = between_others(cls, {}, graphs)
    assert np.array_equal(between_others(cls, {}, graphs, hidden=True), reference)


@pytest.mark.parametrize("scheme", ["auto", *grid_schemes()], ids=str)
@pytest.mark.parametrize("cls", [cls for cls in under_contract(*ROWS).values() if has(cls, "propagation")])
def test_hiding_a_pixel_changes_nothing_between_other_grids(cls, scheme):
    rng = np.random.default_rng(0)
    images, colors = rng.integers(0, 3, (6, 4, 5)), rng.normal(size=(6, 4, 5, 2))
    grids = pk.GridDatabase(list(images), attributes=list(colors))
    reference = between_others(cls, {"propagation": scheme}, grids)
    assert np.array_equal(between_others(cls, {"propagation": scheme}, grids, hidden=True), reference)


# the ways to one result


@pytest.mark.slow
@every_case
def test_fit_then_transform_is_fit_transform_and_so_is_transform_of_the_training_graphs(
    cls, parameters, graphs
):
    estimator, reference = fitted_on(graphs, cls, parameters)
    assert_same(estimator.transform(graphs), reference)
    assert_same(make(cls, **parameters).fit(graphs).transform(graphs), reference)


@pytest.mark.slow
@every_case
def test_a_row_does_not_depend_on_its_batch(cls, parameters, graphs):
    train, new = (graphs[::2], graphs[1::4]) if graphs is the_zoo() else (graphs, graphs)
    estimator, _ = fitted(cls, parameters, train)
    batch = dense(estimator.transform(new))
    single = np.concatenate([dense(estimator.transform(new[[i]])) for i in range(len(new))])
    assert np.array_equal(batch, single)


@pytest.mark.slow
@every_class
def test_rows_of_awkward_labels_do_not_depend_on_their_batch(cls):
    """Labels of all kinds side by side, known and unknown."""
    graphs = attributed(pk.GraphDatabase.concat([one.with_attributes(None) for one in zoo().values()]))
    for parameters in [{}, {"metric": "hellinger"}, {"metric": "hellinger", "bin_width": 1e-13}]:
        if not has(cls, *parameters) or (parameters and is_derived(cls)):
            continue
        estimator, _ = fitted(cls, parameters, graphs[::3])
        batch = dense(estimator.transform(graphs))
        single = [dense(estimator.transform(graphs[[i]]))[0] for i in range(len(graphs))]
        assert np.array_equal(batch, np.array(single))


@pytest.mark.slow
@every_class
def test_a_list_is_as_good_as_a_database(cls):
    graphs = the_zoo()
    reference_estimator, reference = fitted(cls, {}, graphs)
    tuples = [(g.adjacency.toarray(), g.node_labels, g.node_attributes) for g in graphs]
    for form in (list(graphs), tuples, tuple(graphs), graphs.to_networkx()):
        estimator = make(cls)
        assert_same(estimator.fit_transform(form), reference)
        assert_same(estimator.transform(form[:5]), reference_estimator.transform(graphs[:5]))


@pytest.mark.slow
@every_case
def test_threads_do_not_matter(cls, parameters, graphs):
    if not has(cls, "n_jobs"):
        pytest.skip("has no n_jobs")
    graphs = graphs[np.tile(np.arange(len(graphs)), 6)]
    one, reference = fitted(cls, {**parameters, "n_jobs": 1}, graphs)
    two, computed = fitted(cls, {**parameters, "n_jobs": 2}, graphs)
    assert np.array_equal(dense(computed), dense(reference))
    assert np.array_equal(dense(two.transform(graphs[:9])), dense(one.transform(graphs[:9])))


@pytest.mark.slow
@every_case
def test_pickle_round_trip(cls, parameters, graphs):
    estimator, reference = fitted_on(graphs, cls, parameters)
    copy_of_it = pickle.loads(pickle.dumps(estimator))
    assert_same(copy_of_it.transform(graphs), reference)


@pytest.mark.slow
@every_case
def test_file_round_trip(cls, parameters, tmp_path):
    """The same type, parameters and results, and the same bytes when it is saved again."""
    estimator, _ = fitted_on_the_zoo(cls, parameters)
    pk.save_model(estimator, tmp_path / "model.pk")
    again = pk.load_model(tmp_path / "model.pk")
    assert type(again) is cls
    assert repr(again.get_params()) == repr(estimator.get_params())
    assert np.array_equal(dense(again.transform(the_zoo())), dense(estimator.transform(the_zoo())))
    pk.save_model(again, tmp_path / "again.pk")
    assert (tmp_path / "again.pk").read_bytes() == (tmp_path / "model.pk").read_bytes()


OTHER_PROCESS = """
import hashlib, numpy as np, propkernels as pk
from tests.test_contract import string_digests
print(string_digests())
"""


def string_digests():
    """A digest of each estimator's results on string, tuple and mixed labels."""
    import hashlib

    graphs = pk.GraphDatabase.concat(
        [zoo()[name] for name in ("string labels", "tuple labels", "mixed-type labels", "float labels")]
    )
    graphs = attributed(graphs)
    digests = {}
    for name, cls in under_contract(*ROWS).items():
        for metric in ("tv", "hellinger"):
            parameters = {"metric": metric} if has(cls, "metric") else {}
            output = dense(fitted(cls, parameters, graphs)[1])
            digests[name, metric] = hashlib.sha256(np.ascontiguousarray(output).tobytes()).hexdigest()[:16]
    return digests


@pytest.mark.slow
def test_same_random_state_same_result_in_another_process():
    hash_seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-c", OTHER_PROCESS]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str(string_digests())


# iterations


@pytest.mark.slow
@every_case
def test_smaller_t_max_is_a_prefix(cls, parameters, graphs):
    if not has(cls, "t_max"):
        pytest.skip("has no iterations")
    if not hasattr(cls, "fit_transform_cumulative"):
        return check_prefix_of_features(cls, parameters, graphs)
    computed = make(cls, **parameters, t_max=4).fit_transform_cumulative(graphs)
    assert len(computed) == 5
    for t in (0, 1, 2, 4):
        reference = make(cls, **parameters, t_max=t).fit_transform(graphs)
        assert np.array_equal(computed[t], reference)
    return None


def check_prefix_of_features(cls, parameters, graphs):
    few, many = (make(cls, **parameters, t_max=t) for t in (3, 6))
    reference, computed = dense(few.fit_transform(graphs)), dense(many.fit_transform(graphs))
    if parameters.get("normalize"):
        return
    if parameters.get("n_features"):
        assert (computed >= reference).all()
        return
    names = few.get_feature_names_out()
    assert np.array_equal(many.get_feature_names_out()[: len(names)], names)
    assert np.array_equal(computed[:, : len(names)], reference)


# what holds for any graphs: tests of grids, of graphs in time and of random graphs call these with their own
OF_ALL_GRAPHS = (
    test_graph_order_only_reorders,
    test_gram_is_symmetric_and_positive_semidefinite,
    test_fit_then_transform_is_fit_transform_and_so_is_transform_of_the_training_graphs,
    test_a_row_does_not_depend_on_its_batch,
    test_threads_do_not_matter,
    test_pickle_round_trip,
    test_smaller_t_max_is_a_prefix,
)

# scikit-learn's habits


@also_graphs
def test_graphs_are_called_X_as_in_scikit_learn(cls):
    """scikit-learn's wrappers pass the first argument by this name."""
    for name in ("fit", "transform", "fit_transform", "fit_transform_cumulative"):
        method = getattr(cls, name, None)
        if method is not None:
            assert list(inspect.signature(method).parameters)[1] == "X", name


@also_graphs
def test_parameters_are_keyword_only_and_stored_untouched(cls):
    signature = inspect.signature(cls.__init__)
    parameters = [p for name, p in signature.parameters.items() if name != "self"]
    named = [p for p in parameters if p.name != "kernels"]  # SumKernel([first, second]) needs no name
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in named)
    marks = {p.name: object() for p in parameters}
    estimator = cls(**marks)
    assert vars(estimator) == marks
    assert estimator.get_params(deep=False) == marks


@also_graphs
def test_get_params_set_params_clone(cls):
    estimator = make(cls)
    before = estimator.get_params(deep=False)
    estimator.fit(the_zoo())
    assert estimator.get_params(deep=False) == before
    copied = clone(estimator)
    assert copied.get_params(deep=False) == before
    assert [name for name in vars(copied) if name.endswith("_")] == []
    assert estimator.set_params(**before) is estimator
    with pytest.raises(ValueError, match="nonsense"):
        estimator.set_params(nonsense=1)
    repr(estimator)
    estimator._repr_html_()


@pytest.mark.slow
@also_graphs
def test_fit_returns_itself_and_changes_no_input(cls):
    graphs = the_zoo()
    original = copy.deepcopy(graphs)
    tuples = [(g.adjacency.toarray(), g.node_labels, g.node_attributes) for g in graphs]
    original_tuples = copy.deepcopy(tuples)
    estimator = make(cls)
    assert estimator.fit(graphs) is estimator
    estimator.transform(graphs)
    make(cls).fit_transform(tuples)
    assert graphs == original
    for parts, original_parts in zip(tuples, original_tuples, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(parts, original_parts, strict=True))


@pytest.mark.slow
@also_graphs
def test_read_only_input_is_enough(cls):
    graphs = copy.deepcopy(the_zoo())
    for array in (graphs.adjacency.data, graphs.adjacency.indices, graphs.adjacency.indptr, graphs.graph_ptr):
        array.flags.writeable = False
    graphs.label_column.ids.flags.writeable = False
    _, reference = fitted(cls, {}, the_zoo())
    _, computed = fitted(cls, {}, graphs)
    assert_same(computed, reference)


@also_graphs
def test_transform_before_fit_is_refused(cls):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        make(cls).transform(the_zoo())


WRONG_WEIGHT = np.array([[0, -1.0], [1, 0]])
BAD_GRAPHS = ([], [np.ones((2, 3))], "graphs", [3], [(WRONG_WEIGHT, [0, 1])], np.ones((3, 3)), None)


@pytest.mark.slow
@every_class
def test_transform_and_bad_graphs_leave_a_fitted_estimator_as_it_was(cls):
    graphs = the_zoo()
    estimator, reference = fitted(cls, {}, graphs)
    state = dict(vars(estimator))
    for name, bad in itertools.product(("fit", "fit_transform", "transform"), BAD_GRAPHS):
        with pytest.raises((ValueError, TypeError)):
            getattr(estimator, name)(bad)
        assert vars(estimator).keys() == state.keys()
        assert all(vars(estimator)[name] is state[name] for name in state)
    assert_same(estimator.transform(graphs), reference)
    assert all(vars(estimator)[name] is state[name] for name in state)


@every_case
def test_results_have_the_promised_types(cls, parameters):
    estimator, output = fitted_on_the_zoo(cls, parameters)
    assert output.dtype == np.float64
    if kind(cls) == "kernel":
        assert type(output) is np.ndarray
    if issparse(output):
        assert output.format == "csr"
        assert output.indices.dtype == output.indptr.dtype == np.int32  # linear models want no others
        assert output.has_canonical_format
    names = estimator.get_feature_names_out()
    assert len(names) == output.shape[1]
    assert len(set(names)) == len(names)


@classes("graph")
def test_graphs_that_become_graphs(cls, graphs):
    """A result does not depend on the batch, nor on the order of nodes; it survives pickle."""
    graphs = hide_labels(graphs, 0.3)
    estimator, output = fitted(cls, {}, graphs)
    assert len(output) == len(graphs)
    assert np.array_equal(output.graph_ptr, graphs.graph_ptr)
    assert estimator.transform(graphs) == output
    assert estimator.transform(list(graphs)) == output
    single = [estimator.transform(graphs[[i]]) for i in range(len(graphs))]
    assert pk.GraphDatabase.concat(single) == output
    assert pickle.loads(pickle.dumps(estimator)).transform(graphs) == output
    permuted = fitted(cls, {}, permute_nodes(graphs, np.random.default_rng(1)))[1]
    reference = permute_nodes(output, np.random.default_rng(1))
    assert permuted == reference


# kernels and features that belong together


TWINS = ["Propagation", "WeisfeilerLehman", "ShortestPath", "LabelHistogram"]


def products(a, b):
    """Return a @ b.T of sparse rows, without the columns that are empty in both."""
    columns = np.union1d(a.indices, b.indices)
    rows = [
        csr_array((m.data, np.searchsorted(columns, m.indices), m.indptr), shape=(m.shape[0], len(columns)))
        for m in (a, b)
    ]
    return rows[0] @ rows[1].T


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"metric": "hellinger"},
        {"normalize": True},
        {"base_kernel": "intersection"},
        {"n_hashes": 3},
        {"labels": "degree"},
        {"propagation": LabelPropagation()},
        {"propagation": Diffusion(isolated="vanish")},
        {"attributes": "sum", "n_hashes": 2},
        {"attributes": GaussianMixtures(n_sample_points=5)},
    ],
    ids=str,
)
def test_dot_product_of_features_is_the_kernel(name, parameters):
    known = under_contract()
    of_features = known[f"{name}Features"]
    if not has(of_features, *parameters):
        pytest.skip("has no such parameter")
    train, new = the_zoo()[::2], the_zoo()[1::2]
    kernel = make(known["PropagationKernel" if name == "Propagation" else name], **parameters)
    features, hashed = make(of_features, **parameters), make(of_features, **parameters, n_features=2**28)
    reference, phi, wide = (e.fit_transform(train) for e in (kernel, features, hashed))
    assert issparse(phi)
    assert_same(phi @ phi.T, reference)
    assert_same(products(wide, wide), reference)
    assert_same(features.transform(new) @ phi.T, kernel.transform(new))
    assert_same(products(hashed.transform(new), wide), kernel.transform(new))

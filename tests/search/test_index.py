"""GraphIndex: exact, whatever was added and taken out on the way."""

import copy
import pickle
import sys
from threading import Barrier, Event, Thread

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.kernels import AttributeKernel, GraphHopper, LabelHistogram
from propkernels.propagation import Diffusion
from propkernels.search.bounds import MEASURES
from propkernels.search.inverted_file import InvertedFile
from tests.test_contract_discovery import the_zoo
from tests.utils.test_locks import ends_in_child, forks

KERNELS = {
    "propagation": pk.PropagationKernel(t_max=3, random_state=1),
    "several hashes": pk.PropagationKernel(t_max=2, n_hashes=3, random_state=1),
    "hellinger": pk.PropagationKernel(t_max=2, metric="hellinger", random_state=1),
    "attributes": pk.PropagationKernel(t_max=2, attributes="sum", random_state=1),
    "product": pk.PropagationKernel(t_max=2, attributes="product", n_hashes=2, random_state=1),
    "vanishing": pk.PropagationKernel(t_max=2, propagation=Diffusion(isolated="vanish"), random_state=1),
    "p2k": pk.P2K(t_max=2, random_state=1),
    "weisfeiler-lehman": pk.WeisfeilerLehman(t_max=3),
    "histogram": LabelHistogram(),
    "shortest path": pk.ShortestPath(),
    "graph hopper": GraphHopper(),
}
every_kernel = pytest.mark.parametrize("name", KERNELS)
MOLECULES = pk.datasets.make_molecules(40, random_state=0).graphs


def reference(kernel, indexed, queries, k):
    """The k best by the normalised kernel matrix: similarities and positions."""
    matrix = clone(kernel).set_params(normalize=True).fit(indexed).transform(queries)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :k]
    return matrix, np.take_along_axis(matrix, order, axis=1)


def assert_best(found, kernel, indexed, queries, position=None):
    """Similarities are the k largest, and each id has the similarity that is said; ties by position."""
    similarities, ids = found
    matrix, best = reference(kernel, indexed, queries, ids.shape[1])
    np.testing.assert_allclose(similarities, best, rtol=1e-12, atol=1e-12)
    places = ids if position is None else np.vectorize(position.get)(ids)
    np.testing.assert_allclose(np.take_along_axis(matrix, places, axis=1), similarities, atol=1e-12)
    steps = np.diff(similarities, axis=1)
    assert (steps <= 0).all()
    assert (np.diff(places, axis=1)[steps == 0] > 0).all()


@pytest.mark.slow
@every_kernel
def test_equals_the_normalised_kernel_on_the_zoo_and_has_every_measure(name):
    graphs = the_zoo()
    index = pk.GraphIndex(kernel=KERNELS[name]).fit(graphs)
    assert_best(index.query(graphs, k=7), KERNELS[name], graphs, graphs)
    assert_best(index.query(graphs, k=len(graphs) + 1), KERNELS[name], graphs, graphs)
    for measure in MEASURES:
        other = pk.GraphIndex(kernel=KERNELS[name], similarity=measure).fit(graphs)
        values = other.query(graphs, k=len(graphs)).similarities
        assert ((values >= 0) & (values <= 1 + 1e-12)).all()


def test_ids_are_numbers_until_others_are_given():
    index = pk.GraphIndex(random_state=0).fit(MOLECULES[:10]).add(MOLECULES[10:12]).remove([1])
    assert index._names == range(12)
    index.add(MOLECULES[12:14], ids=["a", ("b", 9)])
    assert index.ids_.tolist() == [0, *range(2, 12), "a", ("b", 9)]
    assert index.remove([("b", 9), np.int64(7)]).add(MOLECULES[:1]).ids_.tolist()[-2:] == ["a", 14]
    index.fit(MOLECULES[:4], ids=[2**63, -(2**80), 7, 8])  # of more than 64 bits
    assert index.query(MOLECULES[0], k=1).ids.tolist() == [2**63]
    assert index.query(MOLECULES[2:4], k=1).ids.dtype == np.int64
    assert len(index.remove([2**63, -(2**80), 7, 8])) == 0
    assert index.query(MOLECULES[:5], k=3).ids.shape == (5, 0)
    assert index.add(MOLECULES[:5]).query(MOLECULES[3], k=1).ids.tolist() == [7]


KNOWN = pk.GraphIndex(random_state=0).fit(MOLECULES[:5])


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda: KNOWN.remove([0, 17]), ValueError, "17 is not in the index"),
        (lambda: KNOWN.add(MOLECULES[:1], ids=[3]), ValueError, "3 is already taken"),
        (lambda: KNOWN.add(MOLECULES[:2], ids=["a", "a"]), ValueError, "'a' is already taken"),
        (lambda: KNOWN.add(MOLECULES[:2], ids=["a"]), ValueError, "1 ids for 2 graphs"),
        (lambda: KNOWN.query(MOLECULES, k=0), ValueError, "k must be at least 1"),
        (lambda: KNOWN.query(MOLECULES, at_least=1.5), ValueError, "at_least"),
        (lambda: KNOWN.remove("abc"), TypeError, "ids must be a list of ids"),
        (lambda: KNOWN.add(MOLECULES[:1], ids=[[1]]), TypeError, "ids must be numbers other than NaN, text"),
        (lambda: pk.GraphIndex().query(MOLECULES), ValueError, "not fitted"),
        (lambda: pk.GraphIndex().add(MOLECULES), ValueError, "not fitted"),
        (lambda: pk.GraphIndex().remove([1]), ValueError, "not fitted"),
        (lambda: pk.GraphIndex(similarity="dice").fit(MOLECULES), ValueError, "similarity"),
        (lambda: fitted(pk.PropagationKernel(base_kernel="rbf")), ValueError, "is a dot product"),
        (lambda: fitted(pk.ShortestPath(attributes="gaussian")), ValueError, "is a dot product"),
        (lambda: fitted(AttributeKernel()), ValueError, "is a dot product"),
        (lambda: fitted(pk.PropagationFeatures()), TypeError, "a kernel of this library that counts"),
        (lambda: fitted(pk.PropagationKernel(t_max=-1)), ValueError, "t_max must be at least 0"),
        (lambda: fitted(pk.PropagationKernel(n_jobs=0)), ValueError, "n_jobs must be"),
        (lambda: InvertedFile([], KNOWN._file.weights, np.ones(3), np.ones(2)), ValueError, "3 lengths"),
    ],
)
def test_errors_change_nothing(call, error, word):
    with pytest.raises(error, match=word):
        call()
    assert KNOWN.ids_.tolist() == list(range(5))


def fitted(kernel):
    return pk.GraphIndex(kernel=kernel).fit(MOLECULES)


def test_grids():
    images = [np.random.default_rng(i).integers(0, 3, (5, 6)) for i in range(8)]
    grids = pk.GridDatabase(images)
    kernel = pk.PropagationKernel(t_max=3, random_state=0)
    index = pk.GraphIndex(kernel=kernel).fit(grids[:5]).add(grids[5:])
    assert_best(index.query(grids, k=4), kernel, grids, grids)
    assert index.query(grids[6], k=1).ids.tolist() == [6]


def test_one_graph_is_as_good_as_a_list_of_one():
    graphs = pk.datasets.make_molecules(20, random_state=0).graphs
    index = pk.GraphIndex(random_state=0).fit(graphs)
    one, several = index.query(graphs[4], k=3), index.query(graphs[[4]], k=3)
    assert one.ids.shape == (3,)
    assert several.ids.shape == (1, 3)
    assert np.array_equal(one.similarities, several.similarities[0])
    network = graphs[4].to_networkx()
    assert isinstance(network, nx.Graph)
    assert np.array_equal(index.query(network, k=3).ids, one.ids)


# threads


def run_together(*functions):
    """Run functions in threads that start together; return what they raised."""
    start, raised = Barrier(len(functions)), []

    def run(function):
        start.wait()
        try:
            function()
        except Exception as error:
            raised.append(error)

    threads = [Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.slow
@pytest.mark.parametrize("name", ["propagation"])
def test_queries_see_one_moment_while_others_add_and_remove(name):
    """Each graph is in the index under its own number, so an answer that mixes two moments shows."""
    graphs = pk.datasets.make_molecules(90, random_state=0).graphs
    kernel = KERNELS[name]
    index = pk.GraphIndex(kernel=kernel).fit(graphs[:30])
    values = clone(kernel).set_params(normalize=True).fit_transform(graphs)
    answers = []

    def add(first, last):
        return lambda: [index.add(graphs[[i]], ids=[i]) for i in range(first, last)]

    def remove():
        for i in range(25):
            index.remove([i])

    def ask():
        answers.extend((i, index.query(graphs[i], k=5)) for i in range(25, 75))

    assert run_together(add(30, 60), add(60, 90), remove, ask, ask) == []
    assert sorted(index.ids_.tolist()) == list(range(25, 90))
    assert len(answers) == 100
    for i, (similarities, ids) in answers:
        np.testing.assert_allclose(similarities, values[i, ids], rtol=1e-9, atol=1e-12)
    again = pk.GraphIndex(kernel=kernel).fit(graphs[index.ids_], ids=index.ids_)
    for computed, expected in zip(index.query(graphs, k=4), again.query(graphs, k=4), strict=True):
        assert np.array_equal(computed, expected)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda i: pickle.loads(pickle.dumps(i))])
def test_copies_are_of_one_moment(copied, monkeypatch):
    """A graph is added while a copy is made, between two attributes."""
    graphs = pk.datasets.make_molecules(6, random_state=0).graphs
    index = pk.GraphIndex(random_state=0).fit(graphs[:4])
    late = iter([graphs[4:]])

    def add_meanwhile(file):
        for more in late:
            index.add(more)
        return vars(file)

    monkeypatch.setattr(InvertedFile, "__getstate__", add_meanwhile, raising=False)
    again = copied(index)
    assert len(again._names) == len(again._file.alive) == again._n_added
    assert again.ids_.tolist() == list(range(len(again)))


@pytest.mark.slow
@forks
@pytest.mark.skipif(sys.gettrace() is not None, reason="a forked process cannot free the locks of a tracer")
def test_children_forked_at_any_moment():
    graphs = pk.datasets.make_molecules(40, random_state=0).graphs
    index = pk.GraphIndex(random_state=0).fit(graphs[:10])
    index.query(graphs[:2])
    done = Event()

    def change():
        while not done.is_set():
            index.add(graphs[10:], ids=range(10, 40)).remove(range(10, 40))

    def use():
        assert len(index) in (10, 40)
        assert len(index._names) == len(index._file.alive)
        index.query(graphs[:2], k=4)
        index.add(graphs[:3], ids=["a", "b", "c"])

    threads = [Thread(target=change), Thread(target=lambda: [index.query(graphs[:5]) for _ in range(100)])]
    for thread in threads:
        thread.start()
    try:
        assert all(ends_in_child(use) for _ in range(20))
    finally:
        done.set()
        for thread in threads:
            thread.join()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "index.pk"
    pk.save_model(pk.GraphIndex(random_state=0).fit(MOLECULES[:30]), path)
    return path


def test_an_opened_index_stays_in_its_file_and_is_read_only(saved):
    opened = pk.load_model(saved, mmap_mode="r")
    (segment,) = opened._file.segments
    assert not any(array.flags.writeable for array in (segment.codes, segment.postings, segment.dense))
    assert len(opened) == 30
    for change in (lambda: opened.add(MOLECULES[30:]), lambda: opened.remove([3])):
        with pytest.raises(ValueError, match=r"opened read-only: load it by load_model\(path\) to change it"):
            change()
    assert opened.ids_.tolist() == list(range(30))


def test_an_opened_index_can_be_copied_saved_and_fitted_again(saved, tmp_path):
    opened = pk.load_model(saved, mmap_mode="r")
    expected = opened.query(MOLECULES[:5], k=4)
    for name, index in (("opened", opened), ("loaded", pk.load_model(saved))):
        pk.save_model(index, tmp_path / name)
    assert (tmp_path / "opened").read_bytes() == (tmp_path / "loaded").read_bytes()
    for other in (pickle.loads(pickle.dumps(opened)), pk.load_model(saved)):
        np.testing.assert_array_equal(other.query(MOLECULES[:5], k=4), expected)
        assert len(other.add(MOLECULES[30:40])) == 40
    assert len(opened.fit(MOLECULES[:7]).add(MOLECULES[7:9])) == 9


def test_only_an_index_is_opened(tmp_path, saved):
    pk.save_model(pk.WeisfeilerLehman(t_max=1).fit(MOLECULES[:5]), tmp_path / "kernel.pk")
    with pytest.raises(TypeError, match=r"mmap_mode is for a GraphIndex, and .* holds a WeisfeilerLehman"):
        pk.load_model(tmp_path / "kernel.pk", mmap_mode="r")
    with pytest.raises(ValueError, match="mmap_mode must be 'r' or None, got 'w'"):
        pk.load_model(saved, mmap_mode="w")


def test_a_damaged_file_is_not_opened(saved, tmp_path):
    data = saved.read_bytes()
    (segment,) = pk.load_model(saved)._file.segments
    place = data.index(segment.postings.tobytes())
    for forged in (data[:place] + b"\xff" * 4 + data[place + 4 :], data[:-100], data[: place + 9]):
        (tmp_path / "index.pk").write_bytes(forged)
        with pytest.raises(pk.storage.ModelFileError, match=r"index\.pk"):
            pk.load_model(tmp_path / "index.pk", mmap_mode="r")


def test_a_query_of_another_reader_is_told():
    """Labels that no graph of the index has: all similarities are 0."""
    graphs = pk.datasets.make_molecules(5, random_state=0).graphs
    others = graphs.with_labels([("other", str(label)) for label in graphs.node_labels])
    index = pk.GraphIndex(random_state=0).fit(graphs)
    with pytest.warns(UserWarning, match="all similarities are 0: .* were both read alike") as said:
        assert not index.query(others, k=2).similarities.any()
    assert said[0].filename == __file__
    index.query(graphs, k=2)  # warnings are errors in tests

"""What save_model accepts, load_model reads: for every estimator, and every kind of id, label and class."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import propkernels as pk
from tests.test_contract_discovery import classes, dense, make, public_classes

N = 6
GRAPHS = pk.datasets.make_molecules(N, random_state=0, mean_nodes=6).graphs
# One value for each of a number: what users call graphs, nodes and classes.
KINDS = {
    "int": lambda i: i,
    "long int": lambda i: 2**63 + i,
    "very long int": lambda i: 10**3000 + i,
    "too long int": lambda i: 10**5000 + i,
    "negative": lambda i: -(2**63) + i,
    "str": lambda i: f"graph {i}",
    "surrogate": lambda i: f"\udce9{i}",
    "bytes": lambda i: bytes([i]),
    "float": lambda i: i + 0.5,
    "infinity": lambda i: float("inf") if i == 1 else i / 8,
    "bool": lambda i: i == 1,
    "some None": lambda i: None if i == 1 else i,
    "tuple": lambda i: (i, "a"),
    "nested": lambda i: (i, (None, (2.5, b"c"))),
    "frozenset": lambda i: frozenset([i, "a"]),
    "complex": lambda i: 1j + i,
    "range": lambda i: range(i),
    "date": lambda i: dt.date(2020, 1, 1 + i),
    "datetime": lambda i: dt.datetime(2020, 1, 1 + i, 7),
    "aware": lambda i: dt.datetime(2020, 1, 1 + i, tzinfo=dt.UTC),
    "zone": lambda i: dt.datetime(2020, 1, 1 + i, tzinfo=ZoneInfo("UTC")),
    "timedelta": lambda i: dt.timedelta(i),
    "Decimal": lambda i: Decimal(i) / 10,
    "Fraction": lambda i: Fraction(i, 7),
    "UUID": lambda i: UUID(int=i),
    "numpy int": lambda i: np.uint8(i),
    "numpy float": lambda i: np.float32(i / 3),
    "numpy text": lambda i: np.str_(i),
    "numpy date": lambda i: np.datetime64("2020-01-01") + np.timedelta64(i, "D"),
    "nanoseconds": lambda i: np.datetime64("2020-01-01", "ns") + np.timedelta64(i, "ns"),
    "object": lambda i: object(),
    "mixed": lambda i: [1, "1", (1,), None, 2.5, b"1"][i % 6],
}
LOST = {"too long int", "bool", "complex", "range", "zone", "timedelta", "object", "nanoseconds"}
every_kind = pytest.mark.parametrize("values", KINDS.values(), ids=KINDS)


def accepted(make_model, path):
    """The model, and the same after loading; None where fitting or saving refuses it."""
    try:
        model = make_model()
        pk.save_model(model, path)
    except (TypeError, ValueError):
        assert not path.exists()
        return None
    return model, pk.load_model(path)


def assert_equal(computed, reference):
    """Equal values of the same types."""
    assert list(zip(map(type, computed), computed, strict=True)) == list(
        zip(map(type, reference), reference, strict=True)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_an_index(kind, tmp_path):
    ids = [KINDS[kind](i) for i in range(N)]
    found = accepted(lambda: pk.GraphIndex(random_state=0).fit(GRAPHS, ids=ids), tmp_path / "i.pk")
    if found is None:
        assert kind in LOST
        return
    index, again = found
    assert_equal(again.ids_, index.ids_)
    assert again.ids_.dtype == index.ids_.dtype
    for ours, theirs in zip(again.query(GRAPHS, 3), index.query(GRAPHS, 3), strict=True):
        assert ours.tolist() == theirs.tolist()
    gone = index.ids_[[1]]
    for one in (index, again):
        one.remove(gone)
    assert again.ids_.tolist() == index.ids_.tolist()


@every_kind
def test_ids_of_graphs(values, tmp_path):
    found = accepted(lambda: GRAPHS.with_ids(list(map(values, range(N)))), tmp_path / "graphs.pk")
    if found is not None:
        assert_equal(found[1].ids, found[0].ids)
        assert found[1] == found[0]


def labelled(values):
    column = np.empty(GRAPHS.n_nodes, dtype=object)
    column[:] = [values(i % N) for i in range(GRAPHS.n_nodes)]
    return GRAPHS.with_labels(column).with_attributes(np.ones((GRAPHS.n_nodes, 1)))


@pytest.mark.slow
@every_kind
@classes("kernel", "features")
def test_labels_that_estimators_keep(cls, values, tmp_path):
    found = accepted(lambda: make(cls, t_max=1).fit(labelled(values)), tmp_path / "model.pk")
    if found is not None:
        ours, theirs = (dense(model.transform(labelled(values))) for model in reversed(found))
        assert np.array_equal(ours, theirs)


CLASSIFIERS = public_classes("fit", "predict_proba")


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore:.* graphs have no target and are left out")
def test_classes_that_classifiers_keep(name, values, tmp_path):
    graphs = pk.datasets.make_molecules(20, random_state=0, mean_nodes=6).graphs
    target = np.empty(20, dtype=object)
    target[:] = [values(i % 2) for i in range(20)]

    def fit():
        settings = {"t_max": 1, "C": 1.0} if name.startswith("Propagation") else {}
        return CLASSIFIERS[name](**settings, random_state=0).fit(graphs, target)

    found = accepted(fit, tmp_path / "model.pk")
    if found is not None:
        assert_equal(found[1].predict(graphs), found[0].predict(graphs))


def test_nothing_is_written_that_could_not_be_read(tmp_path):
    """Whatever gap there is between fit and the checks of load_model, saving finds it."""
    path = tmp_path / "index.pk"
    path.write_text("precious")
    index = pk.GraphIndex(random_state=0).fit(GRAPHS)
    index._names = [1j] * N
    with pytest.raises(
        ValueError, match=r"load_model would refuse it \(the attributes of GraphIndex .*: ids"
    ):
        pk.save_model(index, path)
    assert path.read_text() == "precious"
    assert [file.name for file in tmp_path.iterdir()] == ["index.pk"]

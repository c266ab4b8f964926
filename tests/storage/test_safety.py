"""Files from anybody: damaged, foreign, newer or malicious ones give one error, and nothing else happens."""

import io
import json
import pickle
import zipfile
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.explain.rule import Rule, dual_members
from propkernels.kernels import GraphHopper, LabelHistogram, LabelHistogramFeatures, SubgraphMatching
from propkernels.propagation import LabelImputer
from propkernels.storage.codec import Encoder
from propkernels.storage.model_files import from_bytes, to_json, write_archive

SMALL = pk.datasets.make_molecules(24, random_state=0)
GRAPHS = SMALL.graphs.with_attributes(np.linspace(0, 1, SMALL.graphs.n_nodes)[:, None])


def fit_classifier():
    kernel = pk.PropagationKernel(t_max=2)
    return pk.PropagationClassifier(kernel=kernel, C=1.0, cv=2, random_state=0).fit(GRAPHS, SMALL.target)


def fit_averaged():
    """A classifier whose decisions are the mean of those with a dot product and with a ratio of counts."""
    model = fit_classifier()
    kernel = LabelHistogram(base_kernel="jaccard").fit(GRAPHS)
    model.rule_ = Rule.of([*model.rule_.members, *dual_members(kernel, np.ones((len(GRAPHS), 1)))])
    return model


# one model for each kind of learned state
MAKERS = {
    "classifier": fit_classifier,
    "averaged": fit_averaged,
    "kernel": lambda: pk.PropagationKernel(t_max=1, attributes="sum", random_state=0).fit(GRAPHS),
    "mixtures": lambda: pk.P2K(t_max=1, random_state=0).fit(GRAPHS[:6]),
    "labels": lambda: LabelHistogramFeatures().fit(GRAPHS[:6]),
    "sum": lambda: pk.SumKernel().fit(GRAPHS[:6]),
    "index": lambda: pk.GraphIndex(random_state=0).fit(GRAPHS[:20]).add(GRAPHS[20:]),
    "shortest path": lambda: pk.ShortestPath(attributes="gaussian").fit(GRAPHS[:6]),
    "graph hopper": lambda: GraphHopper(attributes="gaussian").fit(GRAPHS[:6]),
    "subgraphs": lambda: SubgraphMatching(k=2, connected=False).fit(GRAPHS[:6]),
    "counted subgraphs": lambda: SubgraphMatching(k=3).fit(GRAPHS[:6]),
    "clusters": lambda: pk.SphereExclusion(threshold=0.3, random_state=0).fit(GRAPHS[:20]),
    "picker": lambda: pk.sets.MaxMinPicker(n_graphs=5, random_state=0).fit(GRAPHS[:20]),
}


@cache
def fitted(name):
    return MAKERS[name]()


@cache
def file_of(name):
    return to_file(fitted(name))


def to_file(model):
    folder = io.BytesIO()
    encoder = Encoder()
    tree = encoder.encode(model, "model")
    header = {"format": "propkernels model", "format_version": 1, "propkernels": "0", "model": tree}
    write_archive(folder, to_json(header), encoder.arrays)
    return folder.getvalue()


def use(model):
    """What a model is for."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(GRAPHS)
    if hasattr(model, "centers_"):
        return model.predict(GRAPHS)
    if hasattr(model, "indices_"):
        return np.concatenate([model.indices_, model.similarities_])
    if hasattr(model, "query"):
        return np.concatenate(model.query(GRAPHS, k=3), axis=1)
    return model.transform(GRAPHS[:6])


def load_bytes(data, folder):
    path = folder / "received.pk"
    path.write_bytes(data)
    return pk.load_model(path)


def refused(data, folder, message="received.pk"):
    with pytest.raises(pk.storage.ModelFileError, match=message) as caught:
        load_bytes(data, folder)
    assert "received.pk" in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def parts_of(data):
    """Header and arrays of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        header = json.loads(archive.read("model.json"))
        n_arrays = len(archive.namelist()) - 1
        return header, [from_bytes(archive.read(f"arrays/{i}.npy")) for i in range(n_arrays)]


def forged(header, arrays):
    """A file that is whole, with any contents."""
    stream = io.BytesIO()
    write_archive(stream, to_json(header), arrays)
    return stream.getvalue()


def find(tree, name):
    """All nodes of a class, in order of appearance."""
    if isinstance(tree, dict):
        if tree.get("object", {}).get("class") == name:
            yield tree["object"]["state"]
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from find(part, name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("received")


# damaged


@pytest.mark.parametrize("name", ["classifier", "index"])
@settings(max_examples=15)
@given(data=st.data())
def test_truncated(name, folder, data):
    whole = file_of(name)
    refused(whole[: data.draw(st.integers(0, len(whole) - 1))], folder)


@pytest.mark.parametrize("name", ["index", "clusters"])
def test_an_index_has_a_weight_for_every_stream_of_its_counter(name, folder):
    """Otherwise a small file could ask for a million iterations."""
    header, arrays = parts_of(file_of(name))
    kinds = ("PropagationCoder", "NeighborhoodCoder")
    (coder,) = (one for kind in kinds for one in find(header["model"], kind))
    coder["t_max"] = 10**6
    refused(forged(header, arrays), folder, "every stream needs a weight")


def walk(tree):
    """All places of a tree, as (holder, key)."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in items:
        yield tree, key
        yield from walk(part)


# foreign, newer


def test_foreign_files(folder):
    refused(b"", folder, "is damaged or not a propkernels model file")
    refused(b"hello", folder)
    refused(pickle.dumps({"model": 1}), folder)
    stream = io.BytesIO()
    np.savez(stream, kernel=np.eye(2))
    refused(stream.getvalue(), folder, "model.json")
    refused(forged({"format": "other"}, []), folder, r"received.pk is not a propkernels model file$")
    refused(forged([], []), folder)


def test_newer_file(folder):
    header, arrays = parts_of(file_of("kernel"))
    newer = forged(header | {"format_version": 2, "propkernels": "9.1"}, arrays)
    refused(newer, folder, r"received.pk was written by propkernels 9.1 in format 2, but this is")
    for never in (0, None, "1", 1.5):
        refused(forged(header | {"format_version": never}, arrays), folder)


def test_a_plain_value_is_not_a_model(folder):
    header, _ = parts_of(file_of("kernel"))
    linear = {"object": {"class": "Linear", "state": {}}}
    for tree in (None, 3, [], linear):
        refused(forged(header | {"model": tree}, []), folder, "it does not contain an estimator")
    header, arrays = parts_of(file_of("kernel"))
    refused(forged(header | {"notes": {"node_labels": 1}}, arrays), folder, "of the wrong kind")


# malicious


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "UserKernel", "SVC", "object", ""])
def test_classes_that_are_not_in_the_table(folder, name):
    header, _ = parts_of(file_of("kernel"))
    tree = {"object": {"class": name, "state": {}}}
    refused(forged(header | {"model": tree}, []), folder, "is not a savable class")


@pytest.mark.parametrize("name", ["transform", "__class__", "__dict__", "get_params", "a b", "_learn_coder"])
def test_attributes_that_would_shadow_code(folder, name):
    header, arrays = parts_of(file_of("kernel"))
    header["model"]["object"]["state"][name] = 1
    refused(forged(header, arrays), folder, "PropagationKernel has no attribute")


def test_attributes_that_are_missing(folder):
    header, arrays = parts_of(file_of("kernel"))
    del next(find(header, "Prior"))["weights"]
    refused(forged(header, arrays), folder, "Prior lacks weights")
    header, arrays = parts_of(file_of("kernel"))
    next(find(header, "Prior"))["more"] = 1
    refused(forged(header, arrays), folder, "Prior has no attribute 'more'")


def test_parameters_of_later_versions_get_their_defaults(folder):
    """A file that was written before a parameter existed can still be read."""
    header, arrays = parts_of(file_of("kernel"))
    del header["model"]["object"]["state"]["n_hashes"]
    model = load_bytes(forged(header, arrays), folder)
    assert model.n_hashes == 1
    assert np.array_equal(use(model), use(fitted("kernel")))


class Explosive:
    """Pickled, this would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_arrays_of_objects_are_not_unpickled(folder, tmp_path):
    header, arrays = parts_of(file_of("kernel"))
    stream = io.BytesIO()
    np.save(stream, np.array([Explosive(tmp_path / "boom")], dtype=object), allow_pickle=True)
    received = io.BytesIO()
    with zipfile.ZipFile(received, "w") as archive:
        archive.writestr("model.json", json.dumps(header))
        for number in range(len(arrays)):
            archive.writestr(f"arrays/{number}.npy", stream.getvalue())
    refused(received.getvalue(), folder, "an array has the unsupported dtype object")
    assert list(tmp_path.iterdir()) == []


def rezipped(data, compression, replace=None):
    received = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(received, "w", compression) as new:
        for name in old.namelist():
            new.writestr(name, (replace or {}).get(name, old.read(name)))
    return received.getvalue()


def test_compressed_members_are_refused(folder):
    refused(rezipped(file_of("kernel"), zipfile.ZIP_DEFLATED), folder, "is compressed or encrypted")


def test_headers_that_promise_too_much(folder):
    """A few bytes that claim to be a terabyte are refused before anything is allocated."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.zeros(1), version=(1, 0))
    header = stream.getvalue()[:128].replace(b"(1,), }   ", b"(2**37,),}")
    short = stream.getvalue().replace(b"(1,), }           ", b"(137438953472,), }")
    later = io.BytesIO()
    np.lib.format.write_array(later, np.zeros(1), version=(2, 0))
    for data, message in (
        (header, "received"),
        (short, "received"),
        (later.getvalue(), "unknown npy version"),
    ):
        refused(rezipped(file_of("kernel"), zipfile.ZIP_STORED, {"arrays/0.npy": data}), folder, message)
    text = b'{"format": NaN}'
    refused(rezipped(file_of("kernel"), zipfile.ZIP_STORED, {"model.json": text}), folder, "NaN is not JSON")


def test_members_that_lie_over_each_other(folder):
    """Many entries of the table of contents that share one body would add up to more than the file."""
    received = io.BytesIO()
    with zipfile.ZipFile(received, "w") as archive:
        archive.writestr("model.json", "{}" + " " * 10_000)
        info = archive.getinfo("model.json")
        archive.filelist += [info] * 50
    refused(received.getvalue(), folder, "its members are larger than the file")


def test_deep_trees(folder):
    received = io.BytesIO()
    with zipfile.ZipFile(received, "w") as archive:
        archive.writestr("model.json", '{"model": ' + "[" * 100_000 + "]" * 100_000 + "}")
    refused(received.getvalue(), folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "name", "attribute", "change"),
    [
        ("index", "Segment", "postings", lambda a: a + 2**30),
        ("index", "Segment", "postings", lambda a: a[::-1].copy()),
        ("index", "Segment", "postings", lambda a: a.astype(np.float64)),
        ("index", "Segment", "bin_ptr", lambda a: a * 2),
        ("index", "Segment", "bin_ptr", lambda a: a[::-1].copy()),
        ("index", "Segment", "bin_ptr", lambda a: a[:-1]),
        ("index", "Segment", "stream_ptr", lambda a: a + 1),
        ("index", "Segment", "codes", lambda a: a[::-1].copy()),
        ("index", "Segment", "dense_bins", lambda a: a + 10**6),
        ("index", "Segment", "dense", lambda a: a[:, :-1]),
        ("index", "InvertedFile", "squares", lambda a: a[:-1]),
        ("index", "InvertedFile", "alive", lambda a: a[:3]),
        ("index", "InvertedFile", "weights", lambda a: a[:1]),
        ("index", "InvertedFile", "weights", lambda a: -a),
        ("index", "InvertedFile", "squares", lambda a: -a),
        ("kernel", "StreamCounts", "codes", lambda a: a[:-1]),
        ("kernel", "Prior", "weights", lambda a: np.ones(50)),
        ("classifier", "PropagationClassifier", "intercept_", lambda a: np.tile(a, 2)),
        ("averaged", "RatioMember", "coefficients", lambda a: a[:-1]),
        ("averaged", "RatioMember", "coefficients", lambda a: np.tile(a, 2)),
        ("averaged", "RatioMember", "own_sums", lambda a: a[:, 1:]),
        ("averaged", "RatioMember", "own_sums", lambda a: -a),
        ("averaged", "RatioMember", "stream_weights", lambda a: np.tile(a, 9)),
        ("averaged", "FoldedMember", "weights", lambda a: a[:-1]),
        ("averaged", "FoldedMember", "weights", lambda a: a * np.nan),
        ("averaged", "FoldedMember", "stream_weights", lambda a: a * np.nan),
        ("sum", "SumKernel", "weights_", lambda a: a[:1]),
        ("sum", "SumKernel", "diagonal_", lambda a: a[:1]),
        ("mixtures", "SpreadingMixtures", "scales", lambda a: a[:, :3]),
        ("mixtures", "SpreadingMixtures", "scales", lambda a: a[0]),
        ("mixtures", "SpreadingMixtures", "points", lambda a: a[:3]),
        ("mixtures", "SpreadingMixtures", "overall", lambda a: a[:3]),
        ("mixtures", "SpreadingMixtures", "elsewhere", lambda a: np.tile(a, 2)),
        ("mixtures", "GaussianFamily", "whitening", lambda a: np.tile(a, (3, 1))),
        ("mixtures", "GaussianFamily", "whitening", lambda a: a[0]),
        ("shortest path", "Nodes", "ptr", lambda a: a * 3),
        ("shortest path", "Nodes", "points", lambda a: np.tile(a, 2)),
        ("shortest path", "Nodes", "keys", lambda a: a[:-1]),
        ("shortest path", "Paths", "pair_ptr", lambda a: a * 2),
        ("shortest path", "Paths", "distances", lambda a: a[:-1]),
        ("subgraphs", "Wired", "edges", lambda a: a[:-1]),
        ("graph hopper", "Nodes", "ptr", lambda a: a[::-1].copy()),
    ],
)
def test_arrays_that_compiled_loops_would_run_out_of(folder, file, name, attribute, change):
    header, arrays = parts_of(file_of(file))
    number = next(find(header, name))[attribute]["array"]
    arrays[number] = change(arrays[number])
    refused(forged(header, arrays), folder, "inconsistent")


@pytest.mark.parametrize("kind", ["none", "a kernel", "a rule"])
def test_sums_of_what_are_not_members(folder, kind):
    header, arrays = parts_of(file_of("averaged"))
    tree, kernel = next(find(header, "Rule")), next(find(header, "PropagationKernel"))
    folded, other = tree["members"]
    a_rule = {"object": {"class": "Rule", "state": {"members": [folded, other]}}}
    a_kernel = {"object": {"class": "PropagationKernel", "state": kernel}}
    tree["members"] = {"none": [], "a kernel": [folded, a_kernel], "a rule": [folded, a_rule]}[kind]
    refused(forged(header, arrays), folder)


def test_codes_in_a_table_are_refused(folder):
    header, arrays = parts_of(file_of("labels"))
    number = next(find(header, "LabelHistogramFeatures"))["_stream_codes"][0]["array"]
    arrays[number] = arrays[number][None]
    refused(forged(header, arrays), folder, "the attributes of LabelHistogramFeatures are inconsistent")


@pytest.mark.parametrize(
    ("attribute", "value"), [("t_max", -1), ("n_hashes", 0), ("n_hashes", "2"), ("t_max", True)]
)
def test_settings_that_compiled_loops_rely_on(folder, attribute, value):
    header, arrays = parts_of(file_of("kernel"))
    next(find(header, "PropagationCoder"))[attribute] = value
    refused(forged(header, arrays), folder, "PropagationCoder.* (are inconsistent|is not int)")


@pytest.mark.parametrize("position", [-1, 625, None])
def test_random_states_out_of_range(folder, position, tmp_path):
    pk.save_model(pk.PropagationKernel(random_state=np.random.RandomState(0)), tmp_path / "model.pk")
    header, arrays = parts_of((tmp_path / "model.pk").read_bytes())
    state = dict(header["model"]["object"]["state"]["random_state"]["random state"]["dict"])
    for pair in state["state"]["dict"]:
        if pair[0] == "pos":
            pair[1] = position
    refused(forged(header, arrays), folder, "out of range")
    state["bit_generator"] = "PCG64"
    header["model"]["object"]["state"]["random_state"]["random state"]["dict"] = list(state.items())
    refused(forged(header, arrays), folder, "unknown state")


def test_memory_of_a_pipeline_cannot_be_set(folder, tmp_path):
    """It would be a folder of pickles."""
    pk.save_model(make_pipeline(LabelImputer(), pk.PropagationKernel()), tmp_path / "model.pk")
    header, arrays = parts_of((tmp_path / "model.pk").read_bytes())
    header["model"]["object"]["state"]["memory"] = str(tmp_path)
    assert load_bytes(forged(header, arrays), folder).memory is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "name", "attribute", "value"),
    [
        ("kernel", "PropagationKernel", "_counts", []),
        ("kernel", "PropagationKernel", "_counts", None),
        ("kernel", "PropagationKernel", "_coder", 3),
        ("kernel", "PropagationKernel", "_base_kernel", "linear"),
        ("kernel", "PropagationKernel", "normalize", "yes"),
        ("kernel", "PropagationCoder", "source", "nodes"),
        ("kernel", "PropagationCoder", "scheme", None),
        ("kernel", "LocalitySensitiveHash", "metric", "l3"),
        ("kernel", "LocalitySensitiveHash", "bin_width", 0),
        ("kernel", "AttributeCoder", "combine", "mean"),
        ("sum", "SumKernel", "kernels_", []),
        ("sum", "SumKernel", "kernels_", 3),
        ("mixtures", "SpreadingMixtures", "families", {"dict": []}),
        ("mixtures", "SpreadingMixtures", "refit_every", 0),
        ("mixtures", "SpreadingMixtures", "refit_every", 1),
        ("classifier", "PropagationClassifier", "rule_", None),
        ("classifier", "PropagationClassifier", "classes_", 2),
        ("classifier", "PropagationClassifier", "intercept_", 0.5),
        ("classifier", "PropagationClassifier", "kernel_", None),
        ("classifier", "DecisionLayout", "n_classes", 3),
        ("classifier", "Vocabulary", "codes", []),
        ("classifier", "Vocabulary", "counter", {"tuple": []}),
        ("classifier", "FoldedMember", "weights", []),
        ("classifier", "FoldedMember", "level_ptr", 3),
        ("index", "GraphIndex", "_file", None),
        ("index", "GraphIndex", "_names", [1]),
        ("clusters", "SphereExclusion", "index_", None),
        ("clusters", "SphereExclusion", "labels_", [0, 0]),
        ("clusters", "SphereExclusion", "centers_", None),
        ("picker", "MaxMinPicker", "indices_", [0, 0]),
        ("picker", "MaxMinPicker", "similarities_", None),
        ("shortest path", "ShortestPath", "_counts", []),
        ("graph hopper", "HopComparison", "nodes", 0),
    ],
)
def test_parts_of_the_wrong_kind(folder, file, name, attribute, value):
    """They would end in an error of the interpreter or of the compiler on use."""
    header, arrays = parts_of(file_of(file))
    next(find(header, name))[attribute] = value
    refused(forged(header, arrays), folder)

"""fit, predict and similar on folders of features, and indexes on the disk."""

import json
from pathlib import Path

import numpy as np
import pytest

import propkernels as pk

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def features(run, small_data, tmp_path):
    small_data.graphs.to_parquet(tmp_path / "graphs.parquet", target=small_data.target, row_group_size=5)
    command = ("featurize", "graphs.parquet", "-o", "features", "--n-features", 2**10, "--t-max", 2, "-j", 1)
    assert run(*command, "--nodes-per-part", 300).exit_code == 0
    return pk.open_features("features")


def test_a_model_is_learned_from_parts_and_predicts_them(run, features, small_data):
    result = run("fit", "features", "-o", "model.pk", "--C", 0.5)
    assert result.exit_code == 0, result.stderr
    assert "logistic" in result.stdout
    assert "propkernels predict model.pk FEATURES -o predictions" in result.stdout
    model = pk.LinearModel(C=0.5).fit(features.to_scipy(), small_data.target)
    assert np.array_equal(pk.load_model("model.pk").coef_, model.coef_)
    result = run("predict", "model.pk", "features", "-o", "predictions")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"Wrote predictions: 40 predictions in {features.n_parts} files.\n"
    table = pq.read_table(
        "predictions", filters=None, partitioning=None, ignore_prefixes=["plan", "manifest", "."]
    )
    order = np.argsort(table["graph_id"].to_numpy())
    assert np.array_equal(table["prediction"].to_numpy()[order], model.predict(features.to_scipy()))


def test_the_model_predicts_data_sets_as_well(run, features, small_data):
    run("fit", "features", "-o", "model.pk")
    result = run("predict", "model.pk", "graphs.parquet", "-o", "predictions.csv")
    assert result.exit_code == 0, result.stderr
    model = pk.load_model("model.pk")
    lines = Path("predictions.csv").read_text().splitlines()
    assert lines[0] == "id,prediction,probability_0,probability_1"
    predicted = [int(line.split(",")[1]) for line in lines[1:]]
    assert predicted == model.predict(features.to_scipy()).tolist()


def test_numbers_are_learned_if_asked_for(run, features, small_data):
    result = run("fit", "features", "-o", "model.pk", "--task", "numbers")
    assert result.exit_code == 0, result.stderr
    assert pk.load_model("model.pk").loss == "squared"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("fit", "features", "-o", "m.pk", "--kernel", "labels"), "--kernel does not apply"),
        (("fit", "features", "-o", "m.pk", "--folds", 3), "--folds does not apply"),
        (("fit", "features", "-o", "m.pk", "--target", 1), "one target column"),
        (("similar", "features", "--to", 3, "--t-max", 2), "--t-max does not apply"),
        (("similar", "features", "--to", 99), "has no graph 99"),
        (("similar", "features", "--to", 3, "--from", "features"), "see 'propkernels index'"),
    ],
)
def test_one_sentence_each(run, features, command, message):
    result = run(*command)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_other_models_and_no_folder_are_refused(run, features, small_data, tmp_path):
    kernel = pk.PropagationKernel(t_max=1)
    model = pk.PropagationClassifier(kernel=kernel, C=1.0, random_state=0)
    pk.save_model(model.fit(small_data.graphs, small_data.target), "other.pk")
    result = run("predict", "other.pk", "features", "-o", "predictions")
    assert "use a model that" in result.stderr
    run("fit", "features", "-o", "model.pk")
    assert "name one with -o predictions" in run("predict", "model.pk", "features").stderr


def similar(run, *arguments):
    result = run("similar", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_folders_of_features_are_searched(run, features, small_data):
    X = features.to_scipy().toarray()
    lengths = np.sqrt((X**2).sum(axis=1))
    values = X @ X[7] / lengths / lengths[7]
    order = [i for i in np.lexsort((np.arange(40), -values)) if i != 7][:5]
    found = similar(run, "features", "--to", 7, "-k", 5)
    assert [row["graph"] for row in found] == order
    np.testing.assert_allclose([row["similarity"] for row in found], values[order])
    assert (
        "Most similar to graph 7 of features, FeatureFolder(40 graphs"
        in run("similar", "features", "--to", 7).stdout
    )


@pytest.mark.slow
def test_an_index_is_built_added_to_and_searched(run, small_data, tmp_path):
    more = pk.datasets.make_molecules(20, random_state=1)
    small_data.graphs.to_parquet(tmp_path / "graphs.parquet", row_group_size=5)
    more.graphs.to_parquet(tmp_path / "more.parquet")
    built = run("index", "graphs.parquet", "-o", "index", "-j", 1, "--nodes-per-part", 300)
    assert built.exit_code == 0, built.stderr
    assert "Wrote index: GraphIndex(40 graphs, " in built.stdout
    added = run("index", "more.parquet", "-o", "index", "-j", 1, "--add")
    assert "Wrote index: GraphIndex(60 graphs, " in added.stdout
    memory = pk.GraphIndex(random_state=0).fit(small_data.graphs).add(more.graphs)
    for to, graph in ((3, small_data.graphs[3]), (45, more.graphs[5])):
        expected = memory.query(graph, k=6)
        found = similar(run, "index", "--to", to, "-k", 5)
        assert [row["graph"] for row in found] == [i for i in expected.ids.tolist() if i != to][:5]
    assert "index has the graphs 0 to 59, not 60" in run("similar", "index", "--to", 60).stderr
    expected = memory.query(more.graphs[5], k=3)
    found = similar(run, "index", "--from", "more.parquet", "--to", 5, "-k", 3)
    assert [row["graph"] for row in found] == expected.ids.tolist()  # graph 45 is this one, and is listed
    assert "graph 5 of more" in run("similar", "index", "--from", "more.parquet", "--to", 5).stdout
    assert (
        "more has graphs 0 to 19, got 20"
        in run("similar", "index", "--from", "more.parquet", "--to", 20).stderr
    )

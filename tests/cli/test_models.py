"""propkernels fit, predict and explain."""

import csv
import io
import json
import shutil

import matplotlib.image
import numpy as np
import pytest

import propkernels as pk
from tests.cli.conftest import write_lines

QUICK = ("--t-max", 1, "--folds", 2, "--C", 1, "--jobs", 1)


@pytest.fixture(scope="module")
def model_file(small_folder, tmp_path_factory):
    """A model of SMALL."""
    data = pk.datasets.read_tu(small_folder)
    path = tmp_path_factory.mktemp("model") / "model.pk"
    pk.save_model(fitted(data), path)
    return path


def fitted(data):
    return pk.PropagationClassifier(t_max=range(2), C=1.0, cv=2, random_state=0).fit(data.graphs, data.target)


@pytest.fixture
def numbers(small_folder, tmp_path):
    """SMALL with two columns of numbers as its target."""
    folder = tmp_path / "NUMBERS"
    folder.mkdir()
    for path in small_folder.glob("*.txt"):
        kind = path.name.removeprefix("SMALL_")
        if kind != "graph_labels.txt":
            shutil.copy(path, folder / f"NUMBERS_{kind}")
    sizes = pk.datasets.read_tu(small_folder).graphs.graph_sizes
    write_lines(folder / "NUMBERS_graph_attributes.txt", [f"{n / 2}, {n}" for n in sizes])
    return folder


def cells(line):
    return line.split(maxsplit=1)


# fit


@pytest.mark.slow
def test_fit_says_what_python_says(run, small_folder, tmp_path):
    result = run("fit", small_folder, "-o", "model.pk", *QUICK)
    assert (result.exit_code, result.stderr) == (0, "")
    data = pk.datasets.read_tu(small_folder)
    expected, found = fitted(data), pk.load_model(tmp_path / "model.pk")
    assert np.array_equal(found.predict_proba(data.graphs), expected.predict_proba(data.graphs))
    shown = dict(cells(line) for line in result.stdout.splitlines() if len(cells(line)) == 2)
    if isinstance(expected.kernel_, pk.SumKernel):
        assert result.stdout.count("averaged with") == len(expected.kernel_.kernels) - 1
    else:
        assert shown["t_max"].strip() == str(expected.t_max_)
    assert shown["C"].strip() == f"{expected.C_:g}"
    assert (
        shown["accuracy"].strip()
        == f"{100 * expected.score_:.1f} % in 2-fold cross-validation of the choice (optimistic)"
    )
    assert "propkernels predict model.pk NEW" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "check"),
    [
        (("--kernel", "weisfeiler-lehman"), lambda m: isinstance(m.kernel_, pk.WeisfeilerLehman)),
        (("--kernel", "propagation"), lambda m: isinstance(m.kernel_, pk.PropagationKernel)),
        (("--C", 3), lambda m: m.C_ == 3),
        (("--solver", "linear"), lambda m: m.solver_ == "linear"),
        (("--task", "numbers"), lambda m: isinstance(m, pk.PropagationRegressor)),
        (("--seed", 7), lambda m: m.random_state == 7),
    ],
)
def test_options_of_fit(run, small_folder, tmp_path, options, check):
    result = run("fit", small_folder, "-o", "model.pk", *QUICK, *options)
    assert result.exit_code == 0, result.stderr
    assert check(pk.load_model(tmp_path / "model.pk"))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["labels", "shortest-path", "graph-hopper"])
def test_kernels_without_steps(run, small_folder, tmp_path, kernel):
    result = run("fit", small_folder, "-o", "model.pk", "--kernel", kernel, "--jobs", 1)
    assert result.exit_code == 0
    assert pk.load_model(tmp_path / "model.pk").t_max_ is None
    explained = run("explain", "model.pk", small_folder, "-g", 0)
    assert "propkernels explain" in result.stdout
    assert explained.exit_code == 0, explained.stderr


def test_regression_on_a_chosen_column(run, numbers, tmp_path):
    result = run("fit", numbers, "-o", "model.pk", "--target", 1, *QUICK)
    assert result.exit_code == 0
    assert "R^2" in result.stdout
    model, data = pk.load_model(tmp_path / "model.pk"), pk.datasets.read_tu(numbers)
    assert model.score(data.graphs, data.target[:, 1]) > 0.9


def test_several_columns_are_learned_together(run, numbers, tmp_path):
    result = run("fit", numbers, "-o", "model.pk", *QUICK)
    assert result.exit_code == 0, result.stderr
    rows = table(run("predict", "model.pk", numbers).stdout)
    assert list(rows[0]) == ["id", "prediction_0", "prediction_1"]
    expected = pk.load_model(tmp_path / "model.pk").predict(pk.datasets.read_tu(numbers).graphs)
    assert [float(row["prediction_1"]) for row in rows] == expected[:, 1].tolist()


def test_a_column_that_does_not_exist_is_refused(run, numbers):
    result = run("fit", numbers, "-o", "model.pk", "--target", 2)
    assert result.exit_code == 1
    assert "has 2 target columns without names: choose by number, --target 0 to 1" in result.stderr


def test_existing_model_is_left_as_it_is(run, small_folder, tmp_path):
    (tmp_path / "model.pk").write_text("precious")
    result = run("fit", small_folder, "-o", "model.pk")
    assert result.stderr == "propkernels: model.pk exists: use --force to overwrite it\n"
    assert run("fit", small_folder, "-o", "model.pk", "--force", *QUICK).exit_code == 0


# predict


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_on_the_screen(run, small_folder, model_file):
    result = run("predict", model_file, small_folder)
    assert (result.exit_code, result.stderr) == (0, "")
    rows = table(result.stdout)
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    assert [row["id"] for row in rows] == [str(i) for i in range(40)]
    assert [int(row["prediction"]) for row in rows] == model.predict(graphs).tolist()
    probabilities = [[float(row[f"probability_{c}"]) for c in model.classes_] for row in rows]
    assert np.array_equal(probabilities, model.predict_proba(graphs))


def test_predictions_in_a_file(run, small_folder, model_file, tmp_path):
    result = run("predict", model_file, small_folder, "-o", "out.csv")
    assert result.stdout.startswith("Wrote out.csv: 40 predictions, ")
    assert "% of them agree with the data set" in result.stdout
    assert (tmp_path / "out.csv").read_text() == run("predict", model_file, small_folder).stdout
    assert run("predict", model_file, small_folder, "-o", "out.csv").exit_code == 1


def test_data_without_targets(run, small_folder, model_file, tmp_path, monkeypatch):
    folder = shutil.copytree(small_folder, tmp_path / "SMALL")
    (folder / "SMALL_graph_labels.txt").unlink()
    result = run("predict", model_file, folder)
    assert result.stdout == run("predict", model_file, small_folder).stdout
    assert run("predict", model_file, folder, "-o", "out.csv").stdout == "Wrote out.csv: 40 predictions.\n"
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    assert run("predict", model_file, "SMALL").stdout == result.stdout
    assert "has no file SMALL_graph_labels.txt" in run("fit", folder, "-o", "model.pk").stderr


def test_sets_of_classes(run, small_folder, model_file):
    rows = table(run("predict", model_file, small_folder, "--coverage", "0.8").stdout)
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    names = model.classes_.astype(str)
    assert [row["set"] for row in rows] == ["|".join(names[one]) for one in model.predict_set(graphs, 0.8)]
    result = run("predict", model_file, small_folder, "--coverage", "1")
    assert result.stderr == "propkernels: coverage must be above 0 and below 1, got 1.0\n"


@pytest.mark.slow
def test_numbers_with_their_uncertainty(run, numbers):
    run("fit", numbers, "-o", "gp.pk", "--target", 0, "--solver", "gp", *QUICK)
    rows = table(run("predict", "gp.pk", numbers).stdout)
    assert set(rows[0]) == {"id", "prediction", "std"}
    run("fit", numbers, "-o", "svr.pk", "--target", 0, *QUICK)
    assert set(table(run("predict", "svr.pk", numbers).stdout)[0]) == {"id", "prediction"}
    rows = table(run("predict", "svr.pk", numbers, "--coverage", "0.8").stdout)
    assert set(rows[0]) == {"id", "prediction", "low", "high"}
    assert all(float(row["low"]) < float(row["high"]) for row in rows)


def test_files_that_are_not_models(run, small_folder, tmp_path):
    (tmp_path / "noise.pk").write_bytes(b"noise")
    result = run("predict", "noise.pk", small_folder)
    assert result.exit_code == 1
    assert result.stderr.startswith("propkernels: noise.pk is damaged or not a propkernels model file")
    assert result.stderr.count("\n") == 1
    pk.save_model(pk.PropagationKernel(), tmp_path / "kernel.pk")
    assert "kernel.pk contains a PropagationKernel" in run("predict", "kernel.pk", small_folder).stderr
    assert (
        run("predict", "nothing.pk", small_folder).stderr
        == "propkernels: nothing.pk: no such file or directory\n"
    )


# explain


def test_contributions_are_those_of_python(run, small_folder, model_file):
    result = run("explain", model_file, small_folder, "--graph", 5, "--top", 3)
    assert (result.exit_code, result.stderr) == (0, "")
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    prediction = model.predict(graphs[[5]])[0]
    expected = model.explain(graphs[[5]])
    lines = result.stdout.splitlines()
    assert lines[0] == f"Graph 5 of SMALL: predicted {prediction}."
    rows = [line.split() for line in lines[5:8]]
    assert [row[0] for row in rows] == [str(node["node"]) for node in expected.top_nodes(0, 3)]
    assert [row[2] for row in rows] == [f"{node['total']:+.4f}" for node in expected.top_nodes(0, 3)]
    assert f"decision {expected.decisions[0]:+.4f}." in lines[-1]


@pytest.mark.slow
def test_picture(run, small_folder, model_file, tmp_path):
    result = run("explain", model_file, small_folder, "-g", 2, "-o", "picture.png")
    assert result.stdout.endswith("Wrote picture.png.\n")
    image = matplotlib.image.imread(tmp_path / "picture.png")
    assert min(image.shape[:2]) > 300
    assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 20
    assert run("explain", model_file, small_folder, "-g", 2, "-o", "picture.svg").exit_code == 0
    assert "<svg" in (tmp_path / "picture.svg").read_text()
    assert [path.name for path in sorted(tmp_path.glob("*.*"))] == ["picture.png", "picture.svg"]


def test_nodes_are_drawn_at_their_coordinates(run, small_folder, model_file, tmp_path, monkeypatch):
    folder = shutil.copytree(small_folder, tmp_path / "SMALL")
    graphs = pk.datasets.read_tu(small_folder).graphs
    write_lines(folder / "SMALL_coordinates.txt", [f"{node}, {node % 5}" for node in range(graphs.n_nodes)])
    seen = {}
    plot = pk.plotting.plot_explanation

    def spy(explanation, **options):
        seen.update(options)
        return plot(explanation, **options)

    monkeypatch.setattr("propkernels.plotting.plot_explanation", spy)
    assert run("explain", model_file, folder, "-g", 2, "-o", "picture.png").exit_code == 0
    nodes = np.arange(graphs.graph_ptr[2], graphs.graph_ptr[3])
    assert np.array_equal(seen["layout"], np.column_stack([nodes, nodes % 5]))


def test_classes_by_name(run, small_folder, model_file):
    shown = run("explain", model_file, small_folder, "-g", 0, "--class", 0, "--against", 1).stdout
    assert "Contributions for class 0 against class 1" in shown


def test_regression_is_explained(run, numbers):
    run("fit", numbers, "-o", "model.pk", "--target", 1, *QUICK)
    assert "Contributions for a larger prediction" in run("explain", "model.pk", numbers, "-g", 1).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-g", 40), "SMALL has graphs 0 to 39, got 40"),
        (("-g", 0, "--class", "red"), "the class red does not exist; the classes are ['0', '1']"),
        (("-g", 0, "-o", "picture"), "picture has no suffix of a supported image format"),
        (("-g", 0, "-o", "nowhere/p.png"), "p.png cannot be written: nowhere is not a folder"),
    ],
)
def test_explanations_that_cannot_be(run, small_folder, model_file, options, message):
    result = run("explain", model_file, small_folder, *options)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"propkernels: {message}")
    assert result.stderr.count("\n") == 1


def test_graph_must_be_named(run, small_folder, model_file):
    assert run("explain", model_file, small_folder).exit_code == 2


def test_nodes_for_programs(run, small_folder, model_file):
    command = ("explain", model_file, small_folder, "--graph", 5, "--top", 3, "--format")
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    expected = model.explain(graphs[[5]]).top_nodes(0, 3)
    assert [node["total"] for node in json.loads(run(*command, "json").stdout)] == [
        node["total"] for node in expected
    ]
    assert run(*command, "csv").stdout.count("\n") == 4


def test_a_model_cannot_go_to_standard_output(run, small_folder):
    result = run("fit", small_folder, "-o", "-")
    assert result.exit_code == 1
    assert result.stderr.startswith("propkernels: output to standard output is not supported: name a file")


def test_predictions_on_standard_output(run, small_folder, model_file, tmp_path):
    shown = run("predict", model_file, small_folder).stdout
    assert run("predict", model_file, small_folder, "-o", "-").stdout == shown
    assert not (tmp_path / "-").exists()


def test_atoms_of_a_known_set_are_called_by_name(run, small_folder, model_file, tmp_path, monkeypatch):
    folder = tmp_path / "data" / "MUTAG"
    folder.mkdir(parents=True)
    for path in small_folder.glob("*.txt"):
        shutil.copy(path, folder / path.name.replace("SMALL", "MUTAG"))
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "data"))
    names, command = (
        ["C", "N", "O", "F", "I", "Cl", "Br"],
        ("explain", model_file, "MUTAG", "-g", 5, "--top", 3),
    )
    result = run(*command)
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    expected = model.explain(graphs[[5]]).top_nodes(0, 3)
    shown = [line.split()[1] for line in result.stdout.splitlines()[5:8]]
    assert shown == [names[node["label"]] for node in expected]
    records = json.loads(run(*command, "--format", "json").stdout)
    assert [record["label"] for record in records] == shown

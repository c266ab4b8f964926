"""From a CSV of SMILES to an explained prediction, by commands."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.cli.fit_command import reads_descriptors
from propkernels.convert.rdkit import VIEWS
from propkernels.kernels import DescriptorKernel
from propkernels.storage.model_files import read_model, write_model
from tests.cli.conftest import table as rows_of

Chem = pytest.importorskip("rdkit.Chem")
pytest.importorskip("pandas")

RADICALS = ["C", "CC", "CCC", "C(C)C", "c1ccccc1", "C1CCCC1", "CCCC", "CC(C)C"]
SMILES = [f"{group}{radical}" for radical in RADICALS for group in ("O", "N", "F", "Cl")]
ACTIVE = [1, 1, 0, 0] * len(RADICALS)
COLUMNS = ("--smiles", "structure_text", "--target", "works")
QUICK = ("--t-max", 1, "--folds", 2, "--C", 1, "--jobs", 1, "--kernel", "wl")


@pytest.fixture
def table(tmp_path):
    lines = [f"{text},{active}" for text, active in zip(SMILES, ACTIVE, strict=True)]
    (tmp_path / "drugs.csv").write_text("\n".join(["structure_text,works", *lines]) + "\n")
    return "drugs.csv"


@pytest.fixture
def model(run, table):
    result = run("fit", table, *COLUMNS, "-o", "model.pk", *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "accuracy" in result.stdout
    return "model.pk"


@pytest.mark.slow
def test_labels_of_atoms_are_remembered(run, table, tmp_path):
    several = ("--node-labels", "symbol,invariants")
    result = run("fit", table, *COLUMNS, *several, "-o", "several.pk", *QUICK)
    assert result.exit_code == 0, result.stderr
    predicted = run("predict", "several.pk", table, *COLUMNS, "--jobs", 1)
    assert "never seen" not in predicted.stderr
    rows = rows_of(predicted.stdout)
    assert [int(row["prediction"]) for row in rows] == ACTIVE
    explained = run("explain", "several.pk", table, *COLUMNS, "-g", 1, "-o", "several.svg")
    assert explained.exit_code == 0, explained.stderr
    assert (tmp_path / "several.svg").exists()
    wrong = run("fit", table, *COLUMNS, "--node-labels", "symbol,valence", "-o", "no.pk", *QUICK)
    assert wrong.exit_code != 0
    assert "'valence'" in wrong.stderr


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_molecule_is_drawn_by_rdkit(run, table, model, tmp_path, suffix):
    result = run("explain", model, table, "--graph", 12, "-o", f"picture.{suffix}", *COLUMNS)
    assert result.exit_code == 0, result.stderr
    assert f"Wrote picture.{suffix}" in result.stdout
    title = "Graph 12 of drugs: predicted 1\nRed atoms are evidence for class 1, blue atoms for class 0."
    fitted, graphs = pk.load_model(tmp_path / model), pk.from_smiles(SMILES, node_labels=VIEWS)
    expected = pk.molecules.draw_molecule(fitted.explain(graphs), SMILES, 12, title=title, size=(720, 540))
    found = (tmp_path / f"picture.{suffix}").read_bytes()
    assert found == (expected.svg.encode() if suffix == "svg" else expected.png)


def test_a_graph_that_is_not_its_molecule_is_drawn_as_a_graph():
    from propkernels.cli.explain_command import molecule_of

    graphs, target = pk.from_smiles(["CCO", "CC(C)O"]), np.zeros(2)
    same = pk.datasets.Dataset("a", graphs, target, extras={"smiles": ["CCO", "CC(C)O"]})
    assert molecule_of(same, 1).GetNumAtoms() == 4
    for other in (["CCC", "CCCO"], ["C", "C"]):
        assert molecule_of(pk.datasets.Dataset("a", graphs, target, extras={"smiles": other}), 1) is None
    assert molecule_of(pk.datasets.Dataset("a", graphs, target), 1) is None


@pytest.mark.slow
@pytest.mark.parametrize("words", [("no", "yes"), ("0", "1"), ("NA", "None")])
def test_missing_classes_are_left_out_by_every_command(run, tmp_path, words):
    cells = ["" if i % 4 == 3 else words[active] for i, active in enumerate(ACTIVE)]
    lines = [f"{text},{cell}" for text, cell in zip(SMILES, cells, strict=True)]
    (tmp_path / "drugs.csv").write_text("\n".join(["smiles,active", *lines]) + "\n")
    sentence = f"{len(RADICALS)} of {len(SMILES)} graphs have no target"
    fitted = run("fit", "drugs.csv", "-o", "model.pk", *QUICK)
    assert f"{words[0]}, {words[1]}" in fitted.stdout
    assert f"{sentence} and are left out." in fitted.stderr
    predicted = run("predict", "model.pk", "drugs.csv", "-o", "out.csv", "--jobs", 1).stdout
    assert "of the 24 with a target agree with the data set" in " ".join(predicted.split())
    evaluated = run("evaluate", "drugs.csv", "--kernel", "labels", "--folds", 2, "--t-max", 0, "--jobs", 1)
    assert evaluated.exit_code == 0, evaluated.stderr
    assert sentence in evaluated.stderr
    found = run("similar", "drugs.csv", "-g", 0, "-k", 31, "--format", "csv")
    assert [row["target"] for row in rows_of(found.stdout)].count("") == len(RADICALS)
    explored = run("explore", "drugs.csv", "-o", "page.html", "--jobs", 1)
    assert explored.exit_code == 0, explored.stderr
    assert f"propkernels: {sentence}" in explored.stderr
    audited = run("audit", "drugs.csv", "--t-max", 1, "--jobs", 1)
    assert f"{len(RADICALS)} molecules have no target: scores leave" in audited.stdout
    assert "the largest of 2" in audited.stdout
    assert run("featurize", "drugs.csv", "-o", "features").exit_code == 0


@pytest.mark.slow
def test_several_measurements_are_counted_and_merged(run, tmp_path):
    numbers = [f"{text},{len(text) + 0.5}" for text in SMILES]
    twice = ["CO,4.5"]  # the first molecule, written in the other direction
    (tmp_path / "twice.csv").write_text("\n".join(["smiles,value", *numbers, *twice]) + "\n")
    read = ("--smiles", "smiles", "--target", "value")
    kept = run("fit", "twice.csv", *read, "-o", "kept.pk", *QUICK)
    assert "1 graph with several measurements (2 rows); those of 1 differ, by up to 2." in kept.stdout
    assert "--duplicates merge" in kept.stdout
    merged = run("fit", "twice.csv", *read, "-o", "merged.pk", *QUICK, "--duplicates", "merge")
    assert "They are merged." in " ".join(merged.stdout.split())


SALTS = [f"{text}.[Na+].[Cl-]" if i % 3 == 0 else text for i, text in enumerate(SMILES)]


@pytest.mark.slow
def test_standard_forms_are_remembered(run, tmp_path):
    """Salts and their molecules get the same predictions."""
    for name, column in (("salts", SALTS), ("plain", SMILES)):
        rows = [f"{text},{len(text) ** 2}" for text in column]
        (tmp_path / f"{name}.csv").write_text("\n".join(["smiles,value", *rows]) + "\n")
    views = ("--standardize", "fragment,charge", "--task", "numbers")
    result = run("fit", "salts.csv", "--target", "value", "-o", "m.pk", *views, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "Molecules changed by standardization: fragment 11, charge 0." in result.stderr
    texts = [run("predict", "m.pk", f"{name}.csv", "--jobs", 1).stdout for name in ("salts", "plain")]
    salts, plain = ([float(row["prediction"]) for row in rows_of(t)] for t in texts)
    np.testing.assert_allclose(salts, plain)
    explained = run("explain", "m.pk", "salts.csv", "-g", 3, "--coverage", 0.8, "-o", "salt.svg")
    assert explained.exit_code == 0, explained.stderr
    assert "80 % interval: " in explained.stdout


@pytest.mark.slow
def test_descriptors_are_remembered_if_the_model_reads_them(run, table, tmp_path):
    reads = pk.PropagationRegressor(kernel=DescriptorKernel(), random_state=0)
    names = ["exactmw", "tpsa"]
    graphs = pk.from_smiles(SMILES, node_labels=VIEWS, descriptors=names)
    reads.fit(graphs, graphs.descriptors.values[:, 0])
    write_model(reads, tmp_path / "m.pk", {"node_labels": ",".join(VIEWS), "descriptors": "exactmw,tpsa"})
    rows = rows_of(run("predict", "m.pk", table, *COLUMNS, "--jobs", 1).stdout)
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], reads.predict(graphs))
    explained = run("explain", "m.pk", table, *COLUMNS, "-g", 3)
    assert "descriptors" in explained.stdout
    assert reads_descriptors(reads.kernel_)
    result = run("fit", table, *COLUMNS, "--descriptors", "tpsa", "-o", "plain.pk", *QUICK)
    assert "1 descriptor," in " ".join(result.stdout.split())
    assert "descriptors" not in read_model(tmp_path / "plain.pk")[1]  # this kernel does not read them


@pytest.mark.parametrize("kind", ["two steps", "three steps", "stereo"])
def test_pipelines_of_python_predict_and_explain(run, table, tmp_path, kind):
    """A pipeline reads molecules by its own first step, whatever its options."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    stereo = {"stereo": True, "node_labels": "symbol"} if kind == "stereo" else {}
    first = pk.MoleculesToGraphs(**stereo)
    last = [pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(), t_max=1, C=1.0, random_state=0)]
    if kind == "three steps":
        last = [pk.WeisfeilerLehmanFeatures(t_max=1), LogisticRegression()]
    pipeline = make_pipeline(first, *last).fit(SMILES, ACTIVE)
    pk.save_model(pipeline, tmp_path / "pipe.pk")
    result = run("predict", "pipe.pk", table, *COLUMNS, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    rows = rows_of(result.stdout)
    chances = pipeline.predict_proba(SMILES)[:, 1]
    np.testing.assert_allclose([float(row["probability_1"]) for row in rows], chances, rtol=1e-6)
    explained = run("explain", "pipe.pk", table, *COLUMNS, "-g", 1)
    if kind == "three steps":
        assert explained.stderr.count("\n") == 1
        assert "has no contributions of nodes" in explained.stderr
    else:
        assert explained.exit_code == 0, explained.stderr
        assert (
            f"decision {pipeline[-1].decision_function(first.transform(SMILES[1:2]))[0]:+.4f}"
            in explained.stdout
        )


def test_a_pipeline_of_images_reads_images(run, tmp_path):
    from sklearn.pipeline import make_pipeline

    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    pictures = [(rng.random((8, 8)) * (255 if i % 2 else 90)).astype(np.uint8) for i in range(8)]
    for i, picture in enumerate(pictures):
        (tmp_path / "pics" / "ab"[i % 2]).mkdir(parents=True, exist_ok=True)
        image.fromarray(picture).save(tmp_path / "pics" / "ab"[i % 2] / f"{i}.png")
    gray = pk.images.GrayLevels(n_levels=4)
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=1), t_max=1, C=1.0, random_state=0)
    pipeline = make_pipeline(gray, model).fit(pictures, [i % 2 for i in range(8)])
    pk.save_model(pipeline, tmp_path / "pipe.pk")
    result = run("predict", "pipe.pk", "pics", "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    rows = rows_of(result.stdout)
    expected = dict(
        zip((f"{'ab'[i % 2]}/{i}.png" for i in range(8)), pipeline.predict_proba(pictures)[:, 1], strict=True)
    )
    assert all(float(row["probability_1"]) == pytest.approx(expected[row["id"]], rel=1e-6) for row in rows)
    wrong = run("predict", "pipe.pk", "t.csv")
    assert wrong.exit_code == 1

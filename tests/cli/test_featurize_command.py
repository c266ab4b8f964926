"""propkernels featurize."""

import pytest

import propkernels as pk

pytest.importorskip("pyarrow")


@pytest.fixture
def database(small_data, tmp_path):
    path = tmp_path / "graphs.parquet"
    small_data.graphs.to_parquet(path, target=small_data.target, row_group_size=5)
    return path


def test_features_are_written_and_resumed(run, database, small_data):
    command = ("featurize", database, "-o", "out", "--n-features", "2**10", "--t-max", 2, "-j", 1)
    first = run(*command, "--nodes-per-part", 300)
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("Plan(1 file, ")
    assert "Wrote out: FeatureFolder(40 graphs, 1,024 columns" in first.stdout
    opened = pk.scale.open_features("out")
    features = pk.PropagationFeatures(n_features=1024, t_max=2, random_state=0)
    assert (opened.to_scipy() != features.fit_transform(small_data.graphs)).nnz == 0
    expected = opened.to_scipy()
    opened.path(0).unlink()
    again = run(*command, "--nodes-per-part", 300)
    assert f"Resuming: {opened.n_parts - 1} of {opened.n_parts} parts" in again.stdout
    assert (pk.scale.open_features("out").to_scipy() != expected).nnz == 0


def test_a_plan_of_the_library_is_resumed(run, tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "drugs.csv").write_text("smiles,active\nCCO,1\nCCN,0\nc1ccccc1O,1\n")
    features = pk.PropagationFeatures(n_features=64, t_max=1, random_state=0)
    pk.featurize(pk.scale.partition(tmp_path / "drugs.csv"), features, tmp_path / "out")
    again = run("featurize", "drugs.csv", "-o", "out", "--n-features", 64, "--t-max", 1, "-j", 1)
    assert "Resuming: 1 of 1 parts are already in out." in again.stdout


def test_molecules_with_faults(run, tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "drugs.csv").write_text("molecule,dose\nnothing,2\nCCO,1\n")
    command = (
        "featurize",
        "drugs.csv",
        "-o",
        "out",
        "--smiles-column",
        "molecule",
        "--target-column",
        "dose",
    )
    failed = run(*command, "--nodes-per-part", 1, "-j", 1)
    assert failed.exit_code == 1
    assert "1 of 2 parts failed, all others are complete: part 0 (" in failed.stderr
    skipped = run(*command[:3], "skipped", *command[4:], "--errors", "skip")
    assert skipped.exit_code == 0
    assert skipped.stderr.startswith("propkernels: skipped")
    assert pk.scale.open_features("skipped").target.tolist() == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--n-features", "many"), "is not a number such as"),
        (("--workers", 2, "--scheduler", "tcp://x:1"), "exclude each other"),
        (("--n-features", 0), "n_features must be"),
    ],
)
def test_options_that_cannot_be(run, database, options, message):
    result = run("featurize", database, "-o", "out", *options)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())


def test_a_file_that_is_not_there(run):
    assert "nowhere.parquet does not exist" in run("featurize", "nowhere.parquet", "-o", "out").stderr


@pytest.mark.processes
@pytest.mark.slow
def test_processes(run, database):
    result = run("featurize", database, "-o", "out", "--nodes-per-part", 300, "--workers", 2, "--t-max", 1)
    assert result.exit_code == 0, result.stderr
    assert len(pk.scale.open_features("out")) == 40

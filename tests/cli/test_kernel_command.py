"""propkernels kernel."""

import json

import numpy as np
import pytest

import propkernels as pk


def test_file_holds_the_kernel(run, small_folder, tmp_path):
    result = run("kernel", small_folder, "-o", "K.npz", "--t-max", 3, "--seed", 5, "--normalize")
    assert result.exit_code == 0
    data = pk.datasets.read_tu(small_folder)
    expected = pk.PropagationKernel(t_max=3, random_state=5, normalize=True).fit_transform(data.graphs)
    with np.load(tmp_path / "K.npz") as file:
        np.testing.assert_array_equal(file["kernel"], expected)
        np.testing.assert_array_equal(file["target"], data.target)


def test_parameters_are_json(run, small_folder, tmp_path):
    run("kernel", small_folder, "-o", "K.npz", "--laziness", 0.5, "--labels", "none")
    with np.load(tmp_path / "K.npz") as file:
        parameters = json.loads(str(file["parameters"]))
    assert parameters["propkernels"] == pk.__version__
    assert parameters["data"] == str(small_folder)
    assert parameters["labels"] is None
    assert parameters["propagation"]["diffusion"]["laziness"] == 0.5


def test_cumulative_kernels(run, small_folder, tmp_path):
    run("kernel", small_folder, "-o", "K.npz", "--t-max", 2, "--cumulative")
    with np.load(tmp_path / "K.npz") as file:
        assert file["kernel"].shape == (3, 40, 40)


def test_says_how_to_load_it(run, small_folder, tmp_path):
    """The printed lines are run as they stand."""
    shown = run("kernel", small_folder, "-o", "K.npz").stdout
    assert shown.startswith("Wrote K.npz (")
    code = "\n".join(line.strip() for line in shown.splitlines()[2:])
    names = {"numpy": np, "json": json}
    exec(code, names)
    names["file"].close()
    assert names["kernel"].shape == (40, 40)
    assert names["parameters"]["t_max"] == 10


def test_existing_file_is_left_as_it_is(run, small_folder, tmp_path):
    (tmp_path / "K.npz").write_text("precious")
    result = run("kernel", small_folder, "-o", "K.npz")
    assert result.exit_code == 1
    assert result.stderr == "propkernels: K.npz exists: use --force to overwrite it\n"
    assert (tmp_path / "K.npz").read_text() == "precious"


def test_force_overwrites(run, small_folder, tmp_path):
    (tmp_path / "K.npz").write_text("precious")
    assert run("kernel", small_folder, "-o", "K.npz", "--force").exit_code == 0
    np.load(tmp_path / "K.npz").close()


@pytest.mark.parametrize("failure", [OSError("the disk is full"), KeyboardInterrupt()])
def test_failed_write_leaves_everything_as_it_was(run, small_folder, tmp_path, monkeypatch, failure):
    def fail(stream, arrays):
        stream.write(b"half of it")
        raise failure

    (tmp_path / "K.npz").write_text("precious")
    monkeypatch.setattr("propkernels.cli.kernel_command.write_arrays", fail)
    assert run("kernel", small_folder, "-o", "K.npz", "--force").exit_code != 0
    assert [path.name for path in tmp_path.iterdir()] == ["K.npz"]
    assert (tmp_path / "K.npz").read_text() == "precious"


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("nowhere/K.npz", "K.npz cannot be written: nowhere is not a folder"),
        (".", ". is a folder: name a file"),
    ],
)
def test_places_that_cannot_be_written(run, small_folder, output, message):
    result = run("kernel", small_folder, "-o", output)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"propkernels: {message}")


def test_output_is_required(run, small_folder):
    assert run("kernel", small_folder).exit_code == 2


def test_file_is_readable_like_any_other(run, small_folder, tmp_path):
    (tmp_path / "other").write_text("")
    run("kernel", small_folder, "-o", "K.npz")
    assert (tmp_path / "K.npz").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_csv(run, small_folder, tmp_path):
    """One line per graph: its target, and its kernel values; the same on standard output."""
    command = ("kernel", small_folder, "--t-max", 2, "-o")
    assert run(*command, "K.csv").stdout.startswith("Wrote K.csv (")
    text = (tmp_path / "K.csv").read_text()
    head, *rows = text.splitlines()
    assert head.split(",")[:3] == ["target", "0", "1"]
    table = np.array([row.split(",") for row in rows], dtype=float)
    data = pk.datasets.read_tu(small_folder)
    np.testing.assert_array_equal(table[:, 0], data.target)
    expected = pk.PropagationKernel(t_max=2, random_state=0).fit_transform(data.graphs)
    np.testing.assert_array_equal(table[:, 1:], expected)
    assert run(*command, "-").stdout == text
    assert [path.name for path in tmp_path.glob("*")] == ["K.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "K.txt"), "K.txt has an unsupported suffix"),
        (("-o", "K.csv", "--cumulative"), "--cumulative gives several matrices"),
        (("-o", "-", "--cumulative"), "--cumulative gives several matrices"),
    ],
)
def test_names_that_cannot_be_written(run, small_folder, tmp_path, options, message):
    result = run("kernel", small_folder, *options)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"propkernels: {message}")
    assert list(tmp_path.iterdir()) == []

"""propkernels similar."""

import shutil

import pytest

import propkernels as pk


def rows(result):
    """Cells of the printed table: graph, similarity, target, nodes."""
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("──"))
    return [line.split() for line in lines[start + 1 :]]


def test_table_says_what_python_says(run, small_folder):
    found = rows(run("similar", small_folder, "--to", 3, "-k", 4, "--t-max", 2, "--seed", 5))
    data = pk.datasets.read_tu(small_folder)
    kernel = pk.PropagationKernel(t_max=2, random_state=5)
    similarities, ids = pk.GraphIndex(kernel=kernel).fit(data.graphs).query(data.graphs[3], k=5)
    expected = [
        [str(i), f"{value:.4f}", str(data.target[i]), str(data.graphs.graph_sizes[i])]
        for i, value in zip(ids, similarities, strict=True)
        if i != 3
    ]
    assert found == expected


def test_index_is_written_and_used_again(run, small_folder, tmp_path):
    first = run("similar", small_folder, "--to", 3, "--index", "index.pk", "--t-max", 2)
    assert first.stdout.startswith("Wrote index.pk (")
    written = (tmp_path / "index.pk").read_bytes()
    again = run("similar", small_folder, "--to", 3, "--index", "index.pk")  # its own t_max counts
    assert "Wrote" not in again.stdout
    assert rows(again) == rows(first)
    assert (tmp_path / "index.pk").read_bytes() == written


def test_graph_of_another_data_set(run, small_folder, tmp_path):
    other = shutil.copytree(small_folder, tmp_path / "OTHER")
    found = rows(run("similar", small_folder, "--from", other, "--to", 3, "-k", 1))
    assert found[0][:2] == ["3", "1.0000"]


@pytest.mark.parametrize("kernel", ["weisfeiler-lehman", "labels", "shortest-path", "graph-hopper", "auto"])
def test_kernels(run, small_folder, kernel):
    assert len(rows(run("similar", small_folder, "--to", 0, "--kernel", kernel, "-k", 3))) == 3


def test_without_targets(run, small_folder, tmp_path):
    folder = shutil.copytree(small_folder, tmp_path / "SMALL")
    (folder / "SMALL_graph_labels.txt").unlink()
    assert all(len(row) == 3 for row in rows(run("similar", folder, "--to", 0)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--to", 40), "SMALL has the graphs 0 to 39, not 40"),
        (("--to", 1, "--kernel", "p2k"), "attributes are asked for, but the graphs have no node attributes"),
        (("--to", 1, "--index", "kernel.pk"), "kernel.pk holds a PropagationKernel, not an index"),
        (("--to", 1, "--index", "fewer.pk"), "fewer.pk is an index of 10 graphs, SMALL has 40"),
        (("--to", 1, "--index", "other.pk"), "other.pk is an index of other graphs than those of SMALL"),
        (("--to", 1, "--index", "noise.pk"), "noise.pk is damaged, or is no model that propkernels wrote"),
    ],
)
def test_errors(run, small_folder, tmp_path, options, message):
    graphs = pk.datasets.read_tu(small_folder).graphs
    pk.save_model(pk.PropagationKernel(), tmp_path / "kernel.pk")
    pk.save_model(pk.GraphIndex().fit(graphs[:10]), tmp_path / "fewer.pk")
    pk.save_model(pk.GraphIndex().fit(graphs[[1] * 40]), tmp_path / "other.pk")
    (tmp_path / "noise.pk").write_bytes(b"noise")
    result = run("similar", small_folder, *options)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"propkernels: {message}")
    assert result.stderr.count("\n") == 1


def test_graph_must_be_named(run, small_folder):
    assert run("similar", small_folder).exit_code == 2

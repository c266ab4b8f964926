"""propkernels compare and propkernels duplicates."""

import json

import propkernels as pk


def test_a_data_set_is_compared_with_itself(run, small_folder):
    result = run("compare", small_folder, small_folder, "--permutations", 19, "--top", 3, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert "p = 1 (19 permutations)" in result.stdout


def test_surroundings_as_json(run, small_folder):
    words = ("--permutations", 9, "--top", 3, "--jobs", 1, "--format", "json")
    result = run("compare", small_folder, small_folder, *words)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found) == 3
    assert {"t", "contribution", "more_in", "graph"} <= set(found[0])


def test_the_table_names_the_data_sets(run, small_folder, tmp_path):
    data = pk.datasets.open_source(small_folder)
    data.graphs[:20].to_parquet(tmp_path / "other.parquet", target=data.target[:20])
    words = ("--permutations", 9, "--top", 3, "--jobs", 1)
    result = run("compare", small_folder, tmp_path / "other.parquet", *words)
    assert result.exit_code == 0, result.stderr
    head = next(line for line in result.stdout.splitlines() if line.startswith("t "))
    assert head.split() == ["t", "contribution", "more", "in", "SMALL", "other", "labels", "example"]


def test_a_page_is_written(run, small_folder, tmp_path):
    page = tmp_path / "report.html"
    words = ("compare", small_folder, small_folder, "--permutations", 9, "--jobs", 1, "-o")
    result = run(*words, page)
    assert result.exit_code == 0, result.stderr
    assert "<svg" in page.read_text(encoding="utf-8")
    assert run(*words, page).exit_code != 0
    assert "an .html file" in run(*words, tmp_path / "report.txt").stderr


def test_several_data_sets_are_compared_pair_by_pair(run, small_folder):
    words = ("--permutations", 9, "--jobs", 1, "--format", "json")
    result = run("compare", small_folder, small_folder, small_folder, *words)
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)) == 3


def test_a_page_of_several_data_sets_has_a_map(run, small_folder, tmp_path):
    words = ("--permutations", 9, "--jobs", 1, "-o", tmp_path / "report.html")
    result = run("compare", small_folder, small_folder, small_folder, *words)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("<circle") == 1 + 3


def test_one_data_set_is_not_enough(run, small_folder):
    assert "two data sets are needed" in run("compare", small_folder).stderr


def test_equal_graphs_are_listed(run, tmp_path):
    graphs = pk.datasets.make_molecules(6, random_state=0).graphs
    graphs.to_parquet(tmp_path / "a.parquet")
    pk.GraphDatabase.concat([graphs[2:4], graphs[:1]]).to_parquet(tmp_path / "b.parquet")
    words = (tmp_path / "a.parquet", tmp_path / "b.parquet", "--jobs", 1, "--format", "json")
    result = run("duplicates", *words)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [(one["graph"], one["equals_graph"]) for one in found[-3:]] == [(0, 2), (1, 3), (2, 0)]


def test_no_equal_graphs(run, tmp_path):
    pk.unique(pk.datasets.make_molecules(6, random_state=0).graphs).to_parquet(tmp_path / "a.parquet")
    result = run("duplicates", tmp_path / "a.parquet", "--jobs", 1)
    assert "0 of 6 graphs are equal to an earlier one." in result.stdout

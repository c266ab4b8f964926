"""propkernels explore."""

import pytest

import propkernels as pk


@pytest.mark.slow
def test_a_page_of_a_data_set(run, small_folder, tmp_path):
    page = tmp_path / "page.html"
    result = run("explore", small_folder, "-o", page, "--first", 20, "--title", "Some <molecules>")
    assert result.exit_code == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    assert "<title>Some &lt;molecules&gt;</title>" in text
    assert "20 graphs" in text


def test_a_page_with_a_fitted_model(run, small_folder, tmp_path):
    data = pk.datasets.open_source(small_folder)
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    pk.save_model(model.fit(data.graphs, data.target), tmp_path / "model.pk")
    result = run("explore", small_folder, "-o", tmp_path / "p.html", "--model", tmp_path / "model.pk")
    assert result.exit_code == 0, result.stderr
    assert "given model" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_nothing_is_written_after_an_error(run, small_folder, tmp_path):
    result = run("explore", small_folder, "-o", tmp_path / "page.html", "--model", tmp_path / "none.pk")
    assert result.exit_code != 0
    assert not (tmp_path / "page.html").exists()

"""Draws of exchangeable molecules in miniature."""

import numpy as np
import pytest

import propkernels as pk
from reproduction.molecules import many_draws, sets
from reproduction.molecules.many_draws import Draw

pytest.importorskip("rdkit")


@pytest.mark.slow
@pytest.mark.parametrize("is_class", [False, True])
def test_draws_count_covered_molecules(is_class, monkeypatch):
    monkeypatch.setattr(many_draws, "TRAINING", 60)
    made = pk.datasets.make_molecules(200, random_state=0)
    noisy = np.diff(made.graphs.graph_ptr) + np.random.default_rng(0).normal(size=200)
    target = made.target if is_class else noisy
    data = sets.Molecules("made", [None] * 200, np.asarray(target, dtype=float)[:, None], is_class, 0)
    draws = [many_draws.measure(data, made.graphs, draw, 0.8) for draw in range(2)]
    assert [one.tested for one in draws] == [140, 140]
    assert all(0.5 * 140 < one.covered <= 140 for one in draws)
    assert any(one.covered != one.covered_plainly for one in draws)


def test_only_missing_draws_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(many_draws, "DRAWS", 3)
    done = [Draw("ESOL", 0, 10, 9, 9, 0.0), Draw("BBBP", 2, 10, 9, 9, 0.0)]
    assert list(many_draws.missing(done, ["ESOL", "BBBP", "SIDER"])) == [
        ("ESOL", 1),
        ("ESOL", 2),
        ("BBBP", 0),
        ("BBBP", 1),
    ]
    assert many_draws.measure_missing(tmp_path / "draws.jsonl", [], lambda name: None, 0.9) == []


def test_the_section_has_means_and_errors():
    draws = [Draw("ESOL", 0, 10, 9, 10, 0.0), Draw("ESOL", 1, 10, 8, 10, 0.0)]
    assert "| ESOL | 2 | 100.0 ± 0.0 | 85.0 ± 5.0 |" in many_draws.section(draws)
    assert many_draws.section([]) == ""

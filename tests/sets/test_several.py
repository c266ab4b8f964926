"""Several collections: every pair as by compare, adjusted p-values, and a map."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.sets.several import holm, scaled

GRAPHS = pk.datasets.make_molecules(90, random_state=1, mean_nodes=10).graphs
LARGER = pk.datasets.make_molecules(30, random_state=2, mean_nodes=25).graphs
PARTS = {"first": GRAPHS[:30], "second": GRAPHS[30:60], "large": LARGER}
KERNEL = pk.WeisfeilerLehman(t_max=2)


def test_statistics_are_those_of_compare():
    found = pk.compare_several(PARTS, kernel=KERNEL, n_permutations=99)
    names = list(PARTS)
    for i in range(3):
        for j in range(3):
            expected = 0.0
            if i != j:
                pair = PARTS[names[i]], PARTS[names[j]]
                expected = pk.compare(*pair, kernel=KERNEL, n_permutations=1).statistic
            assert found.statistics[i, j] == pytest.approx(expected)


def test_the_different_collection_is_found():
    found = pk.compare_several(PARTS, kernel=KERNEL, n_permutations=199)
    assert found.p_values[0, 1] > 0.05
    assert found.p_values[0, 2] <= 0.05 >= found.p_values[1, 2]
    np.testing.assert_array_equal(found.p_values, found.p_values.T)
    assert [one["second"] for one in found.records()] == ["second", "large", "large"]
    gaps = np.linalg.norm(found.positions[:, None] - found.positions[None], axis=2)
    assert gaps[0, 1] < min(gaps[0, 2], gaps[1, 2])


def test_holm_is_the_definition():
    values = np.array([0.04, 0.001, 0.03, 0.9])
    ordered = sorted(values)
    expected = {p: min(1, max((4 - k) * ordered[k] for k in range(ordered.index(p) + 1))) for p in values}
    np.testing.assert_allclose(holm(values), [expected[p] for p in values])


def test_distances_in_a_plane_are_kept():
    points = np.random.default_rng(0).normal(size=(6, 2))
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    placed = scaled(squared)
    np.testing.assert_allclose(((placed[:, None] - placed[None]) ** 2).sum(axis=2), squared, atol=1e-9)


def test_a_sequence_is_numbered_and_texts_name_collections():
    found = pk.compare_several([GRAPHS[:20], GRAPHS[20:40]], kernel=KERNEL, n_permutations=9)
    assert found.names == ["0", "1"]
    assert str(found).startswith("Comparisons(2 collections, 40 graphs)")
    assert len(found.to_frame()) == 1


def test_names_that_utf_8_cannot_encode_are_escaped_in_a_frame():
    named = {"caf\udce9": GRAPHS[:10], "b": GRAPHS[10:20]}
    found = pk.compare_several(named, kernel=KERNEL, n_permutations=9)
    assert found.to_frame()["first"].tolist() == ["caf\\udce9"]
    assert found.names[0] == "caf\udce9"


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="two collections are needed"):
        pk.compare_several([GRAPHS])
    with pytest.raises(ValueError, match="but b has 1"):
        pk.compare_several({"a": GRAPHS, "b": GRAPHS[:1]})


def test_a_page_has_a_map_and_all_pairs(tmp_path):
    found = pk.compare_several(
        {"first": GRAPHS[:20], "<b>": GRAPHS[20:40], "large": LARGER}, kernel=KERNEL, n_permutations=99
    )
    assert found.not_told_apart() == [(0, 1)]
    assert found.not_told_apart(0.001) == [(0, 1), (0, 2), (1, 2)]
    found.save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "2 of 3 pairs are not samples of one distribution" in text
    assert text.count("<circle") == 1 + 3  # one in the button of the theme
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert "<circle" in found._repr_html_()


@pytest.mark.parametrize("wrong", [None, "abc", 3])
def test_what_is_no_list_of_collections_is_refused(wrong):
    with pytest.raises(TypeError, match="must be a mapping or a list of graphs, got"):
        pk.compare_several(wrong)


@pytest.mark.parametrize("alpha", ["0.05", None, -0.1, [0.05], float("nan")])
def test_levels_are_checked(alpha):
    graphs = pk.datasets.make_molecules(6, random_state=0).graphs
    found = pk.compare_several([graphs[:3], graphs[3:]], n_permutations=1)
    with pytest.raises((TypeError, ValueError), match=r"^alpha must be"):
        found.not_told_apart(alpha)

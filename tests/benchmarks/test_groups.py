"""Each group on generated graphs. No timing asserts."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

import propkernels as pk
from benchmarks import (
    growth,
    growth_process,
    kernels,
    limit,
    memory,
    peers,
    ratios,
    retrieval,
    stages,
    startup,
)
from benchmarks.case import Settings
from benchmarks.data import load
from tests.benchmarks import sleepy

FAST = Settings(repeats=1, seconds=0.0, threads=(1,), peer_limit=1.0, quick=True)


def peer_results(name):
    case = next(case for case in sleepy.CASES if case.name == name)
    return list(peers.measure(case, FAST))


@pytest.mark.slow
def test_peer_is_compared_on_the_same_graphs():
    (result,) = peer_results("obliging")
    assert result.status == "measured"
    assert result.measured > 0
    assert "kernels differ by 0.0e+00" in result.note


@pytest.mark.slow
def test_timed_out_peer_is_reported_with_what_is_known():
    (result,) = peer_results("sleepy")
    assert (result.status, result.bound) == ("timed out", ">")
    assert "over 1 s (ended)" in result.note
    assert result.measured == pytest.approx(1.0 / result.details["ours"])
    assert result.details["peer"] is None


@pytest.mark.slow
def test_broken_peer_raises_its_message():
    with pytest.raises(RuntimeError, match="this peer does not work"):
        peer_results("broken")


@pytest.mark.slow
def test_grakel_solves_the_same_problem(data_folder):
    pytest.importorskip("grakel")
    case = peers.PeerCase("grakel-pk-mutag", "MUTAG", peers.PK, peers.GRAKEL_PK)
    (result,) = peers.measure(case, replace(FAST, peer_limit=120.0))
    assert float(result.note.rsplit(" ", 1)[1]) < 5e-3


@pytest.mark.parametrize("case", retrieval.CASES, ids=lambda case: case.name)
def test_retrieval(case):
    (result,) = retrieval.measure(replace(case, dataset="MOLECULES"), FAST)
    assert 0 < result.details["min"] <= result.measured
    assert result.note.startswith("median of ")


def test_ratio_of_two_calls():
    case = ratios.RatioCase("tiny", "MOLECULES", ratios.LP, ratios.SAME, 1.5, 3)
    (result,) = ratios.measure(case, FAST)
    ours, baseline = result.details["ours"]["min"], result.details["baseline"]["min"]
    assert result.measured == pytest.approx(ours / baseline)


@pytest.mark.slow
def test_memory_of_a_fresh_process(data_folder):
    case = next(case for case in memory.CASES if case.name == "memory-pk-mutag")
    (result,) = memory.measure(case, FAST)
    assert 0 < result.details["imported"] <= result.details["loaded"] <= result.measured
    assert result.details["shape"] == [188, 188]


def test_start_of_a_fresh_process():
    (result,) = startup.measure(startup.CASES[0], FAST)
    assert (result.unit, result.part) == ("s", "whole process")
    assert result.measured > 0


@pytest.mark.slow
def test_start_to_answer(data_folder):
    case = next(case for case in startup.CASES if case.name == "first-call")
    answer, whole = startup.measure(case, FAST)
    assert 0 < answer.measured < whole.measured
    assert (answer.target, whole.target) == (1.0, None)


@pytest.mark.parametrize("estimator", ["PropagationKernel", "PropagationFeatures"])
def test_stages_and_the_rest_make_the_whole(estimator):
    results = list(stages.measure(stages.StageCase("tiny", "MOLECULES", estimator), FAST))
    seconds = {r.part: r.measured for r in results if not r.part.startswith(("profile", "-"))}
    whole = seconds.pop("whole")
    assert sum(seconds.values()) == pytest.approx(whole)
    assert any(r.part.startswith("profile: ") for r in results)


def test_graphs_without_edges_keep_nodes_and_labels():
    graphs = load("MOLECULES").graphs
    bare = stages.without_edges(graphs)
    assert bare.adjacency.nnz == 0
    assert list(bare.node_labels) == list(graphs.node_labels)


def test_memory_has_every_kernel_case():
    assert len(memory.CASES) == len(kernels.CASES)


@pytest.mark.slow
def test_shares_of_the_limit():
    case = stages.StageCase("limit-tiny", "MOLECULES")
    results = list(limit.measure(case, FAST))
    assert {result.part for result in results} == {stages.FUSED, "count", "gram"}
    for result in results:
        seconds = result.details["bytes"] / result.details["bytes per second"]
        assert result.measured == pytest.approx(seconds / result.details["min"])


def test_bytes_of_a_small_database():
    """Two triangles, three streams: the formulas by hand."""
    triangle = np.ones((3, 3)) - np.eye(3)
    graphs = pk.check_graphs([(triangle, ["a", "a", "b"])] * 2)
    counts = pk.PropagationKernel(t_max=2, random_state=0).fit(graphs)._counts
    least = limit.bytes_to_move(graphs, counts)
    assert least[stages.FUSED] == 2 * (4 * 12 + 20 * 6) + 16 * 6 * (2 + 1) + 8 * 6 * 3
    assert least["count"] == 8 * 6 * 3 + 12 * (3 * 4) + 8 * (3 * 2)
    assert least["gram"] == 12 * (3 * 4) + 8 * 2**2


@pytest.mark.slow
def test_growth_of_a_tiny_curve(tmp_path):
    case = growth.GrowthCase("growth-nodes", "features", "nodes", (500, 2000), linear=False)
    results = list(growth.measure(case, FAST))
    assert [result.details["value"] for result in results] == [500, 2000]
    assert all(result.details["peak"] >= result.details["before"] > 0 for result in results)
    growth.draw([asdict(result) for result in results], tmp_path / "growth.svg")
    assert "growth-nodes" in (tmp_path / "growth.svg").read_text()


@pytest.mark.parametrize("task", ["kernel", "streamed"])
def test_tasks_of_growth(task):
    growth_process.task(task, growth_process.generate(nodes=300, labels=3, degree=4), t_max=2)


def test_linearity_is_judged_by_seconds_per_node():
    points = [(n, {"seconds": s, "nodes": n}) for n, s in ((10, 0.01), (100, 0.2), (1000, 2.2))]
    result = growth._linearity(growth.CASES[0], points)
    assert result.measured == pytest.approx(1.1)
    assert result.verdict.startswith("met")

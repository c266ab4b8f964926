"""Runtimes beside GraKeL."""

import sys
import warnings

import numpy as np
import pytest

import propkernels as pk
from reproduction.engine.cells import Store
from reproduction.engine.jobs import Scope
from reproduction.engine.runner import run
from reproduction.engine.sections import State
from reproduction.experiments import peers


def test_peers_are_measured_in_another_process(tiny, tmp_path, monkeypatch):
    told = {"ours": 0.5, "theirs": 5.0, "agreement": "same"}
    monkeypatch.setattr(peers, "run_limited", lambda command, limit: told)
    monkeypatch.setattr(peers, "find_spec", lambda name: object())
    jobs = peers.jobs(Scope(quick=True, datasets=("MUTAG",)))
    store = Store(tmp_path)
    run(jobs, store, n_jobs=1)
    (section,) = peers.sections(State(store, jobs))
    assert section.rows[0] == ("MUTAG", "PK", "0.5", "5", "10", "same")


def test_a_peer_that_takes_too_long_is_ended():
    code = "import time; print('{\"ours\": 0.5}', flush=True); time.sleep(60)"
    assert peers.run_limited([sys.executable, "-c", code], 2) == {"ours": 0.5}


def test_without_the_peer_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    assert all(job.skipped == peers.NOT_INSTALLED for job in peers.jobs(Scope()))


@pytest.mark.slow
def test_the_peers_kernels_are_ours():
    """On generated graphs, GraKeL gives the same matrices where the kernel is not random."""
    pytest.importorskip("grakel")
    from benchmarks.grakel_peer import OURS, PEERS

    data = pk.datasets.make_molecules(6, random_state=0)
    ids = np.unique(data.graphs.node_labels, return_inverse=True)[1]
    graphs = pk.GraphDatabase(data.graphs.adjacency, data.graphs.graph_ptr, node_labels=ids)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("WL", "SP", "GH", "CSM"):
            assert np.allclose(OURS[method](graphs)(), PEERS[method](graphs)())

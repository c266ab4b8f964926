"""Measurements of installations: the first kernel runs, and the best of several processes counts."""

import sys

import pytest

from benchmarks import install
from benchmarks.process import Outcome


def test_the_first_kernel_compares_ten_graphs():
    space = {}
    exec(install.FIRST_KERNEL, space)
    assert space["kernel"].shape == (10, 10)


def test_the_least_processor_time_counts_and_each_cold_process_has_an_empty_cache(monkeypatch):
    asked = []

    def run(command, limit, variables):
        asked.append(variables.get("NUMBA_CACHE_DIR"))
        return Outcome(processor=3.0 - len(asked), returncode=0)

    monkeypatch.setattr(install, "run_process", run)
    assert install._best([sys.executable], "cache", n_fresh=2) == 1.0
    assert asked == ["cache0", "cache1"]
    assert install._best([sys.executable]) == -4.0
    assert asked[2:] == [None] * install.REPEATS


def test_a_process_that_fails_ends_the_measurement(monkeypatch):
    monkeypatch.setattr(install, "run_process", lambda *words: Outcome(returncode=1, errors="no module"))
    with pytest.raises(SystemExit, match="no module"):
        install._best([sys.executable])

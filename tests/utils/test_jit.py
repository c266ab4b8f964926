"""The compiler's setting is as before once nobody needs another."""

import pytest
from numba import config

from propkernels.utils.jit import vector_code


@pytest.mark.parametrize("before", [0, 1])
def test_the_setting_comes_back(before, monkeypatch):
    monkeypatch.setattr(config, "SLP_VECTORIZE", before)
    with vector_code():
        assert config.SLP_VECTORIZE == 1
    assert before == config.SLP_VECTORIZE


def test_several_users_may_leave_in_any_order(monkeypatch):
    """Two threads: the first to come is the first to leave."""
    monkeypatch.setattr(config, "SLP_VECTORIZE", 0)
    first, second = vector_code(), vector_code()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert config.SLP_VECTORIZE == 1
    second.__exit__(None, None, None)
    assert config.SLP_VECTORIZE == 0


def test_a_failure_leaves_the_setting_as_it_was(monkeypatch):
    monkeypatch.setattr(config, "SLP_VECTORIZE", 0)
    with pytest.raises(RuntimeError), vector_code():
        raise RuntimeError
    assert config.SLP_VECTORIZE == 0

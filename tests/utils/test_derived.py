"""Derived values: computed once per owner, and released with it."""

import gc
import weakref

from propkernels._utils.locks import derived


class Owner:
    """Object that can be referred to weakly."""


def test_a_value_is_computed_once_per_owner_and_name():
    calls = []
    first, second = Owner(), Owner()
    for owner, name in ((first, "a"), (first, "a"), (first, "b"), (second, "a")):
        derived(owner, name, lambda: calls.append(1) or len(calls))
    assert len(calls) == 3
    assert derived(first, "a", lambda: 0) == 1


def test_values_are_released_with_their_owner():
    owner = Owner()
    kept = weakref.ref(derived(owner, "value", Owner))
    gc.collect()
    assert kept() is not None
    del owner
    gc.collect()
    assert kept() is None

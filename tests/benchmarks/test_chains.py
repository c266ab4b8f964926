"""Chains of steps that must follow one another."""

import time

import pytest

from benchmarks import chains
from benchmarks.chains import Item, Shared
from propkernels._utils.parallel import run_threads


def test_a_chain_is_the_longest_item_of_every_call():
    inner = Shared("", [Item(1.0), Item(3.0)])
    outer = Shared("", [Item(5.0, [inner]), Item(4.5)])
    assert (inner.work, inner.chain) == (4.0, 3.0)
    assert outer.chain == 4.5  # the other item takes 5 - 4 + 3 seconds
    assert Item(12.0, [outer]).chain == 12.0 - 9.5 + 4.5


def test_items_are_computed_one_after_the_other_and_recorded():
    root, order = Item(), []

    def inner(item):
        order.append(item)
        return 2 * item

    def outer(item):
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass
        return run_threads(inner, [item, 10 * item], 4)

    with chains.one_by_one(root):
        assert run_threads(outer, [1, 2, 3], 4) == [[2, 20], [4, 40], [6, 60]]
    assert order == [1, 10, 2, 20, 3, 30]
    (call,) = root.calls
    assert [len(item.calls[0].items) for item in call.items] == [2, 2, 2]
    assert all(item.seconds >= 0.01 for item in call.items)
    assert root.seconds >= call.work >= 0.03
    assert run_threads(inner, [1, 2], 2) == [2, 4]
    assert len(root.calls) == 1


def test_steps_are_found_by_the_functions_of_a_fit():
    root = Item()

    def _compare():
        return run_threads(abs, [-1, -2], 2)

    with chains.one_by_one(root):
        _compare()
        run_threads(abs, [-1, -2], 2)
    assert [call.name for call in root.calls] == [chains.STEPS["_compare"], chains.REST]


def test_rows_add_up():
    step = next(iter(chains.STEPS.values()))
    fit = Item(1.0, [Shared(step, [Item(0.2), Item(0.4)]), Shared(chains.REST, [Item(0.1), Item(0.1)])])
    rows = chains.rows_of("A", fit, 0.91)
    assert rows == [
        f"| A | {step} | 600 | 400 | 1.5 |",
        f"| A | {chains.REST} | 400 | 300 | 1.3 |",
        "| A | all of it | 1,000 | 700 | 1.4 |",
        "| A | **all of it, work on one core** | 910 | 700 | 1.3 |",
    ]
    assert rows[0] in chains.table({"A": (fit, 0.91)}, 16)


@pytest.mark.slow
def test_a_fit_has_all_steps():
    if not chains.is_present("NCI1"):
        pytest.skip("NCI1 is not here")
    fit, one_core = chains.chains_of("NCI1", 8)
    assert {call.name for call in fit.calls} >= set(chains.STEPS.values())
    assert fit.chain < one_core

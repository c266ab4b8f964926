import pytest

from reproduction.engine.cells import Cell, Store
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.runner import run


class Counting:
    """Work that counts, and stops where it is told."""

    def __init__(self, stop_at=None):
        self.computed, self.stop_at = [], stop_at

    def __call__(self, data, cells, context):
        for cell in cells:
            if len(self.computed) == self.stop_at:
                raise KeyboardInterrupt
            self.computed.append(cell)
            yield cell, {"graphs": None if data is None else len(data.graphs)}


def make(work, repeats=3, dataset=None, skipped="", row="PK"):
    cells = tuple(Cell.of("labelled", row, str(dataset), repeat) for repeat in range(repeats))
    return Job(cells, dataset, work, skipped)


def test_everything_is_computed_once(tmp_path):
    store, work = Store(tmp_path), Counting()
    assert run([make(work)], store).computed == 3
    again = run([make(work)], store)
    assert (again.computed, again.kept) == (0, 3)
    assert len(work.computed) == 3


def test_an_interrupted_run_goes_on(tmp_path):
    store, first, second = Store(tmp_path), Counting(stop_at=2), Counting()
    with pytest.raises(KeyboardInterrupt):
        run([make(first)], store)
    assert run([make(second)], store).computed == 1
    assert [cell.repeat for cell in second.computed] == [2]


def test_quick_results_are_part_of_the_full_ones(tmp_path):
    store, work = Store(tmp_path), Counting()
    run([make(work, repeats=1)], store)
    run([make(work, repeats=3)], store)
    assert [cell.repeat for cell in work.computed] == [0, 1, 2]


def test_what_is_skipped_is_left_alone(tmp_path):
    work = Counting()
    outcome = run([make(work, skipped="too slow")], Store(tmp_path))
    assert (outcome.computed, work.computed) == (0, [])


def test_absent_data_is_reported_and_the_rest_goes_on(tmp_path, tiny):
    store, work = Store(tmp_path), Counting()
    jobs = [make(work, dataset="NCI109"), make(work, dataset="MUTAG", row="WL")]
    outcome = run(jobs, store)
    assert outcome.absent == {"NCI109": "NCI109 is not here"}
    assert outcome.computed == 3
    assert store[jobs[1].cells[0]]["graphs"] == 40


def test_absent_data_work_as_soon_as_they_are_there(tmp_path, tiny, monkeypatch):
    from reproduction.engine import runner

    store, work = Store(tmp_path), Counting()
    run([make(work, dataset="NCI109")], store)
    monkeypatch.setattr(runner, "load_source", lambda name: tiny("MUTAG"))
    assert run([make(work, dataset="NCI109")], store).computed == 3


def test_it_tells_how_far_it_is(tmp_path):
    news, titles = [], []
    run([make(Counting())], Store(tmp_path), tell=news.append, title=titles.append)
    assert [(one.done, one.total) for one in news] == [(1, 3), (2, 3), (3, 3)]
    assert news[0].seconds_left > news[1].seconds_left > news[2].seconds_left == 0
    assert titles == ["labelled: PK on None"]


def test_scope():
    assert Scope().repeats_or(10) == 10
    assert Scope(quick=True).repeats_or(10) == 1
    assert Scope(quick=True).repeats_or(10, quick=3) == 3
    assert Scope(quick=True, repeats=2).repeats_or(10) == 2
    assert Scope().wants("MUTAG")
    assert not Scope(datasets=("NCI1",)).wants("MUTAG")

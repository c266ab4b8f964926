import numpy as np

import propkernels as pk
from reproduction.engine.cells import Store
from reproduction.engine.jobs import Scope
from reproduction.engine.runner import run
from reproduction.engine.sections import State
from reproduction.experiments import statistics


def test_numbers_are_counted():
    data = pk.datasets.make_molecules(11, random_state=0)
    sizes = [graph.n_nodes for graph in data.graphs]
    found = statistics.statistics(data)
    assert found["median_nodes"] == np.median(sizes)
    assert (found["max_nodes"], found["total_nodes"]) == (max(sizes), sum(sizes))
    assert found["node_labels"] == len(set(data.graphs.node_labels.tolist()))
    assert (found["classes"], found["attributes"]) == (2, None)


def test_differences_and_absent_data_are_flagged(tiny, tmp_path):
    store, scope = Store(tmp_path), Scope()
    outcome = run(statistics.jobs(scope), store)
    (section,) = statistics.sections(State(store, statistics.jobs(scope), outcome.absent))
    rows = {row[0]: row for row in section.rows}
    assert len(rows) == 16
    assert rows["MUTAG"][1] == "40 (188)"
    assert rows["MUTAG"][-1].startswith("differs: graphs")
    assert rows["NCI109"][-1] == "absent: NCI109 is not here"

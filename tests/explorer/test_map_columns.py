"""map_columns: values that color the map."""

import numpy as np

from propkernels.explorer.map_columns import MOST_NAMES, map_columns
from propkernels.explorer.page_contents import WORDS


def columns_of(graphs, further):
    """Columns of a page without a target, by name."""
    columns = map_columns(graphs, None, None, None, np.linspace(0, 1, len(graphs)), further, WORDS)
    return {column.name: (column, values) for column, values in columns}


def test_sizes_of_graphs(data):
    columns = columns_of(data.graphs, None)
    assert list(columns) == ["novelty", "number of nodes", "number of edges"]
    assert columns["number of nodes"][1].tolist() == data.graphs.graph_sizes.tolist()
    assert columns["number of edges"][1].sum() == data.graphs.n_edges


def test_words_and_numbers(data):
    n = len(data.graphs)
    columns = columns_of(data.graphs, {"word": ["a", "b"] * (n // 2), "number": np.arange(n) / 2})
    column, values = columns["word"]
    assert column.described() == {"key": "c0", "name": "word", "kind": "class", "names": ["a", "b"]}
    assert values.tolist() == [0, 1] * (n // 2)
    column, values = columns["number"]
    assert column.names is None
    np.testing.assert_allclose([column.low, column.high], np.quantile(values, [0.01, 0.99]))


def test_rare_words_share_a_color(data):
    graphs = data.graphs[np.arange(60) % len(data.graphs)]
    words = [f"w{i:02}" for i in range(50)] + ["w49"] * 10
    column, values = columns_of(graphs, {"word": words})["word"]
    assert len(column.names) == MOST_NAMES
    assert column.names[-1] == "all others"
    assert column.names[values[-1]] == "w49"

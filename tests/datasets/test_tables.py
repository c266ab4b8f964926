"""One reader of tables: the same columns, whoever reads them."""

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils.cells import as_classes, is_missing, typed_column
from propkernels.datasets import open_source
from propkernels.datasets.tables import LONGEST_RECORD, iter_records, read_table, sdf_properties
from tests.kinds_of_input import save

SMILES = ["CCO", "CCN", "CC", "CCC", "CO", "CN"]
TARGETS = {
    "whole numbers": ["0", "1", "1", "0", "1", "0"],
    "numbers": ["0.5", "1e-3", "-2", "3", ".5", "7.25"],
    "numbers with gaps": ["0.5", "", "-2", "3", "", "7.25"],
    "whole numbers with gaps": ["0", "", "1", "0", "1", "0"],
    "texts": ["yes", "no", "yes", "no", "no", "yes"],
    "texts with gaps": ["yes", "", "no", "yes", "no", ""],
    "words for missing": ["NA", "None", "null", "N/A", "nan", "NA"],
    "booleans": ["True", "False", "True", "True", "False", "False"],
    "booleans with gaps": ["True", "", "True", "True", "False", ""],
    "codes": ["01", "1", "01", "1", "001", "1"],
    "quoted": ['"a,b"', '"say ""x"""', '"a,b"', "c", '"two\nlines"', "c"],
}


def written(folder, cells, separator=",", suffix="csv"):
    lines = [f"{smiles}{separator}{cell}" for smiles, cell in zip(SMILES, cells, strict=True)]
    path = folder / f"table.{suffix}"
    path.write_text("\n".join([f"smiles{separator}class", *lines]) + "\n")
    return path


def column(values):
    """A target, comparable: which are missing, and the others as they are."""
    gaps = is_missing(values)
    known = as_classes(typed_column(np.asarray(values)[~gaps]))
    return gaps.tolist(), known.dtype.kind, known.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_all_readers_agree(name, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = written(tmp_path, TARGETS[name])
    features = pk.PropagationFeatures(n_features=2**10, t_max=1, random_state=0)

    def featurized(source, name):
        return pk.featurize(source, features, tmp_path / name).target

    data = open_source(path, node_labels="symbol")  # tables of edges hold no tuples
    expected = column(data.target)
    if "\n" not in "".join(TARGETS[name]):
        assert column(open_source(written(tmp_path, TARGETS[name], "\t", "tsv")).target) == expected
    assert column(featurized(path, "a")) == expected
    save(data, tmp_path / "graphs.parquet")
    assert column(open_source(tmp_path / "graphs.parquet").target) == expected
    assert column(featurized(tmp_path / "graphs.parquet", "b")) == expected
    save(data, tmp_path / "graphs_edges.csv")
    assert column(open_source(tmp_path / "graphs_edges.csv").target) == expected
    edges = pd.DataFrame({"graph": range(6), "source": 0, "target": 1})
    graphs = pd.DataFrame({"graph": range(6), "class": pd.Series(data.target.tolist(), dtype=object)})
    assert column(pk.from_pandas(edges, graphs=graphs, graph_target="class")[1]) == expected


def test_every_reader_warns_of_marks_among_numbers(tmp_path):
    pytest.importorskip("pandas")
    path = written(tmp_path, ["0.5", "NA", "2", "", "na", "7"])
    edges = tmp_path / "g_edges.csv"
    edges.write_text("graph,source,target\n0,0,1\n1,0,1\n")
    (tmp_path / "g_graphs.csv").write_text("graph,class\n0,1.5\n1,NA\n")
    for read, said in [(open_source, "2 cells"), (pk.scale.partition, "2 cells")]:
        with pytest.warns(UserWarning, match=f"column 'class' of .* has {said} such as 'NA' among numbers"):
            read(path)
    with pytest.warns(UserWarning, match="column 'class' of the table of graphs has 1 cell 'NA'"):
        open_source(edges)


def pair(labels, **parts):
    n = len(labels)
    path = np.eye(n, k=1) + np.eye(n, k=-1)
    return pk.GraphDatabase(path, [0, n], node_labels=labels, **parts)


@pytest.mark.parametrize(
    "labels",
    [
        ["01", "1", "None", "null", "NA", None],
        [1, 2, None, 7],
        [2**63, 2**63 + 1, 5],
        ["a,b", 'say "x"', "two\nlines", " a"],
        [0.5, 1, None],
    ],
    ids=str,
)
def test_labels_come_back_from_tables(labels, tmp_path):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    graphs = pair(array)
    for name in ("x.parquet", "x_edges.csv"):
        save(pk.datasets.Dataset("X", graphs, np.empty((1, 0))), tmp_path / name)
        again = open_source(tmp_path / name, target_required=False).graphs
        assert again == graphs
        kernel = pk.WeisfeilerLehman(t_max=2)
        assert np.array_equal(kernel.fit_transform(again), kernel.fit_transform(graphs))


def test_keys_are_the_same_in_all_tables(tmp_path):
    (tmp_path / "x_edges.csv").write_text("graph,source,target\n01,1,2\n1,1,02\n")
    (tmp_path / "x_nodes.csv").write_text("graph,node\n01,1\n01,2\n1,1\n1,02\n")
    graphs = open_source(tmp_path / "x_edges.csv", target_required=False).graphs
    assert graphs.ids.tolist() == ["01", "1"]
    assert graphs.graph_sizes.tolist() == [2, 2]


@pytest.mark.slow
def test_an_open_quote_is_named_by_its_place(tmp_path):
    """Copying the record at every line would take half a minute."""
    path = tmp_path / "x.csv"
    path.write_text('smiles,class\nC,"' + "\n" * (LONGEST_RECORD - 100))
    with pytest.raises(ValueError, match="a quote that is never closed, in the line at byte 13"):
        list(iter_records(path))


def test_tables_of_other_programs(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b'\xef\xbb\xbfname,"a ""b""",\r\n1,"x\r\ny",3\r\n\r\n')
    assert read_table(path) == {"name": ["1"], 'a "b"': ["x\r\ny"], "": ["3"]}
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(ValueError, match=r"x.csv cannot be read as a table: byte 1 is 0xff, .* as UTF-8"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("> <y>\n1.5\n\n$$$$\n", {"y": "1.5"}),
        ("> <y>\n1.5\n$$$$\n", {"y": "1.5"}),
        ("> <y>\ntwo\nlines\n\n> <z>\n1\n\n", {"y": "two\nlines", "z": "1"}),
        ("> <y>\n\n> <z>\n1\n\n", {"y": "", "z": "1"}),
        ("> <y>\n> <z>\n\n$$$$\n", {"y": "> <z>"}),
        ("> <y>\nx\x85\u2028y\n\n", {"y": "x\x85\u2028y"}),
        (">  7 <a<b> (MD)\n 1\n\n", {"a<b": " 1"}),
        ("> <>\n1\n\n> unnamed\n2\n\n", {}),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_properties_of_a_record(text, expected, end):
    record = ("M  END > <not this>\n\n\n...\nM  END\n" + text).replace("\n", end).encode()
    assert sdf_properties(record) == expected

"""Files and folders that cannot be read: one sentence, which names the file and what is wrong."""

import json

import pytest

import propkernels as pk
from propkernels.datasets import open_source
from tests.datasets.tiny import write_files

EDGES = "graph,source,target,kind,length\n1,a,b,x,1.5\n1,b,c,y,2\n2,a,b,x,3\n"
NODES = "graph,node,element,mass\n1,a,C,12\n1,b,N,14\n1,c,O,16\n2,a,C,12\n2,b,C,12\n"
GRAPHS = "graph,y,note\n2,1,good\n1,0,bad\n"
TU = {"x_A.txt": "1, 2\n", "x_graph_indicator.txt": "1\n1\n", "x_graph_labels.txt": "0\n"}
MOL = "\n\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n"
LATIN = r"0xe9, which is not text in UTF-8: save it as UTF-8"


def npy(header):
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(48)


def cloud(descr="'<f8'", shape="(2, 3)"):
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")


def link(**data):
    graph = {"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, **data}]}
    return json.dumps(graph).encode()


def links(*several):
    nodes = [{"id": 0}, {"id": 1}]
    return json.dumps(
        {"nodes": nodes, "links": [{"source": a, "target": b, **data} for a, b, data in several]}
    )


def tables(**texts):
    return {f"{name}.csv": text for name, text in texts.items()}


REFUSED = [
    # graph files
    ({"x.json": "{"}, {}, "cannot be read as JSON"),
    ({"x.json": "[" * 100_000}, {}, "cannot be read as JSON"),
    ({"x.json": '{"a": 1}'}, {}, "graph 0 is not a node-link graph"),
    ({"x.json": '{"nodes": [], "links": [{"source": 1}]}'}, {}, "'target' is missing"),
    ({"x.json": '{"nodes": [], "links": [{"source": 1, "target": 1}]}'}, {}, "names node 1, .* not in nodes"),
    ({"x.json": '{"nodes": [{"id": 1}, {"id": 1}], "links": []}'}, {}, "two nodes have the id 1"),
    ({"x.json": '{"directed": "no", "nodes": [], "links": []}'}, {}, '"directed" must be true or false'),
    ({"x.json": '{"nodes": [{"id": [1]}], "links": []}'}, {}, "a part of it is of the wrong kind"),
    (
        {"x.json": links((0, 1, {"weight": 2}), (1, 0, {"weight": 3}))},
        {},
        "two links join 1 and 0 and do not",
    ),
    ({"x.json": link(weight=10**400)}, {}, "weights must be finite and not negative"),
    ({"x.edges": "a b c d\n"}, {}, "line 1 has 4 words"),
    ({"x.edges": "a b 1\nb a 2\n"}, {}, "line 2 gives the edge b - a another weight"),
    ({"x.edges": b"\xff\xfe"}, {}, "cannot be read as an edge list"),
    # letters that are not UTF-8 would all be read as one, and classes would merge
    ({"x.json": b'{"nodes": [{"id": "\xe9"}], "links": []}'}, {}, "byte 20 is 0xe9, which is not text"),
    ({"x.csv": b"smiles,y\nCCO,ni\xe9\nCCC,ni\xe8\n"}, {}, LATIN),
    ({"x.smi": b"CCO ni\xe9\n"}, {}, LATIN),
    ({"x.sdf": f"{MOL}> <class>\n".encode() + b"ni\xe9\n\n$$$$\n"}, {}, LATIN),
    (TU | {"x_node_labels.txt": "0\n1\n", "x_node_label_names.txt": "a\na\n"}, {}, "two labels the same"),
    (TU | {"x_graph_label_names.txt": b"ni\xe9\n"}, {}, LATIN),
    # point clouds
    ({"x.npy": npy("{'descr': '<f8'")}, {}, "its header is damaged"),
    ({"x.npy": npy("'''")}, {}, "its header is damaged"),
    ({"x.npy": npy("(" * 800)}, {}, "its header is damaged"),
    ({"x.npy": cloud("('<f8',)")}, {}, "its header is damaged"),
    ({"x.npy": cloud(shape="(-2, 3)")}, {}, "not one of numbers"),
    ({"x.npy": cloud(shape="(True, 3)")}, {}, "not one of numbers"),
    ({"x.npy": cloud("'|V0'", "(99999999999999, 3)")}, {}, "not one of numbers"),
    ({"x.npy": cloud("'<m8[s]'")}, {}, "not one of numbers"),
    ({"x.npy": cloud("'|O'")}, {}, r"array of object of shape \(2, 3\), and not one"),
    ({"x.npy": cloud(shape="(9999999999999999999999, 0)")}, {}, "announces an array of shape"),
    ({"x.npy": cloud(shape="(9, 3)")}, {}, "cannot be read as a point cloud"),
    ({"x.npy": cloud(shape="(1, 6)")}, {}, "one row per point and two or three coordinates"),
    ({"x.npy": cloud(shape="(6,)")}, {}, "one row per point and two or three coordinates"),
    # tables of molecules
    ({"x.csv": "a,b\n1,2\n"}, {}, "has neither a column of SMILES nor columns source and target of edges"),
    ({"x.csv": "smiles,b\nC,2\n"}, {"target_required": True}, r"choose one by --target .*, of \['b'\]"),
    ({"x.csv": "smiles,y\n"}, {}, "has no rows"),
    ({"x.csv": "smiles,y,y\nC,1,2\n"}, {}, "has several columns 'y': rename all but one"),
    (
        {"x.csv": 'smiles,y\nC,"1,5"\nCC,"2,5"\n'},
        {"target_column": "y"},
        "numbers with commas, such as '1,5': write 1.5",
    ),
    ({"x.csv": "smiles,class\nCC,1\n ,0\nCO,1\n"}, {}, "1 of 3 molecules cannot be read: row 1"),
    ({"x.smi": "\n"}, {}, "has no molecules"),
    ({"x.smi": "C\n"}, {"target_required": True}, "has no column with a usual name for the target"),
    ({"x.sdf": f"{MOL}$$$$\n"}, {"target_column": "x"}, "has no column 'x'; its columns are"),
    ({"x.sdf": f"{MOL}$$$$\n"}, {"id_column": "x"}, "has no column 'x'; its columns are"),
    ({"x.parquet": "?"}, {}, "is not a Parquet file"),
    ({"x.docx": "?"}, {}, r"x.docx has the unknown suffix '.docx': supported are tables"),
    # tables of edges, nodes and graphs
    (tables(n=NODES, g=GRAPHS), {}, "has no columns source and target: it is not a table of edges"),
    (tables(e=EDGES, more_e=EDGES), {}, "more_e.csv is a second table of edges"),
    (tables(e=EDGES, x="a,b\n1,2\n"), {}, r"x.csv is no table of edges .* columns are \['a', 'b'\]"),
    (tables(e=EDGES), {"node_labels": "element"}, "has no table of nodes, so --node-labels"),
    (tables(e=EDGES, n=NODES), {"node_labels": "x"}, "n.csv: nodes has no column 'x'"),
    (tables(e=EDGES), {"edge_labels": "nope"}, "e.csv: edges has no column 'nope'"),
    (tables(e=EDGES, g=GRAPHS), {"smiles_column": "s"}, "has no column 's' of SMILES"),
    (tables(e=EDGES), {"target_column": "y"}, "has no table of graphs with the target 'y'"),
    (tables(e=EDGES, g="graph,y\n1,0\n"), {"target_required": True}, "no row for 1 of 2 graphs, such as 2"),
    (tables(e=EDGES, g=GRAPHS), {"id_column": "nope"}, "g.csv: the table of graphs has no column 'nope'"),
    (tables(e=EDGES), {"key_columns": {"weight": "mile"}}, "no column 'mile', which is to hold the weight"),
    (tables(e=EDGES), {"key_columns": {"edge": "a"}}, "must be one of 'graph', 'node', 'source', 'target'"),
    # folders
    ({"d/a.docx": "x"}, {}, r"has no files that can be read: a folder holds a TU data set"),
    ({"d/a.json": "{}", "d/b.edges": "a b\n"}, {}, r"has files of several formats \(.edges, .json\)"),
    ({"d/a.npy": cloud()}, {"target_required": True}, "has point clouds but no subfolders, one per class"),
    ({"d/a.npy": cloud()}, {"target_column": "y"}, "their subfolders are the target"),
    *(
        ({"d/a.npy": cloud()}, {option: "x"}, rf"\({option}\) does not apply to point clouds: leave it out")
        for option in ("smiles_column", "id_column", "node_labels", "edge_labels")
    ),
]


@pytest.mark.parametrize(("files", "options", "message"), REFUSED)
def test_faults_are_one_sentence(files, options, message, tmp_path):
    paths = write_files(tmp_path, files)
    place = paths[0].parent if len(paths) > 1 and paths[0].suffix != ".csv" else ",".join(map(str, paths))
    place = tmp_path / "d" if any(name.startswith("d/") for name in files) else place
    with pytest.raises(ValueError, match=message) as error:
        open_source(place, **{"target_required": False} | options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("line", ["CC", "CC,1,2", "CC,1,"])
def test_lines_of_another_length_are_refused(line, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"smiles,class\nCO,1\n{line}\n")
    for read in (open_source, pk.scale.partition):
        with pytest.raises(ValueError, match=r"has a line with \d cells instead of 2: b'CC"):
            read(path)

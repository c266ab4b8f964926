"""One small data set in every kind of file or folder that can be read: 12 graphs of two classes."""

import json

import networkx as nx
import numpy as np

import propkernels as pk
from propkernels.datasets import Dataset, write_tu

N_GRAPHS = 12
CLASSES = ("odd", "even")
SMILES = [
    f"{group}{chain}" for chain in ("CC", "CCC", "CCCC", "CC(C)C", "CCCCC", "C1CCCC1") for group in "ON"
]
WITH_TARGET = tuple(str.split("tu zip parquet csv tsv sdf tables json jsonl edges images npy"))


def class_of(i):
    return CLASSES[i % 2]


def networkx_graphs():
    """Rings with a tail of one of two kinds of nodes, a number at each node, and kinds of edges."""
    graphs = []
    for i in range(N_GRAPHS):
        graph = nx.cycle_graph(4 + i % 3)
        graph.add_edge(0, "tail")
        for node in graph:
            graph.nodes[node].update(kind="ring" if node != "tail" else class_of(i), mass=float(len(graph)))
        for number, (u, v) in enumerate(graph.edges):
            graph.edges[u, v].update(type="st"[number % 2])
        graph.graph.update(target=class_of(i), id=f"g{i}")
        graphs.append(nx.relabel_nodes(graph, str))
    return graphs


def write_kind(kind, folder):
    """Write the data set of one kind, and return its path."""
    return WRITERS[kind](kind, folder)


def _database():
    graphs = pk.from_networkx(
        networkx_graphs(), node_label="kind", edge_label="type", node_attributes=["mass"]
    )
    return Dataset("SMALL", graphs.with_ids(None), np.arange(N_GRAPHS) % 2)


def _save(kind, folder):
    path = (
        folder
        / {"tu": "SMALL", "zip": "SMALL.zip", "parquet": "small.parquet", "tables": "s_edges.csv"}[kind]
    )
    save(_database(), path)
    return path


def save(data, path):
    """Write a data set as Parquet, as tables of edges, nodes and graphs (X_edges.csv), or as TU files."""
    target = data.target if data.target.size else None
    if path.suffix == ".parquet":
        data.graphs.to_parquet(path, target=target)
    elif path.suffix == ".csv":
        for kind, table in pk.convert.to_pandas(data.graphs, target)._asdict().items():
            table.to_csv(path.with_name(path.name.replace("edges", kind)), index=False)
    else:
        write_tu(data, path)


def _write_table(kind, folder):
    separator = "\t" if kind == "tsv" else ","
    rows = [separator.join((text, class_of(i), f"m{i}")) for i, text in enumerate(SMILES)]
    path = folder / f"drugs.{kind}"
    path.write_text("\n".join([separator.join(("smiles", "active", "code")), *rows]) + "\n")
    return path


def _write_smi(kind, folder):
    path = folder / "drugs.smi"
    path.write_text("".join(f"{text} m{i}\n" for i, text in enumerate(SMILES)))
    return path


def _write_sdf(kind, folder):
    from rdkit import Chem

    path = folder / "drugs.sdf"
    with Chem.SDWriter(str(path)) as writer:
        for i, text in enumerate(SMILES):
            mol = Chem.MolFromSmiles(text)
            mol.SetProp("active", class_of(i))
            writer.write(mol)
    return path


def _write_json(kind, folder):
    links = [nx.node_link_data(graph, edges="links") for graph in networkx_graphs()]
    path = folder / f"graphs.{kind}"
    path.write_text(json.dumps(links) if kind == "json" else "\n".join(map(json.dumps, links)))
    return path


def _write_edges(kind, folder):
    """Write one edge list per graph, in a subfolder per class."""
    for i, graph in enumerate(networkx_graphs()):
        place = folder / kind / class_of(i)
        place.mkdir(parents=True, exist_ok=True)
        (place / f"g{i}.edges").write_text("".join(f"{u} {v}\n" for u, v in graph.edges))
    return folder / kind


def _write_images(kind, folder):
    from PIL import Image

    random = np.random.default_rng(0)
    for i in range(N_GRAPHS):
        place = folder / "images" / class_of(i)
        place.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 256, (6, 5)) // (1 + i % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(place / f"{i}.png")
    return folder / "images"


def _write_clouds(kind, folder):
    random = np.random.default_rng(0)
    for i in range(N_GRAPHS):
        place = folder / kind / class_of(i)
        place.mkdir(parents=True, exist_ok=True)
        points = random.normal(size=(9, 3)) * (1, 1, 1 + 3 * (i % 2))
        np.save(place / f"{i}.npy", points)
    return folder / kind


WRITERS = {
    **dict.fromkeys(("tu", "zip", "parquet", "tables"), _save),
    **dict.fromkeys(("csv", "tsv"), _write_table),
    **dict.fromkeys(("json", "jsonl"), _write_json),
    "npy": _write_clouds,
    "edges": _write_edges,
    "smi": _write_smi,
    "sdf": _write_sdf,
    "images": _write_images,
}
KINDS = (*WITH_TARGET, "smi")

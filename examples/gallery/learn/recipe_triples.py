"""
Recipe: graphs of knowledge graph triples
=========================================

Each entity becomes a graph: everything within one step of it, with relations as labels of edges.
"""

import networkx as nx

import propkernels as pk

facts = [("Ada", "knew", "Babbage"), ("Ada", "wrote", "Notes"), ("Babbage", "built", "Engine")]
network = nx.MultiDiGraph()
network.add_edges_from((head, tail, {"label": relation}) for head, relation, tail in facts)
entities = ["Ada", "Babbage"]
around = [nx.ego_graph(network, entity, radius=1, undirected=True) for entity in entities]
graphs = pk.from_networkx(around, ids=entities)
print(graphs, graphs.ids)

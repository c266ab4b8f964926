"""
Recipe: graphs of crystals
==========================

ASE finds the neighbors of each atom, also in other cells; an edge weighs as much as it has periodic images.
"""

import numpy as np
from ase.build import bulk
from ase.neighborlist import natural_cutoffs, neighbor_list
from scipy.sparse import coo_array

import propkernels as pk

crystals = [bulk("Cu"), bulk("NaCl", "rocksalt", a=5.64)]
pairs = [neighbor_list("ij", atoms, natural_cutoffs(atoms, mult=1.1)) for atoms in crystals]
sizes = [(len(atoms), len(atoms)) for atoms in crystals]
matrices = [coo_array((np.ones(len(i)), (i, j)), n) for (i, j), n in zip(pairs, sizes, strict=True)]
graphs = pk.from_adjacency(matrices, node_labels=[atoms.get_chemical_symbols() for atoms in crystals])
print(graphs, graphs.degrees)  # coordination numbers: 12 in copper, 6 in salt

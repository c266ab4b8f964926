"""
An explorer in one file
=======================

``pk.explore`` makes a page with a map of all graphs, every decision node by node, neighbors, errors, and
graphs that can be edited while the decision follows. It is one HTML file that works without a server; below
is the live page.
"""

# sphinx_gallery_thumbnail_path = 'pictures/explorer_map.png'

import propkernels as pk

data = pk.datasets.make_molecules(120, random_state=0)
page = pk.explore(data, title="Graphs like molecules")
print(page)

# %%
# ``page.save("explorer.html")`` writes the file. In a notebook, the page shows itself where it is the last
# line of a cell; the same happens here.
page

"""
An explorer in one file
=======================

``pk.explore`` makes a page with a map of all graphs, the contribution of every node to every decision,
neighbors and errors. Graphs can be edited, and decisions are updated at once. The page is one HTML file that
works without a server; below it is live.
"""

# sphinx_gallery_thumbnail_path = 'pictures/explorer_map.png'

import propkernels as pk

data = pk.datasets.load("FAMILIES")  # 317 molecules that come with the package
page = pk.explore(data, title="Which family does a molecule belong to?")
print(page)

# %%
# ``page.save("explorer.html")`` writes the file. In a notebook, the page shows itself where it is the last
# line of a cell; the same happens here.
page

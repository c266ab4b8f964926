"""Graphs of other libraries and formats: each module has its ``from_X`` and, where X can hold it, ``to_X``.

``build`` puts a database together from flat arrays, and names what is wrong or leaves it out;
``listing`` gives the edges of one graph as other libraries want them: each undirected edge once.
"""

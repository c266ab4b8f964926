"""The smallest changes of a graph that change what a model says about it."""

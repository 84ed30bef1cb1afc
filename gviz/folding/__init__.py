"""Folding: which nodes of a graph can stand as one item, and the graph that is left."""

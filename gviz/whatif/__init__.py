"""Edits of a graph, and what a launch would take with them, computed from a recording."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Nodes that stand as one item, and what is visible then. Arrays in, arrays out."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

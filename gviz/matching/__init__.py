"""Work of a graph found again among operations outside graphs."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

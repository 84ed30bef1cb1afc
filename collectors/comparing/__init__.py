"""The same work by stream calls and as a graph, measured and compared."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

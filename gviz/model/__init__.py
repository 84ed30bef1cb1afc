"""The graph in memory: levels, launches, names, memory, and what the host did around them."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

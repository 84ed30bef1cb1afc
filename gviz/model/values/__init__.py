"""Values of nodes: what the memory that each is given held, and who wrote it."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

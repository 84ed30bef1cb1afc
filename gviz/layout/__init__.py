"""Places of nodes in a drawing: layers, along time, nested. Arrays in, arrays out."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

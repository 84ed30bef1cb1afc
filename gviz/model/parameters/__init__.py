"""Parameters of kernels, and what a node gives them: names, types, values."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Everything that touches CUDA: attaching to a program and recording its graphs."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

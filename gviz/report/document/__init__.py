"""Documents: statements about recordings as data, whatever they are printed as."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

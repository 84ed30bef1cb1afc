"""The Fleet page: a data set's report, and maps of ranks by layer."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

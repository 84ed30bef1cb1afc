"""The contents of a recording as a document: what ``gviz info`` prints and notebooks show."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

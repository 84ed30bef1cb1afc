"""The ranks of a job as a document: what ``gviz skew`` and the Ranks page print."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

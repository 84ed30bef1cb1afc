"""Analyses as a document: what ``gviz analyze`` prints and the Report page shows."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Overlays: tables of a reader's own, keyed by node, name or range, that pages lay on a graph."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

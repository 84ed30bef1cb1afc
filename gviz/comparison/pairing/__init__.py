"""Nodes of one graph paired with those of another."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

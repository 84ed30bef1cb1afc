"""Graphs that are handed over where CUPTI is not used."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

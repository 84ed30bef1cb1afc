"""Recorded work matched with graphs: times with nodes, and operations outside graphs."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

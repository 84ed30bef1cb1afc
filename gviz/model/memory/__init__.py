"""Memory that nodes are given: who uses it, which edges carry it, how long it lives."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

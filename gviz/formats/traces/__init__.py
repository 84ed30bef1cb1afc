"""Traces of any profiler as runs of a recording."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""A graph with all that is nested in it, level by level, with its times."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

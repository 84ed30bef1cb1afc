"""Commands that record a running program, and those that look at it meanwhile."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

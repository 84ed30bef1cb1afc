"""The verbs, a module for each thing that they are about."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

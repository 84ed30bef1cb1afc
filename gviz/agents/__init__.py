"""Answers for programs that read profiles: verbs, and servers that clients ask them of."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Analyses in words: the text that commands print."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

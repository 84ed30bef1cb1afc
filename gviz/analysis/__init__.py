"""Meaning of a recording: pure functions from rows and arrays to answers. No GPU, no web."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

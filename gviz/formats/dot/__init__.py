"""The driver's DOT dialect, and gviz's own: read, written, imported."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

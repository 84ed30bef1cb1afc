"""Results of analyses: frozen dataclasses whose fields say how numbers came about."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

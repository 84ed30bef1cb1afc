"""Data of the canvases and tables, as arrays for the browser."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

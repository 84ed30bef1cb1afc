"""The inspector: everything recorded of selected nodes."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

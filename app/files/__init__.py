"""Files that the viewer serves: opened once, kept with what was computed of them."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

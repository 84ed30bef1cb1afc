"""Files of other programs, read into recordings and written from them."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

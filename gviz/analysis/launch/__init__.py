"""One launch: every execution, what held it back, where the time went. Arrays in, arrays out."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

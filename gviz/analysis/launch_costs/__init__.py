"""Launch costs of a GPU: figures, cost lines, and forecasts from them."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

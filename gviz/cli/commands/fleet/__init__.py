"""Commands about fleets: a data set built, and questions to it."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

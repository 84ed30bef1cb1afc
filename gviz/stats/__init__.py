"""Numbers over many values: statistics, sketches, intervals of confidence, merged spans."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

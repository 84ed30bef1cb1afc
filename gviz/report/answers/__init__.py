"""Documents of single answers: a recording in brief, one finding, one gap, one layer, one fix."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Records of launches and nodes sorted as they come, in bounded memory."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

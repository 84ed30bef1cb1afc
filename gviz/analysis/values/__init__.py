"""Values of nodes read: where strange numbers begin, what varies, who races."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""``gviz bench``: what graphs cost and save on this GPU, measured."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

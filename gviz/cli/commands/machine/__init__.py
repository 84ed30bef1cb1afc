"""Commands about this machine: what it can record, what graphs cost on it, its shell."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

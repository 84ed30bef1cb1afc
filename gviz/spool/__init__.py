"""The spool: raw records of a watched process, and folding them into a recording."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

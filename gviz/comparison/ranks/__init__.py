"""Ranks of one job side by side: who is late, who is slow, who waits."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

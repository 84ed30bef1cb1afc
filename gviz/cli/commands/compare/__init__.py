"""Commands that compare recordings: with another, with many, with limits, rank with rank."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

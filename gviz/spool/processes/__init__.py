"""Spools of processes: followed while they run, and found after they ended."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

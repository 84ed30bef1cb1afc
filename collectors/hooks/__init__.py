"""Hooks in the watched program: imports, NVTX, stacks."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

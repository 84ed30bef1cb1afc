"""Families of kernels: what a kernel does, in which types, and whose it is, from its name."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

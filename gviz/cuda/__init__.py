"""CUDA's own matters: node types, kernel names, failures in words, CUPTI, this machine."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""The DAG as arrays: places, folds, open bodies, colours."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Runs built from records: columns in, rows of a recording out."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

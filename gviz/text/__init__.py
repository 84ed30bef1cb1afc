"""Quantities, tables and lines as text: one form of each, for the terminal and the pages."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

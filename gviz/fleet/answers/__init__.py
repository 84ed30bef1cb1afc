"""Answers of a data set: questions in SQL, and the report."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""A graph before and after as a document: what ``gviz diff`` and the Compare page print."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

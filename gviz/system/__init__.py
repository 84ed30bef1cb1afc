"""Requests to the operating system: processes of gviz's own, files for one user, standard error."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Recordings in programs and notebooks: objects, tables, views."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Recordings compared: two graphs, two runs, any number of runs, ranks of a job."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

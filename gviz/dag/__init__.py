"""Directed graphs as arrays: ranks, lanes, chains, reachability, width, critical path, cycles."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""The server: routes, security, prefetched pages."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

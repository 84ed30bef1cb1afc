"""The server: routes, security, pages made ahead."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

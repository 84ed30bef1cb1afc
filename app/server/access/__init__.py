"""Access to the server: where it listens, who is admitted, and what strangers may cost it."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""Commands that show a recording: as pages, as text, as rows."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

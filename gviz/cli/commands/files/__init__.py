"""Commands that make files of files: imported, exported, merged, recovered, upgraded."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

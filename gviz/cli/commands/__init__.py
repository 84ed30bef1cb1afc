"""The commands, one module each, with ``add_parser`` and ``run``, by what they serve."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

"""The rows of a recording: one frozen dataclass a table, the field docs are the column docs."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

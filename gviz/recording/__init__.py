"""The recording: one SQLite file that collectors write and everything else reads.

This package is the only place in gviz that speaks SQL.
"""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

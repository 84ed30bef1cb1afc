"""Components that pages share: addresses, charts, choices, numbers, the frame of a page."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

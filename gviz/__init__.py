"""gviz: a profiler and visualizer for CUDA graphs.

``import gviz`` is cheap: nothing but this file and what reads faces is loaded until a name is
used, so that it can stand in any program without slowing its start.
"""

from gviz.face import attach

__version__ = "0.1.0"
__getattr__, __dir__ = attach(__name__, __file__)

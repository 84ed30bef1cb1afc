"""Facts of a run beside its graphs: periods, stacks, and states of its GPUs."""

from gviz.face import attach

__getattr__, __dir__ = attach(__name__, __file__)

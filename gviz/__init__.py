"""gviz: a profiler and visualizer for CUDA graphs.

``import gviz`` is cheap: nothing but this file is loaded until a name is used,
so that it can stand in any program without slowing its start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "GvizError",
    "__version__",
    "compare_stream",
    "open",
    "profile",
    "start",
    "stop",
    "watch",
]

if TYPE_CHECKING:
    from gviz.api import open_recording as open
    from gviz.api import profile
    from gviz.collectors import compare_stream, start, stop, watch
    from gviz.errors import GvizError

_LAZY = {
    "compare_stream": "gviz.collectors.comparing.both_ways",
    "profile": "gviz.api.profiled",
    "start": "gviz.collectors.profiler",
    "stop": "gviz.collectors.profiler",
    "watch": "gviz.collectors.watching.handed_graph",
    "GvizError": "gviz.errors",
    "open": "gviz.api.opened",
}
#: Names that are others where they are made.
_NAMED_THERE = {"open": "open_recording"}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'gviz' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(module), _NAMED_THERE.get(name, name))


def __dir__() -> list[str]:
    return sorted(__all__)

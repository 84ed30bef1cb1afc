"""Names of the graphs that ``torch.compile(mode="reduce-overhead")`` captures.

Below torch.compile a graph is captured far from the user's code, and a function compiled for
three shapes has three graphs. PyTorch's own object for a graph, ``CUDAGraphNode``, knows the
inputs: while it records, the graph is named after the user's function and the shapes given.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gviz.collectors import native
from gviz.collectors.hooks.import_hook import on_import
from gviz.collectors.hooks.stacks import python_frames
from gviz.cuda import NameKind, line_name

_MODULE = "torch._inductor.cudagraph_trees"
#: Inputs shown; a fifth and later ones become an ellipsis.
_INPUT_LIMIT = 4


class CompiledGraphHook:
    """Names graphs of compiled functions while installed; nothing where PyTorch changed."""

    def __init__(self) -> None:
        self._forget: Callable[[], None] | None = None
        self._class: Any = None
        self._original: Any = None
        #: What a compilation's forward graph was called: its backward has no user frames.
        self._functions: dict[str, str] = {}

    def install(self) -> None:
        """Wrap the class, now or when it is imported."""
        self._forget = on_import(_MODULE, self._wrap)

    def remove(self) -> None:
        """Give the class its method back."""
        if self._forget is not None:
            self._forget()
        if self._original is not None:
            self._class._record = self._original
            self._original = None

    def _wrap(self, module: ModuleType) -> None:
        node_class: Any = getattr(module, "CUDAGraphNode", None)
        if node_class is None or node_class is self._class:
            return  # another thread is importing the module; or it was loaded again
        record = node_class._record
        name_of = self._name

        @functools.wraps(record)
        def _record(self: Any, *arguments: Any, **named: Any) -> Any:
            native.name_graphs(NameKind.FRAMEWORK, name_of(self, arguments, named))
            try:
                return record(self, *arguments, **named)
            finally:
                native.name_graphs(NameKind.NONE, "")

        self._class, self._original = node_class, record
        node_class._record = _record

    def _name(self, node: Any, arguments: Sequence[Any], named: dict[str, Any]) -> str:
        """Return function and shapes, or "" where this PyTorch does not have them. Never raises."""
        try:
            compilation = str(getattr(node, "compile_id", None))
            function = line_name(python_frames(sys._getframe(1)))
            if function is None or function == "torch.compile":
                function = self._functions.get(compilation, "torch.compile")
            else:
                self._functions[compilation] = function
            mode = getattr(getattr(node, "mode", None), "name", "")
            backward = " backward" if mode == "BACKWARD" else ""
            inputs = named.get("inputs", arguments[-1] if arguments else ())
            return f"{function}{backward}{_shapes(node, inputs)}"
        except Exception:  # of a PyTorch whose class differs: the graph is named by its line
            return ""


def _shapes(node: Any, inputs: Sequence[Any]) -> str:
    """Return the shapes of the inputs that change between launches, such as `` [8x64, 8]``."""
    changing = getattr(node, "non_static_input_idx", range(len(inputs)))
    shapes = []
    for index in changing:
        shape = getattr(inputs[index], "shape", None)
        if shape is not None:
            shapes.append("x".join(str(int(n)) for n in shape) or "scalar")
    if len(shapes) > _INPUT_LIMIT:
        shapes = [*shapes[:_INPUT_LIMIT], "…"]
    return f" [{', '.join(shapes)}]" if shapes else ""

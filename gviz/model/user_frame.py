"""Python stacks: what one says in a line, and the frame that its reader wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gviz.recording import rows

#: Files of the interpreter and of installed packages: not the user's own code.
_FOREIGN = re.compile(r"(site|dist)-packages[/\\]|[/\\]lib[/\\]python\d|^<")

#: Frames that say nothing: those that pass a module's call on, and that of a file.
_PASSING = frozenset({"Module._call_impl", "Module._wrapped_call_impl", "<module>"})
_FORWARD = ".forward"
#: Modules named in a line.
_MODULES = 2


def own_frame(stack: Sequence[rows.Location]) -> int | None:
    """Return the depth of the innermost frame of the user's own code; None without one."""
    for depth, location in enumerate(stack):
        if not _FOREIGN.search(location.file):
            return depth
    return None


def call_names(stack: Sequence[rows.Location]) -> list[str]:
    """Return the functions of a stack, innermost first, without frames that say nothing.

    A module's ``forward`` is called by the module.
    """
    return [_called(frame) for frame in stack if frame.function not in _PASSING]


def call_line(stack: Sequence[rows.Location]) -> str:
    """Return a stack in a line, innermost first: function, modules around it, the own line.

    ``layer_norm < LayerNorm < TransformerEncoderLayer:956 < step:31``; empty without a stack.
    """
    own = own_frame(stack)
    calls = [x for x in (stack if own is None else stack[:own]) if x.function not in _PASSING]
    modules = [x for x in calls[1:] if x.function.endswith(_FORWARD)][:_MODULES]
    names = call_names([*calls[:1], *modules])
    if modules:
        names[-1] += f":{modules[-1].line}"
    if own is not None:
        names.append(f"{_called(stack[own])}:{stack[own].line}")
    return " < ".join(names)


def _called(frame: rows.Location) -> str:
    return frame.function.split("<locals>.")[-1].removesuffix(_FORWARD)

"""Names of graphs: what the program called them, or where they were made.

The same rules serve the watched process (which graphs match a pattern) and the folding of its
spool (what the recording calls them).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from fnmatch import fnmatchcase

#: Installed packages: not the user's own code.
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
#: Packages whose frames stand between the user's line and the driver, and never name a graph.
_GPU_LIBRARIES = re.compile(
    r"[/\\](?:site|dist)-packages[/\\]"
    r"(?:torch|cupyx?|cupy_backends|jax|jaxlib|cuda|numba|numba_cuda|warp|triton|nvtx|gviz)[/\\]"
)
#: Code that torch.compile wrote, under the name of its hash: PyTorch's, wherever its cache lies.
_GENERATED = re.compile(r"[/\\]torchinductor_[^/\\]*[/\\]|[/\\][a-z2-7]{2}[/\\]c[a-z2-7]{51}\.py$")
_STANDARD_LIBRARY = re.compile(r"[/\\]lib(?:64)?[/\\]python3\.\d+\w*[/\\]|^<frozen ")
#: A notebook's cells are files with a number that differs in every session.
_CELL = re.compile(r"ipykernel_\d+[/\\]|^<ipython-input-")
#: PyTorch's graphs of compiled functions are captured below this file.
_TORCH_COMPILE = re.compile(r"[/\\]torch[/\\]_inductor[/\\]cudagraph_trees\.py$")
_LOCALS = re.compile(r"^.*<locals>\.")

#: File, line and function of one call, whatever follows.
Frame = Sequence[object]


class NameKind(IntEnum):
    """Origin of a graph's name."""

    NONE = 0
    EXPLICIT = 1  # the program
    FRAMEWORK = 2  # a hook that knows a framework; NVTX ranges say more


def base_name(kind: int, name: str, nvtx: str, frames: Iterable[Frame]) -> str | None:
    """Return what a graph is called, before equal names are distinguished.

    In this order: the name that the program gave; the NVTX ranges open where it was made;
    the name that a framework's hook gave; the line of the program that made it.

    Parameters
    ----------
    kind, name
        A given name and its :class:`NameKind`.
    nvtx
        Texts of the NVTX ranges open when the capture began, outermost first, joined with ``/``.
    frames
        The Python stack there, innermost first: file, line, function.

    Returns
    -------
    str or None
        None where nothing is known.

    Examples
    --------
    >>> base_name(0, "", "", [("/home/me/decode.py", 120, "Model.forward")])
    'decode.py:120 Model.forward'
    >>> base_name(0, "", "decode/attention", [])
    'decode/attention'
    """
    if kind == NameKind.EXPLICIT and name.strip():
        return name
    # A range of blanks names nothing that could be clicked.
    if nvtx.strip(" /"):
        return nvtx
    if kind == NameKind.FRAMEWORK and name.strip():
        return name
    return line_name(frames)


def line_name(frames: Iterable[Frame]) -> str | None:
    """Return file, line and function of the innermost frame of the user's own code.

    Where a program consists of installed packages only, it is the innermost frame that is of no
    GPU library; a stack that holds nothing else gives None, or "torch.compile".
    """
    files = [(str(f[0]), f) for f in frames]
    foreign = (_INSTALLED, _STANDARD_LIBRARY, _GENERATED)
    own = [f for file, f in files if not any(pattern.search(file) for pattern in foreign)]
    others = [f for file, f in files if _INSTALLED.search(file) and not _GPU_LIBRARIES.search(file)]
    if own or others:
        return _describe((own or others)[0])
    return "torch.compile" if any(_TORCH_COMPILE.search(file) for file, _ in files) else None


def _describe(frame: Frame) -> str:
    file, line, function = str(frame[0]), frame[1], str(frame[2])
    base = "cell" if _CELL.search(file) else re.split(r"[/\\]", file)[-1]
    function = _LOCALS.sub("", function)
    if function == "<module>":
        return f"{base}:{line}"
    return f"{base}:{line} {function.strip('<>')}"


def numbered(names: Sequence[str]) -> list[str]:
    """Return the names with `` (2)``, `` (3)`` after those that stood there before.

    Examples
    --------
    >>> numbered(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    taken = set(names)
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        shown = name
        while seen[name] > 1 and (shown := f"{name} ({seen[name]})") in taken:
            seen[name] += 1  # a graph that is called so itself
        found.append(shown)
    return found


def matches(name: str, pattern: str) -> bool:
    """Return whether a name matches a shell pattern, as fnmatch(3) says in the native library."""
    return fnmatchcase(name, pattern)

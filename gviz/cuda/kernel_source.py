"""Kernels in a source of CUDA C++: the parameters that they declare."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gviz.cuda.element_type import element_named

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(
    r"__global__\s+(?:__launch_bounds__\s*\([^()]*\)\s*)?void\s+"
    r"(?:__launch_bounds__\s*\([^()]*\)\s*)?(?P<name>\w+)\s*\("
)
#: Words of types that are no names of parameters, beside those of numbers.
_TYPES = frozenset(("char", "const", "volatile", "__restrict__"))
#: A parameter: ``const float* __restrict__ x`` or ``int sizes[4]``.
_PARAMETER = re.compile(
    r"(?P<type>.*[\s*&>])(?P<name>[A-Za-z_]\w*)\s*(?P<array>\[[^\]]*\])?", re.DOTALL
)


def declared_kernels(source: str) -> dict[str, list[tuple[str, str]]]:
    """Return names and types of the parameters of kernels, by their names in the source.

    A kernel is left out where one of its parameters has no name. Macros and aliases of types stand
    as they are written.

    Examples
    --------
    >>> declared_kernels("__global__ void scale(float* y, int n) {}")
    {'scale': [('y', 'float*'), ('n', 'int')]}
    """
    text = _COMMENT.sub(" ", source)
    found = {}
    for kernel in _KERNEL.finditer(text):
        parameters = [_name_and_type(one) for one in _parameters(text, kernel.end())]
        named = [one for one in parameters if one is not None]
        if len(named) == len(parameters):
            found[kernel["name"]] = named
    return found


def _name_and_type(parameter: str) -> tuple[str, str] | None:
    """Return the name and the type of a parameter; None: it has no name."""
    found = _PARAMETER.fullmatch(parameter)
    if found is None or found["name"] in _TYPES or element_named(found["name"]) is not None:
        return None
    kind = " ".join(found["type"].split())
    return found["name"], f"{kind}*" if found["array"] else kind


def _parameters(text: str, at: int) -> Iterator[str]:
    """Yield the parameters of a list from behind its bracket on; those within brackets are one."""
    depth, begin = 0, at
    for end in range(at, len(text)):
        letter = text[end]
        if depth == 0 and letter in ",)":
            if one := text[begin:end].strip():
                yield one
            begin = end + 1
            if letter == ")":
                return
        depth += (letter in "<([") - (letter in ">)]")

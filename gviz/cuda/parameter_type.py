"""The type of a kernel's parameter: whether it is a pointer, to what, and what its bytes mean."""

from __future__ import annotations

import re
from functools import lru_cache

from gviz.cuda.element_type import ElementType, element_named, number_of
from gviz.cuda.kernel_name import short_name
from gviz.dataclass import dataclass

_POINTER = re.compile(r"\s*(?P<mark>[*&])\s*(?:const\b)?\s*(?:__restrict(?:__)?)?\s*$")
_CONST = re.compile(r"^\s*const\b|\bconst\s*$")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict(?:__)?|__grid_constant__)\b")
_SPACES = re.compile(r"\s+")
#: Pointers in Triton's signatures: ``*fp16``, with a k where the kernel only reads.
_TRITON_POINTER = re.compile(r"\*(?P<const>k?)(?P<element>\w+)$")
#: A class's name is shown up to here.
_MOST_TEXT = 60


@dataclass(frozen=True, slots=True)
class ParameterType:
    """The type of a parameter, as a name, a source or a framework spells it.

    Attributes
    ----------
    text
        In short, without namespaces: ``const half*``, ``int``, ``Params``.
    is_pointer
        A pointer or a reference.
    is_const
        A pointer to what is const: the kernel only reads there.
    element
        What it points to, or what its value is; None: a class, or a pointer to classes.
    """

    text: str
    is_pointer: bool
    is_const: bool
    element: ElementType | None

    @property
    def size_bytes(self) -> int | None:
        """Return the size of a value; None: that of a class is not known."""
        if self.is_pointer:
            return 8
        return None if self.element is None else self.element.size_bytes

    def value_text(self, value: bytes) -> str | None:
        """Return a value as text; None: its bytes have no meaning that the type tells."""
        if self.is_pointer:
            address = int.from_bytes(value, "little")
            return f"{address:#x}" if address else "nullptr"
        number = None if self.element is None else number_of(self.element, value)
        if isinstance(number, bool):
            return "true" if number else "false"
        if isinstance(number, float):
            return f"{number:.6g}"
        return None if number is None else str(number)


@lru_cache(maxsize=1 << 14)
def parse_type(text: str) -> ParameterType:
    """Return the type that a text names.

    Parameters
    ----------
    text
        Of C++ (``c10::Half const*``, ``const float* __restrict__``) or Triton (``*fp16``, ``i32``).

    Examples
    --------
    >>> parse_type("c10::Half const*").text
    'const half*'
    >>> parse_type("*ki64").text
    'const long*'
    """
    triton = _TRITON_POINTER.match(text)
    if triton is not None:
        return _pointer(triton["element"], "*", bool(triton["const"]))
    end = _POINTER.search(text)
    if end is None:
        bare = _bare(text)
        element = element_named(bare)
        shown = _class_text(bare) if element is None else element.text
        return ParameterType(shown, False, False, element)
    to = text[: end.start()]
    return _pointer(to, end["mark"], bool(_CONST.search(to)))


def _pointer(to: str, mark: str, is_const: bool) -> ParameterType:
    bare = _bare(to)
    element = element_named(bare)
    shown = _class_text(bare) if element is None else element.text
    return ParameterType(f"{'const ' if is_const else ''}{shown}{mark}", True, is_const, element)


def _bare(text: str) -> str:
    """Return a type without what is const, and with single spaces."""
    return _SPACES.sub(" ", _QUALIFIERS.sub(" ", text)).strip()


def _class_text(bare: str) -> str:
    pointers = len(bare) - len(bare.rstrip("*& "))
    name = bare[: len(bare) - pointers]
    short = (short_name(name) if "::" in name or "<" in name else name) or name
    if len(short) > _MOST_TEXT:
        short = f"{short[: _MOST_TEXT - 1]}…"
    return short + bare[len(bare) - pointers :].replace(" ", "")

"""Structures of C, declared once as named tuples: for Python, for numpy and for the C header.

::

    class WindowRecord(NamedTuple):
        time_ns: U64
        open: U32
        reason: U32

    WINDOW = Layout(WindowRecord)
    WINDOW.unpack(payload).time_ns
    np.frombuffer(payload, WINDOW.dtype)["time_ns"]

The collectors import this module in the watched process: numpy is loaded by :attr:`Layout.dtype`
only.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, get_type_hints

from gviz.dataclass import dataclass

if TYPE_CHECKING:
    import mmap

    import numpy as np

_T = TypeVar("_T", bound=tuple[Any, ...])


@dataclass(frozen=True, slots=True)
class Stored:
    """A field of fixed size: its code in module struct, its type in C, and how many of it."""

    code: str
    c_type: str
    count: int = 1

    @property
    def width(self) -> int:
        """Return the bytes of one; its alignment too."""
        return struct.calcsize(f"<{self.code}")


@dataclass(frozen=True, slots=True)
class Tail:
    """The bytes that follow the structure, up to the record's end; ``is_text``: UTF-8, decoded."""

    is_text: bool = False


U8 = Annotated[int, Stored("B", "uint8_t")]
U16 = Annotated[int, Stored("H", "uint16_t")]
U32 = Annotated[int, Stored("I", "uint32_t")]
I32 = Annotated[int, Stored("i", "int32_t")]
U64 = Annotated[int, Stored("Q", "uint64_t")]
I64 = Annotated[int, Stored("q", "int64_t")]
F64 = Annotated[float, Stored("d", "double")]
#: Written by one thread while others read it.
AtomicU64 = Annotated[int, Stored("Q", "_Atomic uint64_t")]
U32x3 = Annotated[tuple[int, int, int], Stored("I", "uint32_t", 3)]
U64x2 = Annotated[tuple[int, int], Stored("Q", "uint64_t", 2)]
#: Bytes, filled up with zeros.
Char8 = Annotated[bytes, Stored("c", "char", 8)]
Char32 = Annotated[bytes, Stored("c", "char", 32)]
#: Text to the record's end.
Text = Annotated[str, Tail(is_text=True)]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a structure and its place in it, in bytes."""

    name: str
    stored: Stored
    offset: int

    @property
    def end(self) -> int:
        """Return the offset at which the field ends."""
        return self.offset + self.stored.width * self.stored.count

    @property
    def code(self) -> str:
        """The field in a format of module struct; it gives one value of each."""
        letter = "s" if self.stored.code == "c" else self.stored.code
        return f"{self.stored.count}{letter}" if self.stored.count > 1 else letter


class Layout(Generic[_T]):
    """A named tuple as the C structure that it mirrors: fields at their natural alignment.

    Parameters
    ----------
    record
        A NamedTuple class whose fields are annotated with the types of this module.
    """

    def __init__(self, record: type[_T]) -> None:
        self.record = record
        self._make: Callable[..., _T] = record

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields of fixed size, in order."""
        return tuple(self._place())

    def _place(self) -> Iterator[Field]:
        at = 0
        for name, hint in get_type_hints(self.record, include_extras=True).items():
            stored = hint.__metadata__[0]
            if isinstance(stored, Stored):
                at = _aligned(at, stored.width)
                yield Field(name, stored, at)
                at += stored.width * stored.count

    @cached_property
    def tail(self) -> tuple[str, Tail] | None:
        """The field that takes what follows the structure, if there is one."""
        *_, (name, hint) = get_type_hints(self.record, include_extras=True).items()
        tail = hint.__metadata__[0]
        return (name, tail) if isinstance(tail, Tail) else None

    @cached_property
    def size(self) -> int:
        """Bytes of the structure, as ``sizeof`` gives them."""
        return _aligned(self.fields[-1].end, max(field.stored.width for field in self.fields))

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """The structure for numpy: fields by name, at the offsets of C."""
        import numpy as np

        formats: list[Any] = []
        for field in self.fields:
            stored = field.stored
            code = f"S{stored.count}" if stored.code == "c" else f"<{stored.code}"
            formats.append(
                code if stored.code == "c" or stored.count == 1 else (code, stored.count)
            )
        return np.dtype(
            {
                "names": [field.name for field in self.fields],
                "formats": formats,
                "offsets": [field.offset for field in self.fields],
                "itemsize": self.size,
            }
        )

    @cached_property
    def _struct(self) -> struct.Struct:
        code, at = "<", 0
        for field in self.fields:
            code += "x" * (field.offset - at) + field.code
            at = field.end
        return struct.Struct(code + "x" * (self.size - at))

    @cached_property
    def _parts(self) -> tuple[tuple[int, int, bool], ...]:
        """Neighbouring values that are fields, and those that are the elements of one array."""
        found: list[tuple[int, int, bool]] = []
        at = 0
        for field in self.fields:
            is_array = field.stored.count > 1 and field.stored.code != "c"
            count = field.stored.count if is_array else 1
            if is_array or not found or found[-1][2]:
                found.append((at, at + count, is_array))
            else:
                found[-1] = (found[-1][0], at + count, False)
            at += count
        return tuple(found)

    def unpack_from(self, buffer: bytes | mmap.mmap, offset: int = 0) -> _T:
        """Return the structure that stands at an offset; its tail is left at its default.

        Raises
        ------
        struct.error
            If the buffer ends before it.
        """
        values = self._struct.unpack_from(buffer, offset)
        return self._make(*(values if len(self._parts) == 1 else self._grouped(values)))

    def unpack(self, payload: bytes) -> _T:
        """Return a record's payload; a tail that is no text is left at its default.

        Raises
        ------
        struct.error
            If the payload is shorter, or longer and nothing may follow the structure.
        """
        tail = self.tail
        unpack = self._struct.unpack if tail is None else self._struct.unpack_from
        values = unpack(payload)
        fields = values if len(self._parts) == 1 else self._grouped(values)
        if tail is None or not tail[1].is_text:
            return self._make(*fields)
        return self._make(*fields, payload[self.size :].decode("utf-8", "replace"))

    def _grouped(self, values: tuple[Any, ...]) -> list[Any]:
        found: list[Any] = []
        for first, last, is_array in self._parts:
            if is_array:
                found.append(values[first:last])
            else:
                found += values[first:last]
        return found

    def pack(self, *values: Any, **named: Any) -> bytes:
        """Return a record of these fields as its payload, with a tail of text or bytes."""
        record = self._make(*values, **named)
        flat: list[Any] = []
        for value in record[: len(self.fields)]:
            flat += value if isinstance(value, tuple) else (value,)
        packed = self._struct.pack(*flat)
        if self.tail is None:
            return packed
        tail = record[-1]
        return packed + (tail.encode() if isinstance(tail, str) else bytes(tail))


def _aligned(at: int, width: int) -> int:
    return -(-at // width) * width

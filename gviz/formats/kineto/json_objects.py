"""The objects of a JSON array of any length, a piece at a time.

A trace may be gigabytes: no parser sees more of it than a piece. Where objects end is guessed, and
the parser finds whether the guess was right; where it was not, and where the array ends, numpy
finds it from quotes and brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from gviz.errors import ImportingError
from gviz.stats import BoolArray

#: Bytes read at a time.
PIECE_BYTES = 1 << 18
#: The longest object, and the most text around the array, that is taken in.
MOST_OBJECT_BYTES = 8 << 20

_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_OPENING, _CLOSING = (ord("{"), ord("[")), (ord("}"), ord("]"))
_SPACE = b" \t\r\n"
_BETWEEN = b"," + _SPACE
#: Braces that are looked at for a place between two objects, and bytes before each.
_GUESSES, _GUESSED_BYTES = 16, 64
Parsed = TypeVar("Parsed")


class Readable(Protocol):
    """A source of bytes."""

    def read(self, count: int, /) -> bytes:
        """Return the next bytes, at most ``count``; none at the end."""


class Parser(Protocol[Parsed]):
    """A parser that makes objects of their text."""

    def many(self, text: bytes, /) -> list[Parsed] | None:
        """Return the objects of an array's text; None: it is malformed, or needs care."""

    def one(self, text: bytes, offset: int, /) -> Parsed:
        """Return one object, which the file has at ``offset``, of what :meth:`many` refused.

        Raises
        ------
        ImportingError
            If it is malformed.
        """


class ObjectReader(Generic[Parsed]):
    """Reads a JSON text whose top level is an array, or an object that has one under ``key``.

    Parameters
    ----------
    file
        Where the bytes come from.
    shown
        What the file is called in errors.
    key
        Name of the array in the outermost object.
    parser
        What makes objects of their text.

    Attributes
    ----------
    outside
        JSON text of everything else, the array left empty; whole after :meth:`read`.
    """

    def __init__(self, file: Readable, shown: str, key: str, parser: Parser[Parsed]) -> None:
        self.outside = b""
        self._file = file
        self._parser = parser
        self._shown = shown
        self._key = re.compile(rb'"%s"\s*:\s*\[' % re.escape(key.encode()))
        self._name = key
        self._offset = 0  # of the first byte not yet handed out
        self._text = b""
        self._ended = False

    def read(self) -> Iterator[list[Parsed]]:
        """Yield the array's objects, as many at a time as a piece of the file holds.

        Raises
        ------
        ImportingError
            If the text ends early, has no such array, or an object is too long or malformed.
        """
        is_bare = self._find_array()
        closed, more = False, True
        while more and not closed:
            end, found = self._guess()
            guessed = found is not None
            if found is None:
                end, ends, closed = self._whole_objects()
                found = self._parse(ends)
            if found:
                yield found
            self._skip(end)
            if not closed:
                # What a guess leaves has not been looked at.
                more = self._more(f"an event of {self._shown}") or guessed
        if not closed and not (is_bare and not self._text.strip(_BETWEEN)):
            raise self._truncated()
        self._read_rest(is_bare)

    # -- the array --------------------------------------------------------------------------

    def _find_array(self) -> bool:
        """Go behind the array's opening bracket; return whether it is the outermost value."""
        while True:
            grew = self._more(f"what stands before {self._name} in {self._shown}")
            stripped = self._text.lstrip(_SPACE)
            if stripped.startswith(b"["):
                self._skip(len(self._text) - len(stripped) + 1)
                self.outside = b"["
                return True
            if stripped and not stripped.startswith(b"{"):
                raise ImportingError(
                    f"{self._shown} is no JSON object or array: it begins with "
                    f"{stripped[:20].decode('utf-8', 'replace')!r}; give a trace that a "
                    "profiler exported"
                )
            if stripped:
                depth = _depths(self._text)
                for found in self._key.finditer(self._text):
                    if depth[found.start()] == 1:
                        self.outside = self._text[: found.end()]
                        self._skip(found.end())
                        return False
            if not grew:
                raise self._no_array(stripped)

    def _no_array(self, stripped: bytes) -> ImportingError:
        if not stripped:
            return ImportingError(f"{self._shown} is empty; export the trace again")
        if int(_depths(self._text + b" ")[-1]) > 0:
            return self._truncated()
        return ImportingError(
            f"{self._shown} has no {self._name}: it is JSON, but no Chrome trace; give what "
            "torch.profiler's export_chrome_trace wrote"
        )

    def _guess(self) -> tuple[int, list[Parsed] | None]:
        """Return how far the text is used up by whole objects, and these; None: not guessed.

        A wrong guess is noticed: no text up to a place inside an object, a string or behind the
        array is that of an array if a bracket is put around it.
        """
        text, at = self._text, len(self._text)
        for _ in range(_GUESSES):
            at = text.rfind(b"{", 0, at)
            if at < 0:
                break
            begin = max(0, at - _GUESSED_BYTES)
            before = text[begin:at].rstrip(_SPACE)
            between = before[:-1].rstrip(_SPACE)
            if before.endswith(b",") and between.endswith(b"}"):
                end = begin + len(between)
                return end, self._parse_all(end)
        return 0, None

    def _parse_all(self, end: int) -> list[Parsed] | None:
        return self._parser.many(b"[" + self._text[:end].lstrip(_BETWEEN) + b"]")

    def _parse(self, ends: npt.NDArray[np.intp]) -> list[Parsed]:
        """Return the objects that end there in the text."""
        if not len(ends):
            return []
        found = self._parse_all(int(ends[-1]))
        if found is not None:
            return found
        found, start = [], 0
        for end in ends.tolist():
            one = self._text[start:end].lstrip(_BETWEEN)
            found.append(self._parser.one(one, self._offset + end - len(one)))
            start = end
        return found

    def _whole_objects(self) -> tuple[int, npt.NDArray[np.intp], bool]:
        """Return how far the text is used up, where objects end in it, and if the array does."""
        depth = _depths(self._text)
        closing = np.flatnonzero(depth < 0)[:1]
        closed = len(closing) > 0
        end = int(closing[0]) if closed else len(self._text)
        codes = np.frombuffer(self._text, np.uint8)[:end]
        # Depth counts a bracket from its own place on: an object ends where it is 0 again.
        ends = np.flatnonzero((codes == _CLOSING[0]) & (depth[:end] == 0) & _outside(depth[:end]))
        ends = ends + 1
        if closed:
            return end + 1, ends, True
        return (int(ends[-1]) if len(ends) else 0), ends, False

    # -- the file ---------------------------------------------------------------------------

    def _more(self, what: str) -> bool:
        """Append the next piece; return whether there was one."""
        if len(self._text) > MOST_OBJECT_BYTES:
            raise ImportingError(
                f"{what} (from byte {self._offset:,} on) is longer than the "
                f"{MOST_OBJECT_BYTES >> 20} MiB that gviz takes in at a time; traces of PyTorch's "
                "profiler are many short events"
            )
        piece = b"" if self._ended else self._file.read(PIECE_BYTES)
        self._ended = not piece
        self._text += piece
        return bool(piece)

    def _skip(self, count: int) -> None:
        self._offset += count
        self._text = self._text[count:]

    def _read_rest(self, is_bare: bool) -> None:
        rest = self._text
        self._text = b""
        while self._more(f"what stands behind {self._name} in {self._shown}"):
            pass
        self.outside += b"]" if is_bare else b"]" + rest + self._text

    def _truncated(self) -> ImportingError:
        where = self._offset + len(self._text)
        return ImportingError(
            f"{self._shown} ends after {where:,} bytes, in the middle of its JSON: it was cut "
            "off; copy it again, or let the profiler finish writing"
        )


#: Marks places inside strings in the array of depths.
_IN_STRING = np.int32(1 << 30)


def _outside(depth: npt.NDArray[np.int32]) -> BoolArray:
    return depth < _IN_STRING


def _depths(text: bytes) -> npt.NDArray[np.int32]:
    """Return how many brackets are open at each byte, itself counted; large inside strings.

    A key's opening quote counts as outside of the string: it has the depth of its object.
    """
    codes = np.frombuffer(text, np.uint8)
    quotes = codes == _QUOTE
    if _BACKSLASH in text:
        quotes &= ~_escaped(codes)
    # Odd from an opening quote on, even again from the closing one on.
    inside = (
        np.bitwise_xor.accumulate(quotes.view(np.uint8)).view(np.bool_) if len(codes) else quotes
    )
    change = np.zeros(len(codes), np.int8)
    for code in _OPENING:
        change[codes == code] = 1
    for code in _CLOSING:
        change[codes == code] = -1
    change[inside] = 0
    depth = np.cumsum(change, dtype=np.int32)
    depth[inside & ~quotes] = _IN_STRING
    return depth


def _escaped(codes: npt.NDArray[np.uint8]) -> BoolArray:
    """Return which bytes stand behind an odd number of backslashes."""
    slash = codes == _BACKSLASH
    places = np.arange(len(codes), dtype=np.int32)
    # The last place, up to and with each, that is no backslash.
    before = np.maximum.accumulate(np.where(slash, np.int32(-1), places))
    odd = slash & ((places - before) % 2 == 1)
    escaped = np.zeros(len(codes), np.bool_)
    escaped[1:] = odd[:-1]
    return escaped

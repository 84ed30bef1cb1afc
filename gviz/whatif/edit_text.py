"""Edits as they are typed: the values of the options of ``gviz what-if``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from gviz.errors import UsageError
from gviz.text import likely_meant
from gviz.whatif.edits import Edit, EditKind

_UNITS_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6}
#: A colon that is no part of C++'s "::".
_COLON = re.compile(r"(?<!:):(?!:)")
_NUMBERS = re.compile(r"#?(\d+)-#?(\d+)")
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms)")


def parse_edits(options: Mapping[str, str | Sequence[str]]) -> Iterator[Edit]:
    """Yield the edits of options by name, each with one value or several.

    Raises
    ------
    UsageError
        If there is no such edit, or a value is none of it.
    """
    for name, values in options.items():
        if name not in set(EditKind):
            known = ", ".join(EditKind)
            raise UsageError(
                f"there is no edit {name!r}{likely_meant(name, EditKind)}; there are {known}"
            )
        for text in [values] if isinstance(values, str) else values:
            yield parse_edit(EditKind(name), text)


def parse_edit(kind: EditKind, text: str) -> Edit:
    """Return the edit that an option and its value ask for.

    Parameters
    ----------
    kind
        The option.
    text
        Its value: ``PATTERN`` of off, ``PATTERN=0.5`` of scale, ``A:B`` of cut, ``A-B`` of fuse,
        ``priority`` of order, ``PATTERN=2us`` of delay.

    Raises
    ------
    UsageError
        If it is none of that kind; with an example.
    """
    match kind:
        case EditKind.OFF:
            return Edit(kind, _named(text, "--off attention"))
        case EditKind.SCALE:
            nodes, value = _split_last(text, "=", "--scale attention=0.5")
            return Edit(kind, nodes, factor=_factor(value))
        case EditKind.DELAY:
            nodes, value = _split_last(text, "=", "--delay attention=2us")
            return Edit(kind, nodes, delay_ns=_time_ns(value))
        case EditKind.CUT:
            parts = _COLON.split(text)
            first, second = _two(parts, text, "--cut memset:attention, or --cut 12:15 (nodes)")
            return Edit(kind, first, second)
        case EditKind.FUSE:
            numbers = _NUMBERS.fullmatch(text)
            parts = list(numbers.groups()) if numbers else text.split("-")
            first, second = _two(parts, text, "--fuse norm-GEMM, or --fuse 12-15 (nodes)")
            return Edit(kind, first, second)
        case EditKind.ORDER:
            if text != "priority":
                raise UsageError(f"{text!r} is no order; there is one: --order priority")
            return Edit(kind, text)


def _named(text: str, example: str) -> str:
    found = text.strip()
    if not found:
        raise UsageError(f"{text!r} names no nodes; for example {example}")
    return found


def _split_last(text: str, sign: str, example: str) -> tuple[str, str]:
    nodes, found, value = text.rpartition(sign)
    if not found:
        raise UsageError(f"{text!r} has no {sign!r}; for example {example}")
    return _named(nodes, example), value.strip()


def _two(parts: list[str], text: str, example: str) -> tuple[str, str]:
    if len(parts) != 2:
        raise UsageError(f"{text!r} does not name two ends; for example {example}")
    return _named(parts[0], example), _named(parts[1], example)


def _factor(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise UsageError(f"{text!r} is no factor of a duration: give a number from 0 on, as 0.5")
    return found


def _time_ns(text: str) -> float:
    found = _TIME.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} is no time: give a number with ns, us or ms, as 2us")
    return float(found[1]) * _UNITS_NS[found[2]]

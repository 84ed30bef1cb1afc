"""The C header of the spool's records, written from gviz/spool/records/table.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from gviz.spool.records import format as f
from gviz.spool.records.structure import Field, Layout
from gviz.spool.records.table import ENUMS, LAYOUTS, PARTS, TEXTS

HEADER = "collectors/csrc/records/records.h"
#: Numbers of gviz.spool.records.format that the library writes, and their C spelling.
CONSTANTS = (
    "VERSION", "WALK_FAILED", "WHOLE_GRAPH", "UNKNOWN_NODE", "NO_NODE",
    "CAPTURE_STREAM_DESTROYED", "CAPTURE_LEGACY_STREAM", "CAPTURE_KEPT_GOING",
    "LAUNCH_NODE_LEVEL", "LAUNCH_EVENTS", "LAUNCH_CAPTURED", "LAUNCH_LATE", "LAUNCH_COPY",
    "ORIGIN_CAPTURE", "ORIGIN_INSTANTIATE", "ORIGIN_UNWANTED", "OWN_IDS",
    "OWN_CORRELATIONS", "OUTSIDE_GRAPHS",
)  # fmt: skip

_HEAD = """\
/* The records of a spool: structures, and numbers that stand in them.
 *
 * Generated from gviz/spool/records by 'make docs'.
 */
#ifndef GVIZ_RECORDS_H
#define GVIZ_RECORDS_H

#include "core/core.h"
"""


def render_header() -> str:
    """Return the text of the header."""
    structures = {layout.record: layout for layout in (*PARTS, *LAYOUTS.values())}
    parts = [_HEAD, _render_constants(), _render_types()]
    parts += ["\n".join(_render_enum(meaning)) + "\n" for meaning in ENUMS]
    parts += ["\n".join(_render_structure(layout)) + "\n" for layout in structures.values()]
    return "\n".join([*parts, "#endif\n"])


def structure_name(layout: Layout[Any]) -> str:
    """Return the name of a structure in C: ``launch_record`` of LaunchRecord."""
    return _c_name(layout.record)


def _c_name(declared: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", declared.__name__).lower()


def _render_constants() -> str:
    lines = []
    for name in CONSTANTS:
        number = getattr(f, name)
        suffix = "u" if 1 << 31 <= number < 1 << 32 else "ull" if number >= 1 << 32 else ""
        text = f"{number:#x}{suffix}" if suffix else str(number)
        lines.append(f"#define {'SPOOL_VERSION' if name == 'VERSION' else name} {text}")
    return "\n".join(lines) + "\n"


def _render_types() -> str:
    lines = ["enum record_type {"]
    for kind in f.RecordType:
        meaning = TEXTS.get(kind) or _summary(LAYOUTS[kind])
        lines.append(f"    RECORD_{kind.name} = {kind.value}, /* {meaning} */")
    return "\n".join([*lines, "};\n"])


def _render_enum(meaning: type[IntEnum]) -> Iterator[str]:
    """Yield the lines of ``enum period_reason`` with ``PERIOD_CALL`` for PeriodReason.CALL."""
    name = _c_name(meaning)
    yield f"/* {(meaning.__doc__ or '').rstrip('.')} */"
    yield f"enum {name} {{"
    for member in meaning:
        yield f"    {name.partition('_')[0].upper()}_{member.name} = {member.value},"
    yield "};"


def _render_structure(layout: Layout[Any]) -> Iterator[str]:
    meanings = dict(_meanings(layout))
    yield f"/* {_summary(layout)} */"
    yield f"struct {structure_name(layout)} {{"
    at = 0
    for field in layout.fields:
        yield from _render_gap(field.offset - at)
        yield _render_field(field, meanings.get(field.name))
        at = field.end
    yield from _render_gap(layout.size - at)
    if layout.tail is not None:
        name = layout.tail[0]
        meaning = meanings.get(name, "")
        yield f"    /* then: {name}{': ' + meaning if meaning else ''} */"
    yield "};"
    yield f'_Static_assert(sizeof(struct {structure_name(layout)}) == {layout.size}, "its size");'


def _render_field(field: Field, meaning: str | None) -> str:
    many = f"[{field.stored.count}]" if field.stored.count > 1 else ""
    comment = f" /* {meaning} */" if meaning else ""
    return f"    {field.stored.c_type} {field.name}{many};{comment}"


def _render_gap(size: int) -> Iterator[str]:
    # Named, so that an initializer sets it to zero: what the stack held stays out of the file.
    if size:
        yield "    uint32_t padding;" if size == 4 else f"    uint8_t padding[{size}];"


def _summary(layout: Layout[Any]) -> str:
    return (layout.record.__doc__ or "").partition("\n\n")[0].replace("``", "").rstrip(".")


def _meanings(layout: Layout[Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the meaning of each field that has one in the docstring."""
    _, _, text = (layout.record.__doc__ or "").partition("----------\n")
    for match in re.finditer(r"^    (\w+)\n((?:        .*\n?)+)", text, re.MULTILINE):
        yield match[1], " ".join(match[2].split())

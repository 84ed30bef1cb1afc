"""A check of an overlay in JSON: a list of objects, or one object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from gviz.overlay.fault import EMPTY, OverlayFault, check_count, fault_at, has_key, no_key

_WANTED = 'wanted a list of objects such as [{"node": 3, "energy": 0.2}], or one object a line'
_BETWEEN = re.compile(r"[\s,\[\]]*")


def check_json(text: str) -> None:
    """Check a text: OverlayFault says which line is wrong."""
    names: dict[str, None] = {}
    count = 0
    for line, found in _objects(text):
        known = len(names)
        names |= dict.fromkeys(found)
        if len(names) > known and not has_key(list(names)):
            raise no_key(line, list(found))
        for name, value in found.items():
            if isinstance(value, (list, dict)):
                raise fault_at(line, f'"{name}" is a list or an object; wanted a number or a text')
        count += 1
        check_count(count)
    if not count:
        raise OverlayFault(EMPTY)


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a text, each with the line it begins in."""
    decoder = json.JSONDecoder()
    line, counted, at = 1, 0, 0
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        line += text.count("\n", counted, at)
        counted = at
        if at == len(text):
            return
        if text[at] != "{":
            raise fault_at(line, _WANTED)
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            # Deeper than Python goes, or a number of 5,000 digits.
            if not isinstance(error, json.JSONDecodeError):
                raise fault_at(line, f"no JSON that can be read: {error}") from error
            if error.pos >= len(text.rstrip()):
                raise fault_at(line, "the object that begins here is never closed") from error
            raise fault_at(line, f"no JSON: {error.msg}") from error
        yield line, found

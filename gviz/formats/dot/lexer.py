"""DOT text to statements, as far as the CUDA driver's dialect goes.

One regular expression match a statement, because a dump of a large graph has tens of
megabytes. Repeated attributes, missing spaces between attributes and newlines inside
quoted strings are part of the dialect; ports, edge chains and HTML labels are not.

References
----------
The DOT language, graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gviz.errors import DotError
from gviz.system import ShareRead

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_ID = rf"(?:{_STRING}|-?[\w.]++)"
_INSIDE = rf'(?:[^\]"]++|{_STRING})*+'
_STATEMENT = re.compile(
    rf"""
      (?P<skip>  (?: [\s;]++ | //[^\n]*+ | /\*.*?\*/ | \#[^\n]*+ )++ )
    | (?P<open>  (?: (?:strict\s+)? (?P<digraph>digraph|graph) | subgraph ) \b
                 \s*+ (?P<opened>{_ID})?+ \s*+ \{{ )
    | (?P<close> \}} )
    | (?P<key>   {_ID}) \s*+ = \s*+ (?P<value>{_ID})
    | (?!(?:subgraph|digraph)\b)
      (?P<first> {_ID}) \s*+ (?: -> \s*+ (?P<second>{_ID}) \s*+ )?+
                 (?: \[ (?P<attributes>{_INSIDE}) \] )?+ (?! \s*+ [\[=-] )
    """,
    re.VERBOSE | re.DOTALL,
)
_UNFINISHED = re.compile(
    rf"""
    (?: subgraph \s*+ )?+
    (?: {_ID} \s*+ (?: (?:=|->|-) \s*+ (?:{_ID})?+ \s*+ )?+ (?: \[ {_INSIDE} )?+ )?+
    (?: "[^"]*+ )?+ \s*+ \Z
    """,
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"({_ID})\s*+(?:=\s*+({_ID}))?+|[\s,;]++", re.DOTALL)
_SHOWN_LENGTH = 40
#: Characters between two reports of progress.
_REPORTED_EVERY = 1 << 18

Attributes = dict[str, str]


def to_nobody(share: float) -> None:
    """Take no notice of progress."""


class Statement(NamedTuple):
    """One statement of DOT text.

    Attributes
    ----------
    kind
        ``open`` (``first``: name of the graph), ``close``, ``assign`` (``first`` = ``second``),
        ``node`` (``first``), ``edge`` (``first`` -> ``second``).
    first, second
        Names without quotes, backslash escapes kept.
    attributes
        Text between the brackets; :func:`parse_attributes` reads it.
    offset
        Where the statement begins in the text.
    """

    kind: str
    first: str
    second: str
    attributes: str
    offset: int


def lex_statements(text: str, progress: ShareRead = to_nobody) -> Iterator[Statement]:
    """Yield the statements of DOT text; braces are checked to pair up.

    Raises
    ------
    DotError
        With the line, if the text is cut short or is not DOT.
    """
    depth, position, reported = 0, 0, 0
    match_at = _STATEMENT.match
    while position < len(text):
        found = match_at(text, position)
        if found is None:
            raise _failure(text, position)
        kind = found.lastgroup
        if kind != "skip":
            statement = _statement(found, position)
            is_bare = statement.kind == "node" and not statement.attributes
            if is_bare and depth and found.end() == len(text):
                raise _cut_short(text)
            depth += {"open": 1, "close": -1}.get(statement.kind, 0)
            if depth < 0:
                raise DotError(
                    f"line {line_of(text, position)}: this brace closes nothing; the dump is "
                    "damaged, write it again with cudaGraphDebugDotPrint"
                )
            if depth == 0 and statement.kind not in ("open", "close"):
                raise _not_dot(text, position)
            yield statement
        position = found.end()
        if position - reported > _REPORTED_EVERY:
            reported = position
            progress(position / len(text))
    if depth:
        raise _cut_short(text)


def parse_attributes(text: str) -> Attributes:
    """Return the attributes between two brackets; of a repeated one the last counts."""
    found: Attributes = {}
    for match in _ATTRIBUTE.finditer(text):
        name, value = match.groups()
        if name is not None:
            found[_bare(name)] = _bare(value or "")
    return found


def line_of(text: str, offset: int) -> int:
    """Return the line number, from 1, of a place in a text."""
    return text.count("\n", 0, offset) + 1


def _statement(found: re.Match[str], offset: int) -> Statement:
    group = found.group
    if group("first") is not None:
        second, attributes = group("second"), group("attributes") or ""
        kind = "node" if second is None else "edge"
        return Statement(kind, _bare(group("first")), _bare(second or ""), attributes, offset)
    if group("open"):
        return Statement("open", _bare(group("opened") or ""), group("digraph") or "", "", offset)
    if group("close"):
        return Statement("close", "", "", "", offset)
    return Statement("assign", _bare(group("key")), _bare(group("value")), "", offset)


def _bare(name: str) -> str:
    return name[1:-1] if name.startswith('"') else name


def _failure(text: str, offset: int) -> DotError:
    if _UNFINISHED.match(text, offset):
        return _cut_short(text)
    return _not_dot(text, offset)


def _not_dot(text: str, offset: int) -> DotError:
    shown = text[offset : offset + _SHOWN_LENGTH].split("\n")[0]
    return DotError(
        f"line {line_of(text, offset)}: cannot read {shown!r}; this is not DOT as CUDA prints "
        "it, give a file that cudaGraphDebugDotPrint wrote"
    )


def _cut_short(text: str) -> DotError:
    return DotError(
        f"line {line_of(text, len(text))}: the text ends inside a graph; the dump was cut short, "
        "write or copy it again"
    )

"""Values of many events as arrays: most are plain numbers, which numpy takes as they are.

A value that is none of these, such as a number that is written as a text, is looked at by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import chain
from types import NoneType
from typing import Any

import numpy as np

from gviz.formats.traces import (
    MOST_DIMENSION,
    MOST_ID,
    MOST_NS,
    NODE_BITS,
    NODE_MASK,
    decimal,
    graph_node,
    integer,
    known,
)
from gviz.recording import LATEST_NS
from gviz.stats import UNKNOWN, BoolArray, IntArray

_SPACE, _POINT, _ZERO, _NINE = (ord(sign) for sign in " .09")
#: Digits before the point of the numbers that numpy reads: of more, nanoseconds need 64 bits.
_PLAIN_DIGITS = 15
#: Decimals of a microsecond that are whole nanoseconds.
_DECIMALS = 3
_NO_SHAPE = [UNKNOWN] * 3


def nanoseconds(texts: Sequence[bytes]) -> IntArray:
    """Return microseconds, given as JSON text, in whole nanoseconds; UNKNOWN: it is no time."""
    count = len(texts)
    joined = b" ".join(texts) + b" "
    codes = np.frombuffer(joined, np.uint8)
    ends = np.flatnonzero(codes == _SPACE)
    points = np.flatnonzero(codes == _POINT)
    digits = int(((codes >= _ZERO) & (codes <= _NINE)).sum())
    if len(ends) != count or digits + count + len(points) != len(codes):
        return _each(_nanoseconds, texts)
    whole = np.diff(ends, prepend=-1) - 1  # signs of each number
    decimals = np.zeros(count, np.int64)
    at = np.searchsorted(ends, points)
    decimals[at] = ends[at] - points
    plain = (whole - decimals <= _PLAIN_DIGITS) & (whole > decimals) & (decimals <= _DECIMALS + 1)
    if not plain.all() or (at[1:] == at[:-1]).any():
        return _each(_nanoseconds, texts)
    values = np.fromstring(joined.translate(None, b"."), np.int64, sep=" ")
    found: IntArray = values * 10 ** (_DECIMALS - np.maximum(decimals - 1, 0))
    return found


def _nanoseconds(text: bytes) -> int:
    if not len(text):
        return UNKNOWN
    # Python makes no int of more than 4,300 digits.
    value = decimal(json.loads(bytes(text), parse_float=Decimal, parse_int=Decimal))
    if value is None:
        return UNKNOWN
    return max(UNKNOWN, min(round(value * 1000), LATEST_NS))


def numbers(values: Sequence[Any], most: int = MOST_ID) -> IntArray:
    """Return ids or sizes up to ``most``; UNKNOWN for what cannot be one."""
    plain = _plain(values)
    if plain is None:
        return _each(lambda value: known(value, most), values)
    return np.where((plain >= 0) & (plain <= most), plain, UNKNOWN)


def threads(values: Sequence[Any]) -> tuple[IntArray, BoolArray]:
    """Return ids of threads, 0 where there is none, and where there is one."""
    plain = _plain(values) if set(map(type, values)) == {int} else None
    if plain is None:
        found = [integer(value) for value in values]
        plain = np.array([UNKNOWN if value is None else value for value in found], object)
        is_known = np.array([value is not None for value in found], bool)
    else:
        is_known = plain > -MOST_NS
    return (np.maximum(plain, 0) & NODE_MASK).astype(np.int64), is_known


def dimensions(values: Sequence[Any]) -> IntArray:
    """Return launch dimensions, shape (n, 3); UNKNOWN three times for what is none."""
    if None in values:
        values = [_NO_SHAPE if value is None else value for value in values]
    if set(map(type, values)) == {list} and set(map(len, values)) == {3}:
        plain = _plain(list(chain.from_iterable(values)))
        if plain is not None:
            found = plain.reshape(-1, 3)
            bad = ((found < 0) | (found > MOST_DIMENSION)).any(axis=1)
            found[bad] = UNKNOWN
            return found
    return np.array([_triple(value) for value in values], np.int64).reshape(-1, 3)


def _triple(value: Any) -> tuple[int, int, int]:
    if type(value) is list and len(value) == 3:
        x, y, z = (known(v, MOST_DIMENSION) for v in value)
        if UNKNOWN not in (x, y, z):
            return x, y, z
    return UNKNOWN, UNKNOWN, UNKNOWN


def graph_nodes(nodes: Sequence[Any], above: Sequence[Any]) -> tuple[IntArray, IntArray]:
    """Return executables and nodes, see :func:`graph_node`."""
    plain = _plain(nodes)
    if plain is None:
        found = [graph_node(*pair) for pair in zip(nodes, above, strict=True)]
        both = np.array(found, np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]
    inside = plain >= 0
    exec_id = np.where(inside, plain >> NODE_BITS, UNKNOWN)
    node_id = np.where(inside, plain & NODE_MASK, UNKNOWN)
    for i in np.flatnonzero(exec_id == 0).tolist():
        exec_id[i], node_id[i] = graph_node(nodes[i], above[i])
    return exec_id, node_id


def _plain(values: Sequence[Any]) -> IntArray | None:
    """Return whole numbers, UNKNOWN for None; None: there are others, or larger ones."""
    types = set(map(type, values))
    if types == {NoneType}:
        return np.full(len(values), UNKNOWN, np.int64)
    if types == {int, NoneType}:
        values = [UNKNOWN if value is None else value for value in values]
    elif types != {int} and types:
        return None
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return None


def _each(convert: Callable[[Any], int], values: Sequence[Any]) -> IntArray:
    return np.array([convert(value) for value in values], np.int64)

"""Agreement of two results of the same work: arrays and scalars, nested in any way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: Differences listed of one comparison.
_LIMIT = 8

Leaf = npt.NDArray[Any] | object
#: Gives a framework's array as numpy, or None for what is no array of it.
ToHost = Callable[[Any], npt.NDArray[Any] | None]


def flatten(value: Any, to_host: ToHost) -> list[tuple[str, Leaf]]:
    """Return the arrays (copied to the host) and scalars of a result, each with its place.

    Tuples, lists, mappings and dataclasses are walked in order; ``result[0]["loss"]`` is a place.
    """
    return list(_walk("result", value, to_host))


def _walk(place: str, value: Any, to_host: ToHost) -> Iterator[tuple[str, Leaf]]:
    array = to_host(value)
    if array is not None:
        yield place, array
    elif isinstance(value, np.ndarray):
        yield place, value.copy()
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _walk(f"{place}[{key!r}]", part, to_host)
    elif isinstance(value, (tuple, list)):
        for index, part in enumerate(value):
            yield from _walk(f"{place}[{index}]", part, to_host)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _walk(f"{place}.{field.name}", getattr(value, field.name), to_host)
    elif value is not None:
        yield place, value


def find_differences(
    first: list[tuple[str, Leaf]], second: list[tuple[str, Leaf]], *, rtol: float, atol: float
) -> list[str]:
    """Return a sentence for each place where two flattened results differ.

    Numbers a and b agree if ``abs(a - b) <= atol + rtol * abs(a)``; NaN agrees with NaN.
    """
    if [place for place, _ in first] != [place for place, _ in second]:
        return [f"{len(first)} results on one side, {len(second)} or other ones on the other"]
    found = [
        sentence
        for (place, a), (_, b) in zip(first, second, strict=True)
        if (sentence := _difference(place, a, b, rtol, atol)) is not None
    ]
    more = len(found) - _LIMIT
    return found if more <= 0 else [*found[:_LIMIT], f"and {more} more"]


def _difference(place: str, a: Leaf, b: Leaf, rtol: float, atol: float) -> str | None:
    if isinstance(a, (str, bytes)):
        return None if a == b else f"{place} is {a!r} by stream calls, {b!r} as a graph"
    if not isinstance(a, np.ndarray) and not isinstance(a, (bool, int, float, complex)):
        return None if type(a) is type(b) else f"{place} is {type(a).__name__}, {type(b).__name__}"
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape:
        return f"{place} has shape {x.shape} by stream calls, {y.shape} as a graph"
    if x.size == 0:
        return None
    if not np.issubdtype(x.dtype, np.number):
        different = x != y
        return f"{place} differs in {_count(different)} values" if different.any() else None
    with np.errstate(invalid="ignore", over="ignore"):
        different = ~np.isclose(y, x, rtol=rtol, atol=atol, equal_nan=True)
        if not different.any():
            return None
        gap = np.abs(x.astype(np.complex128) - y.astype(np.complex128))[different]
    largest = f"{np.nanmax(gap):.3g}" if np.isfinite(gap).any() else "not finite"
    return f"{place} differs in {_count(different)} values, by {largest} at most"


def _count(different: Any) -> str:
    return f"{int(np.count_nonzero(different)):,} of {np.size(different):,}"

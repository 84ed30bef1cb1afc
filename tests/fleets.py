"""Data sets of fleets for tests, built by gviz itself of synthetic ranks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeVar

import pytest

from gviz.fleet import Mapper
from gviz.fleet.extra import LIBRARIES

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_MISSING = [library for library in LIBRARIES if find_spec(library) is None]

#: Tests that need the extra; CI requires it.
needs_fleet = pytest.mark.skipif(
    bool(_MISSING) and not os.environ.get("GVIZ_REQUIRE_FLEET"),
    reason=f"the extra fleet is not installed: {', '.join(_MISSING)}",
)


@contextmanager
def mapper_here() -> Iterator[Mapper]:
    """Map recordings in this process, in order."""
    yield _map


def _map(
    function: Callable[[_Item], _Result], items: Iterable[_Item]
) -> Iterator[tuple[_Item, _Result | None]]:
    for item in items:
        yield item, function(item)

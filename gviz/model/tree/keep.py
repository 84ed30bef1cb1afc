"""Remembering what was read and computed of a recording, for the next request."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol, TypeVar

_T = TypeVar("_T")


class Keep(Protocol):
    """Returns the value of a key, built by ``build`` or remembered from before."""

    def __call__(self, key: tuple[object, ...], build: Callable[[], _T]) -> _T:
        """Return the value of ``key``."""


def build_anew(key: tuple[object, ...], build: Callable[[], _T]) -> _T:
    """Return what ``build`` returns: remembers nothing."""
    return build()


def keeper(kinds: Collection[str] | None = None) -> Keep:
    """Return what remembers for as long as it is itself kept.

    Parameters
    ----------
    kinds
        What is remembered, by the first part of keys; None: everything.
    """
    known: dict[tuple[object, ...], Any] = {}

    def keep(key: tuple[object, ...], build: Callable[[], _T]) -> _T:
        if kinds is not None and key[0] not in kinds:
            return build()
        if key not in known:
            known[key] = build()
        found: _T = known[key]
        return found

    return keep

"""Cures of faults: their texts, and the tests that notice when they are gone (cures.json)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True)
class Cure:
    """Text that keeps a fault away.

    Attributes
    ----------
    fault
        What happens without it.
    test
        The test that fails then.
    file
        Where it stands.
    text
        The cure, which stands there once.
    without
        What stands there without it.
    """

    fault: str
    test: str
    file: str
    text: str
    without: str


def read_cures() -> list[Cure]:
    """Return all cures."""
    parts = json.loads(_FILE.read_text(encoding="utf-8"))
    return [Cure(**row) for rows in parts.values() for row in rows]


def without(cure: Cure, source: Callable[[str], bytes]) -> bytes:
    """Return the source of the cure's file without the cure.

    Parameters
    ----------
    cure
        The cure.
    source
        Gives the source of a file.

    Raises
    ------
    ValueError
        If the text of the cure does not stand there once.
    """
    before = source(cure.file)
    if before.count(cure.text.encode()) != 1:
        raise ValueError(f"{cure.file} has the cure {cure.text!r} not once: {cure.fault}")
    return before.replace(cure.text.encode(), cure.without.encode())

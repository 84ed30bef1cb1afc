"""Order in which files of tests begin, for workers that take one file after the other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

#: Files that take half a minute or more: begun last, one would keep one worker busy and no other.
_FIRST = frozenset({"test_fuzzing", "test_missing_values"})
#: Folders whose files take longest. Tests of the contract wait for programs about half of their
#: time, those of the browser compute: side by side they leave no core idle.
_IN_TURN = ("browser", "contract")


def in_order(paths: Iterable[Path]) -> list[Path]:
    """Return files so that the longest begin first, and those that wait among those that compute.

    Where nothing is to be said the order stays as it is.
    """
    files = list(dict.fromkeys(paths))
    begins = dict.fromkeys(files, 1.0)
    for folder in _IN_TURN:
        mine = [path for path in files if path.parent.name == folder]
        begins |= {path: at / len(mine) for at, path in enumerate(mine)}
    return sorted(files, key=lambda path: (path.stem not in _FIRST, begins[path]))

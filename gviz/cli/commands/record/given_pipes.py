"""Pipes and sockets that ``gviz run`` was given: they are the program's, which ends them."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Collection

#: What the process was started with and still has.
_OPEN = "/proc/self/fd"


def leave_given_pipes(kept: Collection[int]) -> None:
    """Close the pipes and sockets that this process inherited, once the program has them.

    So who reads the program's output to its end, or waits until nobody reads its input, waits for
    the program and for nothing of gviz's. Never raises: what cannot be closed stays open.

    Parameters
    ----------
    kept
        Descriptors that gviz itself writes to.
    """
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        # What Python opens is not inherited, so all that can be was given.
        for number in set(map(int, os.listdir(_OPEN))).difference(kept):
            with contextlib.suppress(OSError):
                if os.get_inheritable(number) and _is_pipe(number):
                    _close(number)


def _is_pipe(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _close(number: int) -> None:
    if number > 2:
        os.close(number)
        return
    # What is opened next must not become a standard stream.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, number)
    os.close(nothing)

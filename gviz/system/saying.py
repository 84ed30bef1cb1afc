"""Sentences on standard error, said without ever failing."""

from __future__ import annotations

import contextlib
import sys


def say(sentence: str) -> None:
    """Write a sentence of gviz's on a line of standard error, if that can be written to.

    For what is said in a watched program, or after one: a closed terminal, a full disk or a
    program's own ``sys.stderr`` that raises must not change how the program ends, and where there
    is no standard error, ``print`` would write to standard output.
    """
    with contextlib.suppress(Exception):
        if sys.stderr is not None:
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()

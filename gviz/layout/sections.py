"""Sections of a graph that stand side by side, such as its phases: the rows at which they begin."""

from __future__ import annotations

import numpy as np

from gviz.stats import IntArray


def section_breaks(row: IntArray, section: IntArray) -> tuple[int, ...]:
    """Return the first row of each section but the first, where one ends before the next begins.

    Sections that share rows stand together.

    Parameters
    ----------
    row
        int64, one a node: that in which it stands.
    section
        int, one a node: its section; -1: it is in none, and stands with those around it.
    """
    inside = section >= 0
    known, code = np.unique(section[inside], return_inverse=True)
    if len(known) < 2:
        return ()
    rows, code = row[inside], code.reshape(-1)
    first = np.full(len(known), np.iinfo(np.int64).max)
    last = np.full(len(known), -1, np.int64)
    np.minimum.at(first, code, rows)
    np.maximum.at(last, code, rows)
    order = np.argsort(first, kind="stable")
    reached = np.maximum.accumulate(last[order])
    begins = first[order][1:]
    found: list[int] = begins[begins > reached[:-1]].tolist()
    return tuple(found)

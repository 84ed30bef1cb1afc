"""Between which numbers the values of a column lie, by its name.

What lies outside was written by nobody: no clock, address or size reaches that far, and sums and
products of such numbers would leave the 64 bits that they are computed in.
"""

from __future__ import annotations

from functools import cache

from gviz.recording.rows.tables import Column

#: Times beyond this (ns, 73 years in both directions of 1970, where no GPU was) would overflow in
#: sums and differences of 64-bit integers.
LATEST_NS = 2**61
#: Sizes in bytes; addresses of processors and GPUs have 57 bits at most.
MOST_BYTES = 2**60
#: Things that were counted: one each nanosecond for three days.
MOST_COUNTED = 2**48
#: Executions of one node in one launch; numbered by gviz, and each of them is a row.
_MOST_ITERATIONS = 2**24

_INT32 = (-(2**31), 2**31 - 1)
_NOT_NEGATIVE = (0, 2**31 - 1)
#: dim3 has unsigned numbers of 32 bits, and a graph that the driver refused may have any.
_DIMENSION = (0, 2**32 - 1)
_BY_NAME = {
    "iteration": (0, _MOST_ITERATIONS - 1),
    "position": _NOT_NEGATIVE,
    "ordinal": (0, MOST_COUNTED),
    "count": (0, MOST_COUNTED),
    "bytes": (0, MOST_BYTES),
    "address": (0, 2**63 - 1),
    "device_id": _INT32,
    "multiprocessor_count": _NOT_NEGATIVE,
    "max_threads_per_multiprocessor": _NOT_NEGATIVE,
    "max_blocks_per_multiprocessor": _NOT_NEGATIVE,
    **{f"{of}_{axis}": _DIMENSION for of in ("grid", "block") for axis in "xyz"},
}
_BY_END = {
    "_ns": (-LATEST_NS, LATEST_NS),
    "_bytes": (0, MOST_BYTES),
    "_address": (0, 2**63 - 1),
    "_count": (0, MOST_COUNTED),
    **dict.fromkeys(("_mhz", "_celsius", "_watts"), _NOT_NEGATIVE),
}


def value_range(column: Column) -> tuple[int, int] | None:
    """Return the least and the most that a column can hold; None: any number, or none at all."""
    return number_range(column.name) if column.sql_type in ("INTEGER", "REAL") else None


@cache
def number_range(name: str) -> tuple[int, int] | None:
    """Return the least and the most of numbers in columns of this name; None: any number."""
    found = _BY_NAME.get(name)
    ends = (limits for end, limits in _BY_END.items() if name.endswith(end))
    return found if found is not None else next(ends, None)

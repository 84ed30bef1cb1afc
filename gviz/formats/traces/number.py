"""Numbers as other programs write them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from gviz.formats.traces.trace import MOST_NS
from gviz.stats import UNKNOWN

#: Numbers with more digits before the point than this are no time and no size.
MOST_DIGITS = 19
#: Longer texts are no numbers.
_MOST_TEXT = 64
#: The least of the limits of sizes and ids that a recording has.
MOST_ID = 1 << 60
#: A launch dimension; CUDA's dim3 has 32 bits.
MOST_DIMENSION = (1 << 32) - 1
#: Ordinals of devices, and their attributes.
MOST_INT = (1 << 31) - 1
#: A node of CUPTI's: the graph or executable above the node, 32 bits each.
NODE_BITS = 32
NODE_MASK = (1 << NODE_BITS) - 1


def integer(value: Any) -> int | None:
    """Return a number as a whole one, also where it is written as a text; None: it is none."""
    if type(value) is int:
        return value if -MOST_NS < value < MOST_NS * 4 else None
    exact = decimal(value)
    return None if exact is None else int(exact)


def known(value: Any, most: int = MOST_ID) -> int:
    """Return an id or a size up to ``most``; UNKNOWN for what cannot be one."""
    if value is None:
        return UNKNOWN
    if type(value) is int and 0 <= value <= most:
        return value
    number = integer(value)
    return number if number is not None and 0 <= number <= most else UNKNOWN


def size(value: Any, most: int = MOST_ID) -> int | None:
    """Return an id or a size up to ``most``; None for what cannot be one."""
    number = known(value, most)
    return None if number == UNKNOWN else number


def graph_node(node: Any, above: Any) -> tuple[int, int]:
    """Return (executable, node) of CUPTI's graph node id; UNKNOWN twice outside of graphs.

    Parameters
    ----------
    node
        The id.
    above
        The executable, or the graph, where the id does not hold it.
    """
    number = integer(node)
    if number is None or not 0 <= number < 1 << 64:
        return UNKNOWN, UNKNOWN
    exec_id = number >> NODE_BITS
    if not exec_id:
        recorded = integer(above)
        exec_id = recorded if recorded is not None and 0 < recorded <= NODE_MASK else 0
    # All 0: outside of graphs. Node 0 of a graph is 0 where the id does not hold the graph.
    return (exec_id, number & NODE_MASK) if number or exec_id else (UNKNOWN, UNKNOWN)


def decimal(value: Any) -> Decimal | None:
    """Return a number, or a text that is one, exactly; None: it is none, or endless."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return None
    if isinstance(value, str) and len(value) > _MOST_TEXT:
        return None
    try:
        exact = Decimal(value)
    except (InvalidOperation, ValueError):
        return None
    return exact if exact.is_finite() and exact.adjusted() < MOST_DIGITS else None


def cuda_version(value: Any) -> str | None:
    """Return CUDA's version number, such as 13000, as people write it."""
    number = integer(value)
    return f"{number // 1000}.{number % 1000 // 10}" if number and 0 < number < 1 << 31 else None

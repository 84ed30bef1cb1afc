"""The number of launches until a graph has paid for itself."""

from __future__ import annotations

from math import ceil

from gviz.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RepaymentPoint:
    """After how many launches a graph has cost no more than launching into a stream.

    Attributes
    ----------
    launches
        Smallest number of launches whose total is no more; None: never, a launch of the
        graph takes as long as the stream or longer.
    made_ns
        What is paid once: capture, instantiation, and what the first launch costs more than
        a later one.
    gained_ns
        What each launch gives back.
    """

    launches: int | None
    made_ns: float
    gained_ns: float


def break_even(
    *, stream_ns: float, capture_ns: float, instantiate_ns: float, first_ns: float, again_ns: float
) -> RepaymentPoint:
    """Return the smallest ``n`` with capture + instantiate + first + (n - 1) * again <= n * stream.

    Parameters
    ----------
    stream_ns
        Host time of the same work launched into a stream.
    capture_ns, instantiate_ns
        Host time of making the executable.
    first_ns, again_ns
        Host time of its first launch and of a later one.
    """
    made = capture_ns + instantiate_ns + first_ns - again_ns
    gained = stream_ns - again_ns
    if gained >= made:
        return RepaymentPoint(1, made, gained)
    if gained <= 0:
        return RepaymentPoint(None, made, gained)
    return RepaymentPoint(ceil(made / gained), made, gained)

"""``gviz.try_edits``: what edits of a graph save, measured in the running program, now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gviz.collectors import native
from gviz.collectors.watching import executable_of
from gviz.dataclass import dataclass
from gviz.errors import UsageError
from gviz.spool import TrialKind, TrialResults, word_of

#: Edits that keep every node and every needed order, by name.
SAFE_EDITS = {
    "implied": TrialKind.IMPLIED,
    "priority": TrialKind.PRIORITY,
    "order": TrialKind.ORDER,
    "serial": TrialKind.SERIAL,
}
#: What an edit that leaves out a kernel family begins with; part of its name follows.
_OFF = "off:"


@dataclass(frozen=True, slots=True)
class TriedEdit:
    """An edit of a graph that was tried, or the reason why it was not.

    Attributes
    ----------
    edit
        Its name.
    gain_ns
        What it saves a launch (median; below 0: it costs), measured; None: it was not tried.
    low_ns, high_ns
        The 95% interval of that, by bootstrap.
    count
        Pairs of launches.
    results
        equal, different, or not tested: whether both left the same in memory.
    refusal
        Why it was not tried; None: it was.
    """

    edit: str
    gain_ns: float | None = None
    low_ns: float | None = None
    high_ns: float | None = None
    count: int = 0
    results: str = "not tested"
    refusal: str | None = None


def try_edits(
    graph: Any, edits: Sequence[str] = tuple(SAFE_EDITS), *, destructive: bool = False
) -> tuple[TriedEdit, ...]:
    """Try edits of a graph: copies, one of them edited, are launched, timed, and undone, now.

    The program is started by ``gviz run --trials``, has launched the graph some times, and waits
    for none of its work. Calls of other threads are held, at most 20 ms at a time. Nothing that
    the program computes changes; the recording has what was tried.

    Parameters
    ----------
    graph
        A graph of PyTorch, CuPy or cuda.core, or the handle of a CUgraphExec.
    edits
        Some of ``"implied"`` (without dependencies that others imply), ``"priority"`` (nodes run
        by their priorities), ``"order"`` (nodes on the longest ways created first) and
        ``"serial"`` (all nodes in one chain); by default all. ``"off:gemm"``, with
        ``destructive``, leaves out the largest kernel family in whose name ``gemm`` stands.
    destructive
        Whether an edit may cost the program its GPU: what follows a kernel that is left out may
        access memory that it should not, after which no CUDA call succeeds, or never end.

    Returns
    -------
    tuple of TriedEdit
        One an edit, in their order. What cannot be tried has the reason.

    Raises
    ------
    UsageError
        If there is no such edit, it needs ``destructive``, or the graph has no executable.
    """
    for edit in edits:
        if edit.startswith(_OFF) and not destructive:
            raise UsageError(
                f"{edit!r} may cost the program its GPU: pass destructive=True if it may; "
                "'gviz run --trials' leaves kernels out by itself when the program has ended"
            )
        if edit not in SAFE_EDITS and not edit.startswith(_OFF):
            names = ", ".join((*SAFE_EDITS, f"{_OFF}NAME"))
            raise UsageError(f"there is no edit {edit!r} to try; there are {names}")
    graph_exec = executable_of(graph)
    return tuple(_try(graph_exec, edit) for edit in edits)


def _try(graph_exec: int, edit: str) -> TriedEdit:
    kind, family = SAFE_EDITS.get(edit, TrialKind.OFF), edit.removeprefix(_OFF)
    name = family if kind is TrialKind.OFF else ""
    pairs, results, refusal = native.try_edit(graph_exec, kind, name)
    if refusal is not None:
        return TriedEdit(edit, refusal=refusal)
    # Not earlier: numpy has no place in a program that tries nothing.
    import numpy as np

    from gviz.stats import median_interval

    gains = np.array([unedited - edited for unedited, edited in pairs], np.float64)
    interval = median_interval(gains)
    return TriedEdit(
        edit, float(np.median(gains)), interval.low, interval.high, len(gains),
        word_of(TrialResults, results),
    )  # fmt: skip

"""Times of each graph of a trace: its launches and nodes as a table."""

from __future__ import annotations

import numpy as np

from gviz.dataclass import dataclass
from gviz.formats.traces.launches import FoldedTrace
from gviz.matching import RecordedWork
from gviz.stats import IntArray

#: Pairs of a launch and a node of which times are looked at: of more the first launches are.
_MOST_PAIRS = 50_000_000


@dataclass(frozen=True, slots=True)
class ExecTimes:
    """The times of one executable's nodes.

    Attributes
    ----------
    launch
        int64: index of each launch that is a row.
    recorded
        Columns are nodes, by id. Of a node that ran several times in a launch it has the first.
        Tokens are none of it.
    """

    launch: IntArray
    recorded: RecordedWork


class TimesByExec:
    """The times of all executables of a trace.

    Parameters
    ----------
    folded
        The trace.
    """

    def __init__(self, folded: FoldedTrace) -> None:
        self._folded = folded
        executable = folded.work["exec_id"][folded.span]
        self._order = np.argsort(executable, kind="stable")
        self._sorted = executable[self._order]

    def of(self, exec_id: int) -> ExecTimes:
        """Return those of one executable."""
        folded = self._folded
        at = self._order[slice(*np.searchsorted(self._sorted, [exec_id, exec_id + 1]).tolist())]
        at = at[folded.span_iteration[at] == 0]
        work = folded.work.take(folded.span[at])
        nodes, column = np.unique(work["node_id"], return_inverse=True)
        launches, row = np.unique(folded.span_launch[at], return_inverse=True)
        most = max(1, _MOST_PAIRS // max(len(nodes), 1))
        if len(launches) > most:
            launches, kept = launches[:most], row < most
            work, row, column = work.compress(kept), row[kept], column[kept]
        shape = (len(launches), len(nodes))
        tables = []
        for name in ("start_ns", "end_ns", "stream_id"):
            table = np.zeros(shape, np.int64)
            table[row, column] = work[name]
            tables.append(table)
        timed = np.zeros(shape, bool)
        timed[row, column] = True
        return ExecTimes(
            launches,
            RecordedWork(
                token=np.zeros(len(nodes), np.int64),
                start_ns=tables[0],
                end_ns=tables[1],
                timed=timed,
                stream=tables[2],
                is_aligned=exec_id not in folded.unaligned,
            ),
        )

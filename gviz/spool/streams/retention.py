"""Rules of what is kept of a long run as rows, and what as bins or statistics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass

#: Launches of a run that have a row: as rows 100,000 take 7.8 MB.
ROW_LAUNCHES = 100_000
#: Launches that are sorted together.
BLOCK_LAUNCHES = 31_250


@dataclass(frozen=True, slots=True)
class Retention:
    """The limits. Their defaults keep a recording of a million launches below 20 MB.

    Attributes
    ----------
    always_launches
        Launches of each executable whose spans are rows whatever they cost (node level on).
    span_launches
        Launches of each executable whose spans are rows as long as there is room.
    exec_spans, run_spans
        That room: span rows of one executable, and of the run (the latter also ends
        ``always_launches``).
    plain_launches, run_launches
        Launches without node level whose spans, should there be any, are rows, of each executable
        and of the run.
    row_launches
        Launches that have a row, from the run's first. Later ones have one if their spans are rows,
        or else are binned.
    block_launches
        Launches that are sorted together.
    open_blocks
        The newest blocks, which CUPTI's records and the events may still add to: what is reported
        of a launch comes up to a second after its call.
    operations
        Kernels, copies and memsets outside graphs that have a row.
    """

    always_launches: int = 20
    span_launches: int = 200
    exec_spans: int = 200_000
    run_spans: int = 2_000_000
    plain_launches: int = 500
    run_launches: int = 10_000
    row_launches: int = ROW_LAUNCHES
    block_launches: int = BLOCK_LAUNCHES
    open_blocks: int = 4
    operations: int = 50_000

    def to_text(self) -> str:
        """Return the rule as a sentence, for the recording."""
        return (
            f"long run: spans are rows for the first {self.always_launches} launches of each "
            f"executable recorded node by node, up to {self.span_launches} while they are fewer "
            f"than {self.exec_spans:,} of the executable and {self.run_spans:,} of the run; nodes "
            "of later launches are in node_statistics only. The run's first "
            f"{self.row_launches:,} launches have a row, later ones without spans are counted in "
            "launch_bin"
        )


@dataclass(slots=True)
class _Spent:
    recorded: int = 0
    plain: int = 0
    spans: int = 0
    nodes: int | None = None


class RowChoice:
    """Decides, launch by launch in order of arrival, of which the spans are rows.

    Parameters
    ----------
    timed_nodes
        How many nodes of an executable get a time; 0: not known.
    """

    def __init__(self, limits: Retention, timed_nodes: Callable[[int], int]) -> None:
        self._limits = limits
        self._timed_nodes = timed_nodes
        self._spent: defaultdict[int, _Spent] = defaultdict(_Spent)
        self._full: dict[bool, set[int]] = {True: set(), False: set()}
        self._spans = 0
        self._plain = 0

    def choose(
        self, exec_id: npt.NDArray[np.int64], recorded: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Return of which launches the spans are rows.

        Parameters
        ----------
        exec_id, recorded
            Executable of each launch, and whether node level was on; in order of arrival.
        """
        chosen = np.zeros(len(exec_id), bool)
        full = {level: np.array(sorted(self._full[level]), np.int64) for level in (True, False)}
        open_ = np.where(recorded, ~np.isin(exec_id, full[True]), ~np.isin(exec_id, full[False]))
        # Few are still open in a long run: the loop is short.
        for i in np.flatnonzero(open_).tolist():
            exec_ = int(exec_id[i])
            if recorded[i]:
                chosen[i] = self._recorded(exec_)
            else:
                chosen[i] = self._unrecorded(exec_)
        return chosen

    def _recorded(self, exec_id: int) -> bool:
        if exec_id in self._full[True]:
            return False
        limits, spent = self._limits, self._spent[exec_id]
        nodes = spent.nodes = self._timed_nodes(exec_id) if spent.nodes is None else spent.nodes
        room = spent.recorded < limits.always_launches or (
            spent.recorded < limits.span_launches and spent.spans + nodes <= limits.exec_spans
        )
        if not room or self._spans + nodes > limits.run_spans:
            self._full[True].add(exec_id)
            return False
        spent.recorded += 1
        spent.spans += nodes
        self._spans += nodes
        return True

    def _unrecorded(self, exec_id: int) -> bool:
        if exec_id in self._full[False]:
            return False
        limits, spent = self._limits, self._spent[exec_id]
        if spent.plain >= limits.plain_launches or self._plain >= limits.run_launches:
            self._full[False].add(exec_id)
            return False
        spent.plain += 1
        self._plain += 1
        return True

"""Launches in windows that CUPTI came for: its ids of them in the place of gviz's."""

from __future__ import annotations

from gviz.runs import Activities
from gviz.spool.records import VisitedRecord

#: Launches kept: their records come at the end of their window.
MOST_LAUNCHES = 100_000


class Visits:
    """Translates activity records of such windows; others stay as they are."""

    def __init__(self) -> None:
        self._execs: dict[int, int] = {}
        self._launches: dict[int, int] = {}

    def add(self, launch: VisitedRecord) -> None:
        """Take a launch in; its activity records follow."""
        self._execs[launch.cupti_exec_id] = launch.exec_id
        self._launches[launch.cupti_exec_id << 32 | launch.cupti_correlation] = launch.correlation
        while len(self._launches) > MOST_LAUNCHES:
            del self._launches[next(iter(self._launches))]

    def translate(self, records: Activities) -> Activities:
        """Return records with gviz's ids of executables and launches, in place.

        Records of work outside graphs, of which no call was seen, are left out, and those of
        launches that nobody was told of. Bodies have no launch's number, and keep none.
        """
        if not self._execs:
            return records
        execs, correlations = records["exec_id"], records["correlation_id"]
        own = [self._execs.get(one, -1) for one in execs.tolist()]
        numbers = [
            self._launches.get(exec_id << 32 | number, -1) if number else 0
            for exec_id, number in zip(execs.tolist(), correlations.tolist(), strict=True)
        ]
        records["exec_id"], records["correlation_id"] = own, numbers
        found: Activities = records[(records["exec_id"] >= 0) & (records["correlation_id"] >= 0)]
        return found

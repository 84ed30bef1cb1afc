"""Activity records as they come: spans to keep, nodes to count, operations outside graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.runs import SPAN_ACTIVITY, Activities, join_activities, node_key, span_activities
from gviz.spool.records import join
from gviz.spool.streams.body_stream import BodyStream
from gviz.spool.streams.consistency import impossible_launches
from gviz.spool.streams.fences import Fences
from gviz.spool.streams.launch_stream import LaunchStream
from gviz.spool.streams.samples import Samples
from gviz.stats import UNKNOWN, DurationSketch, IntArray, distinct_values

#: Records gathered before they are sorted into launches.
_BATCH = 32_768
#: A record whose launch, or whose fellow nodes, are still missing waits over so many batches.
_PATIENCE = 2
#: Records of loop bodies kept as spans, an executable; those beyond are counted only.
BODY_SPANS = 500_000
#: In place of a launch's place: not known (yet), and of no launch although its graph is known.
_NO_PLACE = np.iinfo(np.int64).min
_NO_LAUNCH = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class GraphTimes:
    """The facts about an executable's graph that the stream needs.

    Attributes
    ----------
    edges
        Of its top level: (from, to, type, ...), int64.
    timed_nodes
        Records that one launch gives; None: not the same in every launch.
    fences
        What surrounds the bodies of its conditional nodes; None: it has no such nodes.
    """

    edges: IntArray
    timed_nodes: int | None
    fences: Fences | None = None


class ActivityStream:
    """Takes decoded buffers in; holds what is kept of them.

    Attributes
    ----------
    invalid
        Records without a usable time: start and end 0, or an end before the start.
    impossible
        Launches without a row whose node times contradict the graph's dependencies.
    homeless
        Records of graphs whose launch was not seen.
    nodes
        Durations of nodes in launches without a row, by node_key.
    operations_left_out
        Records outside graphs beyond those kept.
    bodies_doubtful
        Records of conditional bodies, in launches without a row, that may be a neighbouring
        launch's.
    samples
        The earliest record of each node.
    """

    def __init__(
        self, launches: LaunchStream, graph_of: Callable[[int], GraphTimes | None]
    ) -> None:
        self.invalid = 0
        self.impossible = 0
        self.homeless = 0
        self.nodes = DurationSketch()
        self.operations_left_out = 0
        self.bodies_doubtful = 0
        self.samples = Samples()
        self._launches = launches
        self._graph_of = graph_of
        self._batch: list[Activities] = []
        self._batch_size = 0
        self._kept: list[Activities] = []
        self._operations: list[Activities] = []
        self._operation_count = 0
        self._bodies_kept: Counter[int] = Counter()
        self._bodies = BodyStream(self._fences_of)
        self._waiting = _Held.none()  # for their launch, or for the record of it
        self._split = _Held.none()  # for the other nodes of their launch

    def add(self, records: Activities) -> None:
        """Take the records of a buffer in (dtype ACTIVITY)."""
        self._batch.append(records)
        self._batch_size += len(records)
        if self._batch_size >= _BATCH:
            self.settle()

    def take_spans(self) -> Activities:
        """Return the records of launches that have a row (SPAN_ACTIVITY), ordered by start.

        They are many: nothing of them is kept here.
        """
        kept, self._kept = self._kept, []
        return join(kept) if kept else np.zeros(0, SPAN_ACTIVITY)

    def operations(self) -> Activities:
        """Return the records outside graphs that are kept (dtype ACTIVITY), ordered by start."""
        return join(self._operations)

    def settle(self, *, last: bool = False) -> None:
        """Sort what was taken in: to spans, to statistics, or, unless ``last``, to wait."""
        self._launches.settle()
        batch, self._batch, self._batch_size = self._batch, [], 0
        whole = join(batch)
        new = _chosen(whole, (whole["start_ns"] > 0) & (whole["end_ns"] >= whole["start_ns"]))
        self.invalid += len(whole) - len(new)
        in_graph = new["node_id"] != UNKNOWN
        self._take_operations(new.compress(~in_graph))
        new = _chosen(new, in_graph)
        self.samples.add(new)
        held = self._waiting.older_with(span_activities(new))
        place = self._places(held.records)
        counted = place >= 0
        self._widen(held.records.compress(counted), place[counted])
        kept = (place < 0) & (place != _NO_PLACE)
        self._note_owned(held.records, place)
        body = held.records["correlation_id"] == 0
        self._give_bodies(held, np.flatnonzero(body), kept, place, last=last)
        self._keep(held.records.compress(kept))
        unknown = ~kept & (place == _NO_PLACE)
        waits = unknown & (held.age < _PATIENCE) & (not last)
        self.homeless += int((unknown & ~waits).sum())
        self._waiting = held.chosen(waits)
        self._count(held.records.compress(place >= 0), place[place >= 0], last=last)
        self._launches.seal()

    # -- sorting --------------------------------------------------------------------------------

    def _take_operations(self, records: Activities) -> None:
        room = max(0, self._launches.limits.operations - self._operation_count)
        self.operations_left_out += max(0, len(records) - room)
        if room and len(records):
            self._operations.append(records[:room].copy())
            self._operation_count += len(self._operations[-1])

    def _places(self, records: Activities) -> IntArray:
        """Return the place of each record's launch (see LaunchStream.keys), or _NO_PLACE."""
        keys, places = self._launches.keys()
        found = np.full(len(records), _NO_PLACE, np.int64)
        if len(keys) and len(records):
            wanted = records["exec_id"] << 32 | records["correlation_id"]
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hit = (keys[at] == wanted) & (records["correlation_id"] != 0)
            found[hit] = places[at[hit]]
        return found

    def _fences_of(self, exec_id: int) -> Fences | None:
        graph = self._graph_of(exec_id)
        return Fences() if graph is None else graph.fences

    def _note_owned(self, records: Activities, place: IntArray) -> None:
        """Note what ran around bodies in the launches of these records."""
        owned = np.flatnonzero((place != _NO_PLACE) & (records["correlation_id"] != 0))
        execs = records["exec_id"][owned]
        for exec_id in distinct_values(execs).tolist():
            mine = owned[execs == exec_id]
            self._bodies.note(exec_id, records.take(mine), place[mine], self._launches.first_open)

    def _give_bodies(
        self, held: _Held, bodies: IntArray, kept: npt.NDArray[np.bool_], place: IntArray,
        *, last: bool,
    ) -> None:  # fmt: skip
        """Sort records of conditional bodies, which name no launch, by what is around them.

        While every launch has a row they are kept, and sorted once all is known. Once an
        executable has launches without they wait a batch: records of different queues come
        out of order.
        """
        execs = held.records["exec_id"]
        for exec_id in distinct_values(execs[bodies]).tolist():
            mine = bodies[execs[bodies] == exec_id]
            called = self._launches.streamed_from.get(exec_id)
            if called is None:
                row = np.ones(len(mine), bool)
            else:
                mine = mine if last else mine[held.age[mine] > 0]
                placed = self._bodies.place(exec_id, held.records.take(mine))
                early = held.records["start_ns"][mine] < called
                row = np.where(placed.known, placed.launch < 0, early)
                ready = placed.known | early | (held.age[mine] >= _PATIENCE) | last
                self.bodies_doubtful += int((placed.doubtful & ~row & ready).sum())
                place[mine[ready]] = np.where(placed.known, placed.launch, _NO_LAUNCH)[ready]
                known = mine[ready & placed.known & ~row]
                self._widen(held.records.take(known), place[known])
                row &= ready
            room = max(0, BODY_SPANS - self._bodies_kept[exec_id])
            self._bodies_kept[exec_id] += min(int(row.sum()), room)
            kept[mine[row][:room]] = True
            place[mine[row]] = _NO_PLACE
            place[mine[row][room:]] = _NO_LAUNCH

    def _widen(self, records: Activities, place: IntArray) -> None:
        self._launches.widen(place, records["start_ns"], records["end_ns"])

    def _keep(self, records: Activities) -> None:
        if len(records):
            self._kept.append(records)

    # -- nodes of launches without a row ---------------------------------------------------------

    def _count(self, records: Activities, place: IntArray, *, last: bool) -> None:
        """Count nodes whose launch is complete; let the others wait for their fellows."""
        held = self._split.older_with(records, place)
        ready = held.age >= _PATIENCE
        if last:
            ready[:] = True
        good = np.ones(len(held.records), bool)
        execs = held.records["exec_id"]
        for exec_id in distinct_values(execs).tolist():
            graph = self._graph_of(exec_id)
            mine = np.flatnonzero(execs == exec_id)
            if graph is None:
                ready[mine] = True
                continue
            _, launch, size = np.unique(held.place[mine], return_inverse=True, return_counts=True)
            ready[mine] |= size[launch] >= (graph.timed_nodes or 0)
            whole = mine[ready[mine] & (held.place[mine] != _NO_LAUNCH)]
            good[whole] = ~np.isin(held.place[whole], self._contradicting(graph, held, whole))
        self._split = held.chosen(~ready)
        chosen = held.records.compress(ready & good)
        keys = node_key(chosen["exec_id"], chosen["node_id"])
        self.nodes.add(keys, chosen["end_ns"] - chosen["start_ns"])

    def _contradicting(self, graph: GraphTimes, held: _Held, at: IntArray) -> IntArray:
        """Return the places of launches in which a node starts before its dependency's end."""
        records = held.records.take(at)
        found = impossible_launches(
            graph.edges,
            held.place[at],
            records["node_id"],
            records["start_ns"],
            records["end_ns"] - records["start_ns"],
        )
        self.impossible += len(found)
        self._launches.clear(found)
        return found


@dataclass(frozen=True, slots=True)
class _Held:
    """Records that wait: the place of their launch, and over how many batches they did."""

    records: Activities
    place: IntArray
    age: IntArray

    @classmethod
    def none(cls) -> _Held:
        return cls(np.zeros(0, SPAN_ACTIVITY), np.zeros(0, np.int64), np.zeros(0, np.int64))

    def older_with(self, records: Activities, place: IntArray | None = None) -> _Held:
        """Return these a batch older, and new ones."""
        new = np.zeros(len(records), np.int64)
        return _Held(
            join_activities((self.records, records)),
            np.concatenate((self.place, new if place is None else place)),
            np.concatenate((self.age + 1, new)),
        )

    def chosen(self, which: npt.NDArray[np.bool_]) -> _Held:
        return _Held(self.records.compress(which), self.place[which], self.age[which])


def _chosen(records: Activities, which: npt.NDArray[np.bool_]) -> Activities:
    """Return some records; all of them, as in most batches, without a copy."""
    return records if which.all() else records.compress(which)

"""Graph launches and their spans, from activity records."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType
from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.runs import Activities, Rows, Spans, blank_activities, blank_rows, integers
from gviz.spool.folding.bodies import BodyOwners
from gviz.spool.folding.graphs import GraphFolder, Graphs
from gviz.spool.records import LAUNCH_NODE_LEVEL, NO_STREAM, WHOLE_GRAPH
from gviz.spool.streams import (
    Contents,
    LaunchStream,
    Samples,
    cut_launches,
    impossible_launches,
)
from gviz.stats import UNKNOWN, IntArray, distinct_values, is_ascending


@dataclass(frozen=True, slots=True)
class FoldedLaunches:
    """Launches with their spans, and how many records belonged to no launch.

    Attributes
    ----------
    launches
        Those whose spans are rows, in order of their calls (columns of rows.Launch).
    plain_ordinals
        Of the launches without spans (int64).
    """

    launches: Rows
    plain_ordinals: IntArray
    spans: Spans
    homeless_records: int
    impossible: int


def fold_launches(
    contents: Contents,
    activities: Activities,
    folder: GraphFolder,
) -> FoldedLaunches:
    """Give every graph activity to its launch.

    Records carry the correlation id of their launch; those of conditional bodies carry 0, see
    :mod:`gviz.spool.folding.bodies`.

    Parameters
    ----------
    activities
        Valid records of graph nodes (dtype SPAN_ACTIVITY), ordered by start.
    """
    launches, exec_id = _calls(contents.launch_stream)
    owner = _owners(launches, exec_id, activities)
    ambiguous = BodyOwners(launches, exec_id, activities, contents.fences_of).fill(owner)
    _add_unknown(contents.activity_stream.samples, folder)
    graphs = folder.graphs
    stream = contents.launch_stream
    seen = set(exec_id.tolist()) | set(stream.counts) | set(stream.passed.counts)
    for late in sorted(seen - set(graphs.execs)):
        folder.add_late(late, blank_activities(0))  # launches without any record
    launches["graph_id"], launches["graph_exec_id"] = graphs.ids_of(exec_id)
    _count_launches(contents.launch_stream, exec_id, graphs)
    spans, times = _spans(activities, owner)
    impossible = _impossible(spans, launches["graph_id"], graphs)
    spans = spans.without(impossible)
    complete_exec = _exec_of_complete(contents, exec_id, launches["graph_id"], graphs)
    closings = np.array([w.time_ns for w in contents.windows if not w.is_open], np.int64)
    window = np.searchsorted(np.sort(closings), launches["host_start_ns"])
    cut = cut_launches(complete_exec, window, spans.launch, spans.exec_node_id)
    spans = spans.without(cut)
    times = times.without(np.concatenate((impossible, cut)))
    ordinals, plain_ordinals = _launch_ordinals(contents.launch_stream, launches, graphs)
    launches["ordinal"] = ordinals
    times.fill(launches)
    ambiguous_counts = np.bincount(owner[ambiguous], minlength=len(launches))
    launches["ambiguous_count"] = np.where(launches["span_count"] > 0, ambiguous_counts, 0)
    homeless = int((owner < 0).sum())
    return FoldedLaunches(launches, plain_ordinals, spans, homeless, len(impossible))


def _calls(stream: LaunchStream) -> tuple[Rows, IntArray]:
    """Return the launches whose spans are rows, in order of their calls, and their executables."""
    calls = stream.rows.to_array()
    calls = calls.take(np.argsort(calls["start_ns"], kind="stable"))
    stream_id = calls["stream_id"].astype(np.int64)
    launches = blank_rows(
        rows.Launch,
        len(calls),
        side="graph",
        host_start_ns=calls["start_ns"],
        host_end_ns=calls["end_ns"],
        thread_id=calls["thread_id"],
        stream_id=np.where(stream_id == NO_STREAM, UNKNOWN, stream_id),
        correlation_id=calls["correlation"],
        node_level=(calls["flags"] & LAUNCH_NODE_LEVEL) != 0,
        # No events were around a launch whose token is 0.
        event_duration_ns=integers(
            stream.row_times.get(token, UNKNOWN) if token else UNKNOWN
            for token in calls["token"].tolist()
        ),
    )
    return launches, calls["exec_id"].astype(np.int64)


def _impossible(spans: Spans, graph_of: IntArray, graphs: Graphs) -> IntArray:
    """Return the places of launches whose times contradict the graph's dependencies."""
    found = [np.zeros(0, np.int64)]
    for graph_id, mine in spans.by_graph(graph_of):
        found.append(
            impossible_launches(
                graphs.levels[graph_id].edges,
                mine.launch,
                mine.exec_node_id,
                mine.start_ns,
                mine.duration_ns,
            )
        )
    return np.concatenate(found)


def _exec_of_complete(
    contents: Contents, exec_id: IntArray, graph_of: IntArray, graphs: Graphs
) -> IntArray:
    """Return the executable of each launch; UNKNOWN where launches may rightly lack nodes."""
    switched = [record.exec_id for record in contents.life.updates if record.node_id != WHOLE_GRAPH]
    branching = [
        graphs.top_id(graph_id)
        for graph_id, level in graphs.levels.items()
        if level.has_type(NodeType.CONDITIONAL)
    ]
    may_lack = np.isin(exec_id, switched) | np.isin(graph_of, branching)
    return np.where(may_lack, UNKNOWN, exec_id)


def _owners(launches: Rows, exec_id: IntArray, activities: Activities) -> IntArray:
    """Return the place of each activity's launch in ``launches``, -1 for none."""
    owner = np.full(len(activities), -1, np.int64)
    if not len(launches):
        return owner
    correlation = launches["correlation_id"].copy()
    order = np.argsort(correlation, kind="stable")
    at = np.searchsorted(correlation[order], activities["correlation_id"])
    candidate = order[np.minimum(at, len(order) - 1)]
    hit = (correlation[candidate] == activities["correlation_id"]) & (
        exec_id[candidate] == activities["exec_id"]
    )
    owner[hit] = candidate[hit]
    _share_out(correlation, exec_id, activities, owner)
    return owner


def _share_out(
    correlation: IntArray, exec_ids: IntArray, activities: Activities, owner: IntArray
) -> None:
    """Tell launches apart that carry one correlation id, in place.

    CUPTI 13.0 gives it to launches of a graph of 50,000 nodes (H100, driver 580). Launches of one
    executable run one after another: a node's first record is of the first of them, and so on.
    """
    both = exec_ids << 32 | correlation  # of 32 bits each
    _, group_of, sizes = np.unique(both, return_inverse=True, return_counts=True)
    shared = (sizes > 1)[group_of]
    mine = np.flatnonzero((owner >= 0) & shared[owner])
    if not len(mine):
        return
    # The launches of a group are of one executable.
    group, node = group_of[owner[mine]], activities["node_id"][mine]
    order = np.lexsort((activities["start_ns"][mine], node, group))
    mine, group, node = mine[order], group[order], node[order]
    launches = np.argsort(group_of, kind="stable")  # group by group, in their order in each
    first = np.cumsum(sizes) - sizes
    rank = np.minimum(_rank_in_runs(group, node), sizes[group] - 1)
    owner[mine] = launches[first[group] + rank]


def _rank_in_runs(*keys: npt.NDArray[np.generic]) -> IntArray:
    """Return each row's place among those before it with the same keys, from 0; sorted keys."""
    place = np.arange(len(keys[0]))
    new = np.ones(len(place), bool)
    new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return place - np.maximum.accumulate(np.where(new, place, 0))


@dataclass(frozen=True, slots=True)
class _GpuTimes:
    """Begin and end of launches on the GPU, and how many spans; one entry a launch with spans."""

    launch: IntArray
    start_ns: IntArray
    end_ns: IntArray
    span_count: IntArray

    def without(self, launches: IntArray) -> _GpuTimes:
        """Return those of all other launches."""
        kept = ~np.isin(self.launch, launches)
        return _GpuTimes(
            self.launch[kept], self.start_ns[kept], self.end_ns[kept], self.span_count[kept]
        )

    def fill(self, launches: Rows) -> None:
        """Put them into the launches."""
        launches["gpu_start_ns"][self.launch] = self.start_ns
        launches["gpu_end_ns"][self.launch] = self.end_ns
        launches["span_count"][self.launch] = self.span_count
        launches["node_level"][self.launch] = 1
        launches["node_method"][self.launch] = "cupti"


def _spans(activities: Activities, owner: IntArray) -> tuple[Spans, _GpuTimes]:
    mine = np.flatnonzero(owner >= 0)
    node, stream = activities["node_id"][mine], activities["stream_id"][mine]
    start, end = activities["start_ns"][mine], activities["end_ns"][mine]
    launch = owner[mine]
    if not is_ascending((launch, node)):
        # One sort of numbers of 32 bits each; records of a node stay in their order by start.
        order = np.argsort(launch << 32 | node, kind="stable")
        launch, node, stream = launch[order], node[order], stream[order]
        start, end = start[order], end[order]
    launches, first_at = np.unique(launch, return_index=True)
    origin = np.minimum.reduceat(start, first_at) if len(start) else start
    latest = np.maximum.reduceat(end, first_at) if len(start) else end
    sizes = np.diff(np.append(first_at, len(launch)))
    spans = Spans(
        launch=launch,
        exec_node_id=node,
        iteration=_rank_in_runs(launch, node),
        start_ns=start - np.repeat(origin, sizes),
        duration_ns=end - start,
        stream_id=stream,
    )
    return spans, _GpuTimes(launches, origin, latest, sizes)


def _count_launches(stream: LaunchStream, exec_id: IntArray, graphs: Graphs) -> None:
    """Tell each executable how many launches it has, with spans or without."""
    for one, count in (stream.counts + stream.passed.counts + Counter(exec_id.tolist())).items():
        graphs.execs[one] = replace(graphs.execs[one], launch_count=count)


# -- the places of launches among those of their graph ---------------------------------------


def _launch_ordinals(
    stream: LaunchStream, launches: Rows, graphs: Graphs
) -> tuple[IntArray, IntArray]:
    """Return the ordinals of launches with spans and of those without: calls of its graph before.

    Bins hold launches after the run's first. Of a launch among these none is before; of a later one
    those are that begin before.

    Parameters
    ----------
    launches
        Launches with spans, in order of their calls. The others are those of the stream.
    """
    starts = np.concatenate((launches["host_start_ns"], stream.plain["host_start_ns"]))
    plain_graph, _ = graphs.ids_of(stream.plain["exec_id"])
    graph_of = np.concatenate((launches["graph_id"], plain_graph))
    order = np.lexsort((starts, graph_of))
    found = np.empty(len(order), np.int64)
    ids, first = np.unique(graph_of[order], return_index=True)
    mine = dict(zip(ids.tolist(), np.split(order, first[1:]), strict=False))
    for at in mine.values():
        found[at] = np.arange(len(at))
    last_plain = int(stream.plain["host_start_ns"].max(initial=0))
    for bin_ in stream.bins.bins():
        at = mine.get(graphs.execs[bin_.key.exec_id].graph_id)
        if at is not None and bin_.key.measure == 0:
            later = starts[at] > max(bin_.start_ns, last_plain)
            found[at[later]] += bin_.count
    for exec_id in stream.passed.counts:
        at = mine.get(graphs.execs[exec_id].graph_id)
        if at is not None:
            found[at] += stream.passed.before(exec_id, starts[at])
    return found[: len(launches)], found[len(launches) :]


# -- nodes that are known from their records only ---------------------------------------------


def _add_unknown(samples: Samples, folder: GraphFolder) -> None:
    """Add the nodes that have a record and that no walk read."""
    graphs = folder.graphs
    for exec_id in distinct_values(samples.records["exec_id"]).tolist():
        records = samples.records[samples.records["exec_id"] == exec_id]
        if exec_id not in graphs.execs:
            folder.add_late(exec_id, records)
            continue
        levels = graphs.family(graphs.execs[exec_id].graph_id)
        known = np.concatenate([level.nodes["exec_node_id"] for level in levels])
        records = records[~np.isin(records["node_id"], known)]
        if len(records):
            folder.add_unknown_body(graphs.top_of(exec_id), records)

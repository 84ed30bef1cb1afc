"""Graph launches and their spans, from activity records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType, short_name
from gviz.recording import rows
from gviz.runs import Activities, KernelFunctions, Spans, operation_name
from gviz.spool.folding.bodies import BodyOwners
from gviz.spool.folding.graphs import GraphFolder, Graphs
from gviz.spool.records import LAUNCH_NODE_LEVEL, NO_STREAM, WHOLE_GRAPH, LaunchRecord
from gviz.spool.streams import (
    Contents,
    LaunchStream,
    Samples,
    cut_launches,
    impossible_launches,
)
from gviz.stats import UNKNOWN, IntArray, is_ascending


@dataclass(frozen=True, slots=True)
class FoldedLaunches:
    """Launches with their spans, and how many records belonged to no launch.

    ``plain_ordinals`` are those of the launches without spans (int64).
    """

    launches: list[rows.Launch]
    plain_ordinals: IntArray
    spans: Spans
    homeless_records: int
    impossible: int


def fold_launches(
    contents: Contents,
    activities: Activities,
    folder: GraphFolder,
    kernels: KernelFunctions,
) -> FoldedLaunches:
    """Give every graph activity to its launch.

    Records carry the correlation id of their launch; those of conditional bodies carry 0, see
    :mod:`gviz.spool.folding.bodies`.

    Parameters
    ----------
    activities
        Valid records of graph nodes (dtype SPAN_ACTIVITY), ordered by start.
    """
    records = sorted(contents.launch_stream.rows, key=lambda r: r.start_ns)
    owner = _owners(records, activities)
    times = contents.launch_stream.row_times
    durations = [times.get(r.token, 0) if r.token else 0 for r in records]
    ambiguous = BodyOwners(
        records, np.array(durations, np.int64), activities, contents.fences_of
    ).fill(owner)
    _add_unknown(contents, contents.activity_stream.samples, folder, kernels)
    graphs = folder.graphs
    seen = {r.exec_id for r in records} | set(contents.launch_stream.counts)
    for exec_id in sorted(seen - set(graphs.execs)):
        folder.add_late(exec_id, {})  # launches of a late graph without any record
    spans, first, last, counts = _spans(activities, owner)
    impossible = _impossible(spans, records, graphs)
    if len(impossible):
        spans = spans.without(impossible)
    cut = cut_launches(_exec_of(contents, records, graphs), spans.launch_id, spans.exec_node_id)
    if len(cut):
        spans = spans.without(cut)
    if len(impossible) or len(cut):
        left_out = {*impossible.tolist(), *cut.tolist()}
        counts = {i: n for i, n in counts.items() if i + 1 not in left_out}
    ordinals, plain_ordinals = _launch_ordinals(contents.launch_stream, records, graphs)
    launches = _launch_rows(contents, records, graphs, ordinals.tolist(), first, last, counts)
    doubts = np.bincount(owner[ambiguous], minlength=len(records))
    for i in np.flatnonzero(doubts).tolist():
        if launches[i].span_count:
            launches[i] = replace(launches[i], ambiguous_count=int(doubts[i]))
    homeless = int((owner < 0).sum())
    return FoldedLaunches(launches, plain_ordinals, spans, homeless, len(impossible))


def _impossible(spans: Spans, records: list[LaunchRecord], graphs: Graphs) -> IntArray:
    """Return the launch ids whose times contradict the graph's dependencies."""
    graph_of = np.zeros(len(records) + 1, np.int64)
    for i, record in enumerate(records):
        graph_of[i + 1] = graphs.execs[record.exec_id].graph_id
    found = [np.zeros(0, np.int64)]
    for graph_id, mine in spans.by_graph(graph_of):
        found.append(
            impossible_launches(
                graphs.levels[graph_id].edges,
                mine.launch_id,
                mine.exec_node_id,
                mine.start_ns,
                mine.duration_ns,
            )
        )
    return np.concatenate(found)


def _exec_of(contents: Contents, records: list[LaunchRecord], graphs: Graphs) -> IntArray:
    """Return the executable of each launch id; -1 where launches may rightly lack nodes."""
    switched = {record.exec_id for record in contents.life.updates if record.node_id != WHOLE_GRAPH}
    branching = {
        graphs.top_id(graph_id)
        for graph_id, level in graphs.levels.items()
        if any(node.type == NodeType.CONDITIONAL for node in level.nodes.values())
    }
    exec_of = np.full(len(records) + 1, -1, np.int64)
    for i, record in enumerate(records):
        graph_id = graphs.execs[record.exec_id].graph_id
        if record.exec_id not in switched and graph_id not in branching:
            exec_of[i + 1] = record.exec_id
    return exec_of


def _owners(records: list[LaunchRecord], activities: Activities) -> IntArray:
    """Return the index of each activity's launch in ``records``, -1 for none."""
    owner = np.full(len(activities), -1, np.int64)
    if not records:
        return owner
    correlation = np.array([r.correlation for r in records], np.int64)
    order = np.argsort(correlation, kind="stable")
    at = np.searchsorted(correlation[order], activities["correlation_id"])
    candidate = order[np.minimum(at, len(order) - 1)]
    launch_exec = np.array([r.exec_id for r in records], np.int64)
    hit = (correlation[candidate] == activities["correlation_id"]) & (
        launch_exec[candidate] == activities["exec_id"]
    )
    owner[hit] = candidate[hit]
    _share_out(correlation, launch_exec, activities, owner)
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


def _spans(
    activities: Activities, owner: IntArray
) -> tuple[Spans, dict[int, int], dict[int, int], dict[int, int]]:
    mine = np.flatnonzero(owner >= 0)
    node, stream = activities["node_id"][mine], activities["stream_id"][mine]
    start, end = activities["start_ns"][mine], activities["end_ns"][mine]
    launch = owner[mine]
    if not is_ascending((launch, node)):
        # One sort of numbers of 32 bits each; records of a node stay in their order by start.
        order = np.argsort(launch << 32 | node, kind="stable")
        launch, node, stream = launch[order], node[order], stream[order]
        start, end = start[order], end[order]
    launch_ids, first_at = np.unique(launch, return_index=True)
    origin = np.minimum.reduceat(start, first_at) if len(start) else start
    latest = np.maximum.reduceat(end, first_at) if len(start) else end
    sizes = np.diff(np.append(first_at, len(launch)))
    spans = Spans(
        launch_id=launch + 1,
        exec_node_id=node,
        iteration=_rank_in_runs(launch, node),
        start_ns=start - np.repeat(origin, sizes),
        duration_ns=end - start,
        stream_id=stream,
    )
    keys = launch_ids.tolist()
    return (
        spans,
        dict(zip(keys, origin.tolist(), strict=True)),
        dict(zip(keys, latest.tolist(), strict=True)),
        dict(zip(keys, sizes.tolist(), strict=True)),
    )


def _launch_rows(
    contents: Contents,
    records: list[LaunchRecord],
    graphs: Graphs,
    ordinals: list[int],
    first: dict[int, int],
    last: dict[int, int],
    counts: dict[int, int],
) -> list[rows.Launch]:
    times = contents.launch_stream.row_times
    for exec_id, count in _count_launches(contents.launch_stream).items():
        graphs.execs[exec_id] = replace(graphs.execs[exec_id], launch_count=count)
    launches = []
    for i, record in enumerate(records):
        execution = graphs.execs[record.exec_id]
        launches.append(
            rows.Launch(
                launch_id=i + 1,
                run_id=graphs.run_id,
                graph_id=execution.graph_id,
                graph_exec_id=execution.graph_exec_id,
                side="graph",
                ordinal=ordinals[i],
                host_start_ns=record.start_ns,
                host_end_ns=record.end_ns,
                thread_id=record.thread_id,
                stream_id=None if record.stream_id == NO_STREAM else record.stream_id,
                correlation_id=record.correlation,
                node_level=int(bool(record.flags & LAUNCH_NODE_LEVEL) or i in counts),
                gpu_start_ns=first.get(i) if i in counts else None,
                gpu_end_ns=last.get(i) if i in counts else None,
                event_duration_ns=times.get(record.token) if record.token else None,
                span_count=counts.get(i, 0),
                node_method="cupti" if i in counts else None,
            )
        )
    return launches


# -- the places of launches among those of their graph ---------------------------------------


def _count_launches(stream: LaunchStream) -> Counter[int]:
    """Return how many launches each executable has, with spans or without."""
    return stream.counts + Counter(record.exec_id for record in stream.rows)


def _launch_ordinals(
    stream: LaunchStream, records: Sequence[LaunchRecord], graphs: Graphs
) -> tuple[IntArray, IntArray]:
    """Return the ordinals of launches with spans and of those without: calls of its graph before.

    Bins hold launches after the run's first. Of a launch among these none is before; of a later one
    those are that begin before.

    Parameters
    ----------
    records
        Launches with spans, in order of their calls. The others are those of the stream.
    """
    called = np.array([record.start_ns for record in records], np.int64)
    starts = np.concatenate((called, stream.plain["host_start_ns"]))
    graph_of = np.concatenate(
        (
            _graphs_of(np.array([record.exec_id for record in records], np.int64), graphs),
            _graphs_of(stream.plain["exec_id"], graphs),
        )
    )
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
            found[at[later]] += int(bin_.histogram.count.sum())
    return found[: len(records)], found[len(records) :]


def _graphs_of(exec_ids: IntArray, graphs: Graphs) -> IntArray:
    ids, place = np.unique(exec_ids, return_inverse=True)
    graph_ids = np.array([graphs.execs[i].graph_id for i in ids.tolist()], np.int64)
    return graph_ids[place.reshape(-1)]


# -- nodes that are known from their records only ---------------------------------------------


def _add_unknown(
    contents: Contents, samples: Samples, folder: GraphFolder, kernels: KernelFunctions
) -> None:
    """Add the nodes of these records that no walk read."""
    unknown: dict[int, dict[int, rows.Node]] = {}
    known = {
        exec_id: {
            n.exec_node_id
            for level in folder.graphs.family(row.graph_id)
            for n in level.nodes.values()
        }
        for exec_id, row in folder.graphs.execs.items()
    }
    for record in samples.records:
        exec_id, node_id = int(record["exec_id"]), int(record["node_id"])
        if node_id not in known.get(exec_id, ()):
            node = node_from_activity(contents, record, node_id, kernels)
            unknown.setdefault(exec_id, {})[node_id] = node
    for exec_id, nodes in unknown.items():
        if exec_id in folder.graphs.execs:
            folder.add_unknown_body(folder.graphs.top_of(exec_id), nodes)
        else:
            folder.add_late(exec_id, nodes)


def node_from_activity(
    contents: Contents, record: np.void, node_id: int, kernels: KernelFunctions
) -> rows.Node:
    """Return what an activity record reports of its node."""
    kind = int(record["type"])
    kernel = kind == NodeType.KERNEL
    mangled = contents.strings.get(int(record["name"]), "?") if kernel else ""
    grid, block = record["grid"].tolist(), record["block"].tolist()
    copy_kind, size = int(record["copy_kind"]), int(record["bytes"])
    return rows.Node(
        graph_id=0,
        node_id=node_id,
        exec_node_id=node_id,
        type=kind,
        name=short_name(mangled) if kernel else operation_name(kind, max(copy_kind, 0)),
        function_id=kernels.number(
            mangled, int(record["registers"]), int(record["static_shared_mem_bytes"])
        )
        if kernel
        else None,
        device_id=int(record["device_id"]),
        grid_x=grid[0] if kernel else None,
        grid_y=grid[1] if kernel else None,
        grid_z=grid[2] if kernel else None,
        block_x=block[0] if kernel else None,
        block_y=block[1] if kernel else None,
        block_z=block[2] if kernel else None,
        shared_mem_bytes=int(record["shared_mem_bytes"]) if kernel else None,
        copy_kind=None if copy_kind == UNKNOWN else copy_kind,
        bytes=None if size == UNKNOWN else size,
        stack_reason="the node was created before gviz attached",
    )

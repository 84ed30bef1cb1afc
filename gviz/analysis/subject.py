"""One graph of a recording with all that analyses need of it, read and computed once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gviz.analysis.launch import (
    MOST_NODES,
    Barriers,
    GainModel,
    HeldLaunch,
    LaunchModel,
    NodeMemory,
    PathSteps,
    PriorityOrder,
    SmallBranches,
    TriedChange,
    Unrolled,
    Unroller,
    UsualGaps,
    WaitGroup,
    barriers,
    filled_shares,
    find_waits,
    fit,
    group_waits,
    hold_launch,
    launch_model,
    observed_path,
    order_by_priority,
    path_steps,
    place_spans,
    read_node_memory,
    small_branches,
    usual_gaps,
)
from gviz.analysis.node_families import (
    NamedFamilies,
    NodeFamilies,
    name_families,
    read_node_families,
)
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.sound_launches import SoundLaunches, read_sound_launches
from gviz.analysis.sound_times import sound_launch
from gviz.analysis.stream_operations import read_stream_operations
from gviz.analysis.tried_changes import tried_changes
from gviz.cuda import WHOLE_ONLY
from gviz.dag import CriticalPath, Reachability, cover_series, rank_rows
from gviz.dataclass import dataclass
from gviz.errors import CycleError
from gviz.families import Kind
from gviz.model import (
    SHOWN,
    CallTimes,
    ContradictedTimes,
    GraphTree,
    GraphTrials,
    Keep,
    LaunchCalls,
    LaunchSpans,
    TreeEdges,
    TreeLevel,
    build_anew,
    call_times,
    contradicted_times,
    graph_title,
    launch_spans,
    median_spans,
    read_launch_calls,
    read_launch_spans,
    read_tree,
    read_tree_edges,
)
from gviz.recording import Columns, rows
from gviz.stats import FloatArray, IntArray, median_ranks

if TYPE_CHECKING:
    from gviz.recording import Recording

_R = TypeVar("_R")

#: Columns of nodes that rules and results need.
_COLUMNS = (
    *SHOWN,
    "shared_mem_bytes",
    "max_blocks_per_multiprocessor",
    "priority",
    "copy_kind",
    "source_address",
    "destination_address",
    "memset_value",
    "memset_element_bytes",
    "match_class",
    "created_thread_id",
    "stack_id",
)


@dataclass(frozen=True, slots=True)
class TimedLaunch:
    """A launch with node times."""

    row: rows.Launch
    spans: LaunchSpans

    @property
    def returned_ns(self) -> int | None:
        """Return when the launch call returned, from the first node's start; None: not recorded."""
        if self.row.host_end_ns is None or self.row.gpu_start_ns is None:
            return None
        return self.row.host_end_ns - self.row.gpu_start_ns


class GraphSubject:
    """One graph of a recording; what is expensive is computed when it is first used.

    Every statement about "the" launch is about the median launch: each node's median start and
    duration over the recorded launches, on the queue that it ran on most often. Where copies
    timed the nodes, each starts when its dependencies allow.

    Parameters
    ----------
    recording
        Stays open as long as the subject is used.
    row
        A top-level graph.
    devices
        Of its run; None: they are read.
    keep
        Remembers what graphs of a run have in common.
    """

    def __init__(
        self,
        recording: Recording,
        row: rows.Graph,
        devices: Sequence[rows.Device] | None = None,
        keep: Keep = build_anew,
    ) -> None:
        self.recording = recording
        self.row = row
        self._keep = keep
        self.graph: GraphTree = read_tree(recording, row.graph_id, keep, _COLUMNS)
        self.edges: TreeEdges = read_tree_edges(recording, self.graph, only_recorded=True)
        self._results: dict[Callable[[GraphSubject], Any], Any] = {}
        self._reachability: dict[int, Reachability] = {}
        self._refs: dict[int, NodeRef] = {}
        if devices is None:
            devices = recording.fetch_devices(row.run_id)
        self._devices = {d.device_id: d for d in devices}
        self._unroller = Unroller(self.graph, self.edges)

    @property
    def title(self) -> str:
        """Its name among the graphs of its run."""
        return graph_title(self.recording, self.row, self._keep)

    @cached_property
    def _run(self) -> rows.Run:
        (run,) = (x for x in self.recording.fetch_runs() if x.run_id == self.row.run_id)
        return run

    # -- launches ----------------------------------------------------------------------

    @cached_property
    def launches(self) -> SoundLaunches:
        """The launches that have a row, in time order."""
        return read_sound_launches(self.recording, self.row.graph_id)

    @cached_property
    def launch_calls(self) -> LaunchCalls:
        """The launch calls of its run, with those that waited for a full queue."""
        return read_launch_calls(self.recording, self.row.run_id, self._keep)

    @cached_property
    def call_times(self) -> CallTimes:
        """The host time of its launch call, from the calls disturbed least."""
        return call_times(self.recording, self.row.graph_id, self._keep)

    @cached_property
    def plain_lengths_ns(self) -> FloatArray:
        """Between the events around launches without node times, as far as these have rows."""
        found = self.recording.fetch_launch_durations(
            self.row.graph_id, "graph", "event", undisturbed=True
        )
        return found.astype(np.float64)

    def launches_before(self) -> list[rows.Launch | None]:
        """Return the launch before each timed one on its stream; None: it is the first there."""
        launches = self.launches
        by_id = np.argsort(launches.launch_id, kind="stable")
        wanted = np.array([x.row.launch_id for x in self.timed_launches], np.int64)
        at = by_id[np.searchsorted(launches.launch_id, wanted, sorter=by_id)]
        before = launches.one_before()[at]
        ids = np.where(before >= 0, launches.launch_id[before], -1).tolist()
        known = {x.row.launch_id: x.row for x in self._launches_with_spans}
        return [None if i < 0 else known.get(i) or self._fetch_launch(i) for i in ids]

    def _fetch_launch(self, launch_id: int) -> rows.Launch:
        return sound_launch(self.recording.fetch_launch(launch_id))

    @cached_property
    def stream_rows(self) -> list[rows.Launch]:
        """The passes over its work by stream calls, in time order."""
        found = self.recording.fetch_launches(self.row.graph_id, "stream")
        return [sound_launch(x) for x in found]

    @property
    def stream_operations(self) -> Columns:
        """The operations outside graphs of its run, by number."""
        return read_stream_operations(self.recording, self.row.run_id, self._keep)

    @cached_property
    def timed_launches(self) -> list[TimedLaunch]:
        """The launches whose nodes were timed, all by the same method, with times that can be.

        Without those whose times contradict each other, as long as these are the fewer.
        """
        if self.why_contradicted:
            return self._forward_launches
        kept = ~self._contradicted.is_large
        return [x for x, keep in zip(self._forward_launches, kept.tolist(), strict=True) if keep]

    @cached_property
    def backward_launches(self) -> list[TimedLaunch]:
        """The launches in which a node ends before it starts."""
        return [x for x in self._launches_with_spans if x.spans.steps_back]

    @cached_property
    def _forward_launches(self) -> list[TimedLaunch]:
        return [x for x in self._launches_with_spans if not x.spans.steps_back]

    @property
    def contradicted(self) -> ContradictedTimes:
        """Contradictions in the times of the timed launches."""
        found = self._contradicted
        return found if self.why_contradicted else found.take(~found.is_large)

    @property
    def contradicted_launches(self) -> ContradictedTimes:
        """Contradictions of the launches that are left out for them."""
        found = self._contradicted
        return found.take(found.is_large & (not self.why_contradicted))

    @cached_property
    def _contradicted(self) -> ContradictedTimes:
        launches = self._forward_launches
        # Of an instrumented copy durations are used alone: its starts are its own.
        known = not self.why_no_edges and not self.is_timed_by_copy
        edges = self.edges if known else None
        events = [None if self.is_timed_by_copy else x.row.event_duration_ns for x in launches]
        pairs = [(x.spans, event) for x, event in zip(launches, events, strict=True)]
        return contradicted_times(self.graph, edges, pairs)

    @cached_property
    def _launches_with_spans(self) -> list[TimedLaunch]:
        found = self.recording.fetch_launches_with_spans(self.row.graph_id)
        timed = [sound_launch(x) for x in found if x.node_level]
        by_copy = [x for x in timed if x.is_by_copy]
        chosen = by_copy if len(by_copy) == len(timed) else [x for x in timed if x not in by_copy]
        return [
            TimedLaunch(
                row,
                launch_spans(
                    self.graph,
                    read_launch_spans(self.recording, self.graph, row.launch_id),
                    has_queues=not row.is_by_copy,
                ),
            )
            for row in chosen
        ]

    @cached_property
    def is_timed_by_copy(self) -> bool:
        """Return whether instrumented copies timed the nodes: durations alone are the graph's."""
        return any(x.row.is_by_copy for x in self._launches_with_spans)

    @property
    def is_whole_only(self) -> bool:
        """Return whether a trace has its launches as a whole, without nodes."""
        return self.row.origin == "trace" and self.row.topology_id is None

    @cached_property
    def why_no_times(self) -> str | None:
        """Return the reason why no times of nodes can be used; None: they can."""
        if not len(self.launches):
            # A dump that was joined with a trace has its launches.
            if self.row.origin == "dot":
                return "a DOT dump carries no times"
            return "the graph was not launched while gviz recorded"
        if self.is_whole_only:
            return WHOLE_ONLY
        if not self.timed_launches and self.backward_launches:
            return (
                "in every launch with node times a node ends before it starts: no clock does that"
            )
        if self.timed_launches and not any(len(x.spans) for x in self.timed_launches):
            return "launches were recorded with node times, but the records of their nodes are lost"
        if not self.timed_launches:
            return self._why_no_node_is_timed()
        return None

    def _why_no_node_is_timed(self) -> str:
        reasons = self.graph.nodes.texts("not_timed_reason")
        if not len(reasons.codes) or (reasons.codes < 0).any():
            return "no launch has node times; they are recorded in windows (docs/limits.md)"
        usual = reasons.values[int(np.bincount(reasons.codes).argmax())]
        by_copies = "events" in (self._run.collector or "")
        more = "; record with --collector cupti" if by_copies else ""
        return f"no node of it has a time: {usual}{more}"

    @property
    def why_no_order(self) -> str | None:
        """Return the reason why only durations of nodes can be used; None: starts can, too."""
        if not self.is_timed_by_copy:
            return None
        return (
            "event copies time each node with the way to the next one, and not when it starts: "
            "record with --collector cupti"
        )

    @cached_property
    def why_no_edges(self) -> str | None:
        """Return the reason why no dependencies can be used; None: they can."""
        if not self.edges.are_recorded:
            if self.row.edges_inferred:
                return (
                    "edges are not known: those of an imported trace are inferred from stream "
                    "order; import the driver's DOT dump together with the trace"
                )
            if self.is_whole_only:
                return WHOLE_ONLY
            return "edges are not known: the graph, or a body in it, was made before gviz attached"
        try:
            self.level_rows  # noqa: B018
        except CycleError as error:
            return str(error)
        return None

    @cached_property
    def why_contradicted(self) -> str | None:
        """Return the reason why times and dependencies cannot both be right; None: they can."""
        found = self._contradicted
        if 2 * int(found.is_large.sum()) <= len(found):
            return None
        cause = "node times may stand on wrong nodes"
        if self._run.source != "import":
            cause = "records are damaged, or of several launches"
        return f"{found.describe()}: {cause}"

    @property
    def why_no_path(self) -> str | None:
        """Return the reason why nothing can be said of what waited for what; None: it can."""
        return self.why_no_model or self.why_no_order

    @property
    def why_no_model(self) -> str | None:
        """Return the reason why the median launch is not known as constraints; None: it is."""
        return self.why_no_edges or self.why_no_times or self.why_contradicted

    @cached_property
    def level_rows(self) -> tuple[IntArray, ...]:
        """Row of each node of each level: the longest chain before it, in edges.

        Raises
        ------
        CycleError
            If the edges form a cycle.
        """
        edges = [(level.count, self.edges.of(level)) for level in self.graph.levels]
        return tuple(rank_rows(count, of.source, of.target) for count, of in edges)

    def level_reachability(self, level: TreeLevel) -> Reachability:
        """Return reachability by the edges of a level."""
        if level.at not in self._reachability:
            edges, row = self.edges.of(level), self.level_rows[level.at]
            cover = cover_series(row, edges.source, edges.target)
            self._reachability[level.at] = Reachability(cover)
        return self._reachability[level.at]

    # -- the median launch -------------------------------------------------------------

    @cached_property
    def spans(self) -> LaunchSpans:
        """Spans of the median launch; of copies, placed as far as dependencies are known."""
        # An instrumented copy may time a part of the nodes in each launch.
        share = 0.0 if self.is_timed_by_copy else 0.5
        found = median_spans((x.spans for x in self.timed_launches), least_share=share)
        if not self.is_timed_by_copy or self.why_no_edges:
            return found
        unrolled = self._unroller.unroll(found)
        return place_spans(
            unrolled, unrolled.vertex_of(self.graph, found.node, found.iteration), found
        )

    @cached_property
    def held(self) -> HeldLaunch:
        """The median launch, and what held each execution back."""
        return self.hold(self.spans)

    def hold(self, spans: LaunchSpans) -> HeldLaunch:
        """Return a launch, and what held each execution back."""
        unrolled = self._unroller.unroll(spans)
        vertex = unrolled.vertex_of(self.graph, spans.node, spans.iteration)
        return hold_launch(unrolled, vertex, spans)

    @property
    def unrolled(self) -> Unrolled:
        """Executions of the median launch."""
        return self.held.unrolled

    @cached_property
    def path(self) -> IntArray:
        """Vertices of the observed critical path."""
        return observed_path(self.held)

    @cached_property
    def steps(self) -> PathSteps:
        """Times of its steps."""
        return path_steps(self.held, self.path)

    @cached_property
    def model(self) -> LaunchModel:
        """The median launch as constraints."""
        return launch_model(self.held)

    @cached_property
    def trials(self) -> GraphTrials:
        """Its trials, those that were refused too."""
        return GraphTrials(self.recording, self.row.graph_id)

    @cached_property
    def gains(self) -> GainModel:
        """Gains of changes of that launch, by assumptions that fit what was tried of it."""
        untried, tried = self.untried_gains, self.tried
        return untried.assuming(fit(untried, tried)) if tried else untried

    @cached_property
    def untried_gains(self) -> GainModel:
        """Gains of changes of that launch, by assumptions that know of no trial."""
        nodes, node = self.graph.nodes, self.unrolled.node
        filled = filled_shares(nodes, self.multiprocessors(), unknown=0.0)[node]
        return GainModel(self.model, filled)

    @cached_property
    def tried(self) -> list[TriedChange]:
        """Changes of that launch that trials made, with what each cost."""
        return tried_changes(self.trials, self.graph, self.model)

    @cached_property
    def model_path(self) -> CriticalPath:
        """Slack in that launch."""
        return self.model.critical_path()

    def untimed_before(self, vertex: int) -> list[int]:
        """Return the vertices without a time between a vertex and its last dependency to end."""
        unrolled, held = self.unrolled, self.held
        found: list[int] = []
        at = int(held.via[vertex])
        while at >= 0 and not held.timed[at]:
            found.append(at)
            before = unrolled.tail[self._edges_into(at)]
            at = int(before[np.argmax(held.end_ns[before])]) if len(before) else -1
        return found

    def _edges_into(self, vertex: int) -> IntArray:
        """Return the edges of the unrolled form that lead to a vertex."""
        first = np.searchsorted(self._by_head[1], vertex, side="left")
        stop = np.searchsorted(self._by_head[1], vertex, side="right")
        return self._by_head[0][first:stop]

    @cached_property
    def _by_head(self) -> tuple[IntArray, IntArray]:
        order = np.argsort(self.unrolled.head, kind="stable")
        return order, self.unrolled.head[order]

    @cached_property
    def usual(self) -> UsualGaps:
        """Usual gaps in that launch."""
        return usual_gaps(self.graph, self.held)

    @cached_property
    def reachability(self) -> Reachability | None:
        """Return reachability in that launch; None: too many nodes side by side."""
        unrolled = self.unrolled
        if len(self.graph.levels) == 1 and len(unrolled) == len(self.graph):
            found = self.level_reachability(self.graph.levels[0])
        else:
            found = Reachability(cover_series(unrolled.row, unrolled.tail, unrolled.head))
        return found if found.is_small_enough else None

    # -- what else the recording says of it --------------------------------------------

    @cached_property
    def execs(self) -> list[rows.GraphExec]:
        """The executables."""
        return self.recording.fetch_graph_execs(self.row.graph_id)

    @cached_property
    def families(self) -> NodeFamilies:
        """Return the families of the nodes."""
        return read_node_families(self.recording, self.graph, self.row.run_id, self._keep)

    @cached_property
    def named_families(self) -> NamedFamilies:
        """Return the families of the nodes by what they are called."""
        spans = self.spans
        total_ns = np.bincount(spans.node, spans.end_ns - spans.start_ns, len(self.graph))
        return name_families(self.graph, self.families, total_ns.astype(np.float64))

    @cached_property
    def memory(self) -> NodeMemory | None:
        """Return the memory that the outermost level's nodes are given; None: too many nodes."""
        level = self.graph.levels[0]
        if level.count > MOST_NODES:
            return None
        collective = self.families.of_kind(Kind.COLLECTIVE)[level.part]
        return read_node_memory(
            self.recording, self.row, self.graph.nodes[level.part], opaque=collective
        )

    # -- what of it could be shorter ---------------------------------------------------

    @cached_property
    def wait_groups(self) -> list[WaitGroup]:
        """Independent nodes that took turns; none where dependencies are too many to know."""
        if self.reachability is None:
            return []
        found = find_waits(self.graph, self.held, self.reachability, self.multiprocessors())
        launches = [x.spans for x in self.timed_launches]
        return group_waits(self.graph, self.model, found, self.usual, launches)

    @cached_property
    def priority_order(self) -> PriorityOrder | None:
        """Return what would not have waited, had nodes started by priority; None: nothing."""
        return order_by_priority(self.graph, self.model, self.wait_groups, self.usual)

    @cached_property
    def small_branches(self) -> SmallBranches | None:
        """Branches that are not worth their fork."""
        if self.reachability is None:
            return None
        return small_branches(self.model, self.reachability, self.usual)

    @cached_property
    def barriers(self) -> Barriers | None:
        """Joins at which branches wait for each other."""
        return barriers(self.graph, self.model)

    def once(self, compute: Callable[[GraphSubject], _R]) -> _R:
        """Return what a function of this subject gives, computed when it is first used."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        found: _R = self._results[compute]
        return found

    # -- names -------------------------------------------------------------------------

    def ref(self, node: int) -> NodeRef:
        """Return a node by its index."""
        found = self._refs.get(node)
        if found is None:
            graph_ids, node_ids, names = self._names
            found = self._refs[node] = NodeRef(graph_ids[node], node_ids[node], names[node])
        return found

    @cached_property
    def _names(self) -> tuple[list[int], list[int], list[str]]:
        """Graph, node id and name of each node, as lists."""
        graph, nodes = self.graph, self.graph.nodes
        of_level = np.array([level.graph.graph_id for level in graph.levels], np.int64)
        return of_level[graph.level].tolist(), nodes.listed("node_id"), nodes.listed("name")

    def ref_of_vertex(self, vertex: int) -> NodeRef:
        """Return the node of a vertex of the median launch."""
        return self.ref(int(self.unrolled.node[vertex]))

    def refs_of_vertices(self, vertices: IntArray) -> list[NodeRef]:
        """Return the nodes of vertices of the median launch."""
        return list(map(self.ref, self.unrolled.node[vertices].tolist()))

    def multiprocessors(self, device_id: int | None = None) -> int | None:
        """Return how many multiprocessors a GPU has, by default the first; None: not known."""
        if device_id is None and self._devices:
            device_id = min(self._devices)
        device = self._devices.get(-1 if device_id is None else device_id)
        return None if device is None else device.multiprocessor_count

    def compute_capability(self) -> tuple[int, int] | None:
        """Return the compute capability of the first GPU, such as (9, 0); None: not known."""
        text = self._devices[min(self._devices)].compute_capability if self._devices else None
        found = re.fullmatch(r"([0-9]{1,3})\.([0-9]{1,3})", text or "")
        return None if found is None else (int(found[1]), int(found[2]))

    @cached_property
    def median_count(self) -> int:
        """Launches behind the median launch."""
        return len(self.timed_launches)

    @property
    def noise_ns(self) -> float | None:
        """Reach of the median launch's length to either side (derived); None: of one launch.

        Half of its 95% interval; of too few launches for one half of the spread between them. At
        least the clock's 160 ns and a thousandth of the launch.
        """
        return self.least_gain_ns if len(self._lengths()) > 1 else None

    @cached_property
    def least_gain_ns(self) -> float:
        """Length that gains must exceed not to be chance (derived): the noise.

        Of one launch the clock's 160 ns or a thousandth of the launch.
        """
        lengths = np.sort(self._lengths())
        count = len(lengths)
        low, high = median_ranks(count) or (0, count - 1)
        spread = float(lengths[high] - lengths[low]) / 2 if count else 0.0
        middle = float(np.median(lengths)) if count else 0.0
        return max(spread, _CLOCK_NOISE_NS, _LEAST_SHARE * middle)

    def _lengths(self) -> FloatArray:
        """Return how long launches took: those with node times, or, of copies, plain ones."""
        if self.is_timed_by_copy and len(self.plain_lengths_ns):
            return self.plain_lengths_ns
        return np.array([x.spans.length_ns for x in self.timed_launches], np.float64)


#: Gains of a smaller share of the launch are not worth a line, however even launches are.
_LEAST_SHARE = 0.001
#: What clock readings of two queues differ by as a rule (measured on an H100, docs/limits.md).
_CLOCK_NOISE_NS = 160.0

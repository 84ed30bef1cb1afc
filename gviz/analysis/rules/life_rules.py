"""Rules about the life of graphs: first launches, rebuilding, many small launches."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from gviz.analysis.results import RebuildCost, break_even, first_launches, rebuild_cost
from gviz.analysis.rules.rule import Fact, Found, rule, run_rule
from gviz.analysis.run_subject import RunSubject
from gviz.analysis.sound_launches import UNKNOWN, SoundLaunches
from gviz.analysis.subject import GraphSubject
from gviz.model import read_launch_calls
from gviz.recording import rows
from gviz.stats import IntArray, NotComputed, distinct_values
from gviz.text import duration, rounded

#: CUgraphInstantiate_flags (cuda.h, CUDA 13.0).
_UPLOAD = 2
#: Graphs of no more nodes are small: their launch costs as much as some of their nodes.
_SMALL_NODES = 32
#: A launch called so soon after the one before returned follows it directly.
_DIRECTLY_NS = 20_000
#: So many launches must follow each other directly before that is a habit.
_HABIT = 10
#: Pairs of graphs whose arguments are compared.
_COMPARED = 20


@rule(
    "first-launch-without-upload",
    title="a first launch that uploads the graph, which could have been uploaded before",
    fix="Call cuGraphUpload (cudaGraphUpload; CuPy: graph.upload(stream)) after the instantiation, "
    "or instantiate with CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD.",
    source="cuda.h (CUDA 13.0), cuGraphUpload; the calls are this recording's",
    assumes="after an upload the first call takes as long as later ones of this recording; the "
    "upload itself takes its time before",
    bound="at most",  # CUPTI does more in a first call: 307 and 402 us for 246 and 185 without it
    per="run",
)
def first_launch_without_upload(subject: GraphSubject) -> Iterator[Found]:
    """Yield executables whose first launch call took longer than later ones."""
    for found in first_launches(subject):
        if found.surplus_ns <= 0:
            continue
        graph_exec = found.graph_exec
        if graph_exec.upload_start_ns is not None or graph_exec.flags is None:
            continue
        if graph_exec.flags & _UPLOAD:
            continue
        yield Found(
            reason=f"executable {graph_exec.graph_exec_id} was not uploaded before its first "
            f"launch: that call took {duration(found.first_ns)}, later ones "
            f"{duration(found.later_ns)}",
            vertices=(),
            evidence=(
                Fact("first call", found.first_ns, "ns", "measured"),
                Fact("later calls, median", found.later_ns, "ns", "measured"),
                Fact("later calls", found.later_count, "", "measured"),
            ),
            gain=found.surplus_ns,
        )


@rule(
    "below-break-even",
    title="a graph launched too seldom to pay back what making it cost",
    fix="Keep the executable and launch it more often, or leave this work to stream calls. A run "
    "that was cut short for recording may be why.",
    source="calls and iterations in this recording, node times on for both or for neither",
    assumes="further launches would not have followed the recording",
    per="run",
)
def below_break_even(subject: GraphSubject) -> Iterator[Found]:
    """Yield what a graph cost more than the same work by stream calls."""
    found = subject.once(break_even)
    if isinstance(found, NotComputed):
        return
    needed, seen = found.elapsed.fewest or found.elapsed.launches, found.launches_seen
    if needed is not None and seen >= needed:
        return
    saved = found.elapsed.saved.mean_ns
    is_first_known = found.setup.first_launch_ns is not None
    parts = f"capture, instantiation, upload{', first launch' if is_first_known else ''}"
    bound = ", at most" if found.evidence.is_at_most else ""
    when = "never" if needed is None else f"after {needed:,} launches at the earliest"
    yield Found(
        reason=(
            f"launched {rounded(seen)} times an executable; what making it cost is paid back {when}"
        ),
        vertices=(),
        evidence=(
            Fact(parts, found.setup.total_ns, "ns",
                     "derived"),
            Fact(f"saved by a launch{bound}", saved, "ns", "derived"),
            Fact("launches of an executable, median", seen, "", "measured"),
        ),
        gain=(found.setup.total_ns - seen * saved) * found.setup.executable_count,
    )  # fmt: skip


@run_rule(
    "graph-rebuilt",
    title="instantiations where an update of an earlier executable, or launching it, would do",
    fix="Keep the executable: launch it again where nothing changed, else update it with "
    "cuGraphExecUpdate (or set the parameters of single nodes).",
    source="topologies and calls in this recording; what an update may change: cuda.h (CUDA "
    "13.0), cuGraphExecUpdate",
    assumes="an update takes as long as those in this recording, else as the launch costs have it; "
    "these have what a first launch and destroying take more; CUPTI's part of the times stays",
    bound="at most",
)
def graph_rebuilt(run: RunSubject) -> Iterator[Found]:
    """Yield what executables cost that an earlier one could have been turned into."""
    again = [e for e in run.execs.values() if e.could_update_graph_exec_id is not None]
    if not again:
        return
    # Where nothing changed the capture was for nothing too, and no update is needed.
    is_same = all(_is_unchanged(run, e) for e in again[:_COMPARED])
    cost = rebuild_cost(run, again, is_same=is_same)
    plural = "s" if len(again) > 1 else ""
    what = "launching an earlier one again" if is_same else "an update of an earlier one"
    timed = (
        "" if cost.own_ns is not None else "; their times hold gviz's own part, which is not known"
    )
    yield Found(
        reason=f"{len(again):,} executable{plural} instantiated where {what} would have done"
        f"{timed}",
        vertices=(),
        evidence=tuple(_rebuild_evidence(cost, len(again), is_same=is_same)),
        gain=cost.saved_ns,
    )


def _rebuild_evidence(cost: RebuildCost, count: int, *, is_same: bool) -> Iterator[Fact]:
    yield Fact("instantiations", count, "", "measured")
    yield Fact("their host time", cost.made_ns, "ns", "measured")
    yield Fact("of captures that changed nothing", cost.captured_ns, "ns", "measured")
    if cost.own_ns is not None:
        yield Fact("taken off: gviz's own callbacks", cost.own_ns, "ns", "measured")
    if not is_same:
        yield Fact("an update, mean", cost.update_ns / count, "ns", cost.update_how)
    yield Fact("first launches beyond later ones", cost.first_launch_ns, "ns", "estimated")
    yield Fact("destroying what was replaced", cost.destroy_ns, "ns", "estimated")
    if cost.least_saved_ns is not None:
        yield Fact("gain, at least", cost.least_saved_ns, "ns", "estimated")


def _is_unchanged(run: RunSubject, graph_exec: rows.GraphExec) -> bool:
    """Return whether the earlier executable has the same arguments in every node."""
    earlier = run.execs.get(graph_exec.could_update_graph_exec_id or -1)
    if earlier is None:
        return False
    if earlier.graph_id == graph_exec.graph_id:
        return True
    return _parameters(run, earlier.graph_id) == _parameters(run, graph_exec.graph_id)


def _parameters(run: RunSubject, graph_id: int) -> list[list[tuple[object, ...]]]:
    key = {"graph_id": graph_id}
    argument = ("node_id", "position", "value")
    node = ("node_id", "grid_x", "grid_y", "grid_z", "block_x", "bytes", "source_address",
            "destination_address", "memset_value")  # fmt: skip
    fetch = run.recording.fetch_columns
    return [
        fetch(rows.Argument, argument, key, "node_id"),
        fetch(rows.Node, node, key, "node_id"),
    ]


@run_rule(
    "small-graphs-back-to-back",
    title="many launches of small graphs directly after each other",
    fix="Put several steps into one graph: capture a loop of them, or join the graphs as child "
    "graphs of one.",
    source="calls and node times in this recording; that loops gain by several steps a graph, "
    "and that there is a best number: kernel batching with graphs, arXiv 2501.09398",
    assumes="from one graph to the next there is then the usual gap between nodes",
    bound="at most",
)
def small_graphs_back_to_back(run: RunSubject) -> Iterator[Found]:
    """Yield what lies between launches of small graphs that follow each other directly."""
    small = {g for g, count in run.node_counts.items() if 0 < count <= _SMALL_NODES}
    launches = run.launches
    if launches is None:
        return
    first, second = _following(launches, small)
    if len(second) < _HABIT:
        return
    alone = second[~np.isin(launches.launch_id[second], _waited(run))]
    if not len(alone):
        return
    calls = launches.call_ns[alone]
    plain = calls[launches.node_level[alone] == 0]
    has_gap = (launches.gpu_end_ns[first] != UNKNOWN) & (launches.gpu_start_ns[second] != UNKNOWN)
    between = (launches.gpu_start_ns[second] - launches.gpu_end_ns[first])[has_gap]
    call = float(np.median(plain if len(plain) else calls))
    idle = float(np.median(between)) if len(between) else call
    each = max(0.0, min(idle, call) - _USUAL_GAP_NS)
    graph_ids = distinct_values(launches.graph_id[np.concatenate((first, second))]).tolist()
    names = sorted({run.graphs[graph_id].name for graph_id in graph_ids})
    yield Found(
        reason=f"{len(second):,} launches of graphs of up to {_SMALL_NODES} nodes came directly "
        f"after another one: {', '.join(names[:3])}",
        vertices=(),
        evidence=(
            Fact("a launch call, median", call, "ns", "measured"),
            Fact("GPU idle between two of them, median", idle, "ns",
                     "measured" if len(between) else "estimated"),
            Fact("pairs of launches", len(second), "", "measured"),
        ),
        gain=each * len(second),
    )  # fmt: skip


def _waited(run: RunSubject) -> IntArray:
    """Return the launches whose calls waited for a full queue, or may have."""
    calls = read_launch_calls(run.recording, run.run.run_id, run.keep)
    return calls.launch_id[~calls.is_alone]


#: From the end of a kernel to the start of the next in a graph (measured on an H100 in the
#: bundled recordings: 0.4 to 0.5 µs).
_USUAL_GAP_NS = 500.0


def _following(launches: SoundLaunches, small: Collection[int]) -> tuple[IntArray, IntArray]:
    """Return launches of small graphs, and those that follow them directly on their streams.

    Between the two calls the program did little else, and did not wait for the first's end.
    """
    before = launches.one_before()
    second = np.flatnonzero(before >= 0)
    first = before[second]
    is_small = np.isin(launches.graph_id, list(small))
    called, ended = launches.host_start_ns[second], launches.gpu_end_ns[first]
    apart = called - launches.host_end_ns[first]
    # Called after the first has ended on the GPU: the program may have waited for its result.
    unwaited = (ended == UNKNOWN) | (called < ended) | (launches.node_level[first] == 0)
    good = is_small[first] & is_small[second] & (apart >= 0) & (apart <= _DIRECTLY_NS) & unwaited
    return first[good], second[good]

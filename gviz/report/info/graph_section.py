"""A graph of a recording: what it is of, its life, its launches, its slowest nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gviz.cuda import WHOLE_ONLY
from gviz.families import kernel_label
from gviz.model import ExecLife, PlainLaunches, flag_names
from gviz.recording import GraphUpdate
from gviz.report.document import (
    STATE_NAMES,
    Content,
    Quantity,
    Section,
    Sentence,
    TableBlock,
    bounded,
    capitalized,
    column,
    joined,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.report.info.parameter_sentences import node_place, parameter_sentences
from gviz.report.info.trial_sentences import trial_sentences
from gviz.report.summary import EventCopies, GraphSummary, LaunchSummary, SlowNode
from gviz.stats import CuptiState
from gviz.text import byte_size, counted, duration

#: Executables of a graph, and updates of an executable, that are listed one by one.
_LISTED = 8
_KINDS = {"graph": "whole-graph", "node": "node", "enable": "enabling", "disable": "disabling"}
#: A launch's two sides.
_SIDES = {"graph": "Graph launches", "stream": "Eager iterations of the same work"}


def graph_section(graph: GraphSummary) -> Section:
    """Return what a recording has of a graph."""
    return section(
        f"graph-{graph.graph_id}",
        f"Graph {graph.graph_id}: {graph.title} ({graph.origin})",
        _size(graph),
        _exchangeable(graph.exchangeable_count),
        _event_copies(graph.event_copies),
        *_life(graph),
        *(_launches(side) for side in graph.launches),
        _around_windows(graph.plain_launches),
        *trial_sentences(graph.trials),
        *parameter_sentences(graph),
        None if graph.inflation is None else say(f"{capitalized(graph.inflation)}."),
        _slowest(graph) if graph.slowest_nodes else None,
    )


def _size(graph: GraphSummary) -> Sentence:
    edges = "edges not recorded" if graph.edge_count is None else counted(graph.edge_count, "edge")
    if graph.edges_inferred:
        edges += " inferred from stream order"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in graph.node_kinds.items())
    bodies = f", {counted(graph.body_count, 'body', 'bodies')}" if graph.body_count else ""
    what = f"{counted(graph.node_count, 'node')}, {edges}{bodies}"
    if graph.origin == "trace" and graph.edge_count is None:
        what = f"Nodes and edges not recorded: {WHOLE_ONLY}"
    return say(f"{what}: {kinds}." if kinds else f"{what}.")


def _exchangeable(count: int) -> Sentence | None:
    """Return that times were matched with nodes that could be exchanged; None: with none."""
    if not count:
        return None
    which = "1 node is" if count == 1 else f"{counted(count, 'node')} are"
    return say(
        f"{which} exchangeable: all dependencies would hold if their times were each other's, so "
        "which of them are whose is not known."
    )


def _event_copies(copies: EventCopies | None) -> Sentence | None:
    """Return that copies with events timed the nodes, and what that leaves; None: they did not."""
    if copies is None:
        return None
    extra: Content = ""
    if copies.extra_ns is not None:
        extra = (", ", ns(copies.extra_ns, "derived"), " a node subtracted")
    return say(
        f"Node times: event copy, n = {copies.launch_count:,}",
        extra,
        "; nodes of parallel branches have microseconds more.",
    )


# -- life --------------------------------------------------------------------------------


def _life(graph: GraphSummary) -> Iterator[Sentence]:
    """Yield a graph's capture, executables and end."""
    life = graph.life
    if life.capture_ns is not None:
        where = f", {life.capture_mode} mode" if life.capture_mode else ""
        thread = f", thread {life.capture_thread_id}" if life.capture_thread_id else ""
        yield say("Captured in ", ns(life.capture_ns, "measured"), f"{where}{thread}.")
    for graph_exec in life.execs[:_LISTED]:
        yield from _executable(graph_exec)
    rest = life.execs[_LISTED:]
    if rest:
        total = ns(sum(e.instantiate_ns or 0 for e in rest), "measured")
        yield say(f"And {counted(len(rest), 'more executable')}, instantiated in ", total,
                  " altogether.")  # fmt: skip
    if life.relaunch_median_ns is not None:
        host = ns(life.relaunch_median_ns, "measured")
        states = [side.host_state for side in graph.launches if side.side == "graph"]
        state = "".join(f"{STATE_NAMES[found]}, " for found in states if found is not None)
        yield say("Launched again: host ", host, f" ({state}median).")
    if life.destroyed_ns is not None:
        yield say("The graph was destroyed while gviz watched.")


def _executable(found: ExecLife) -> Iterator[Sentence]:
    flags = ", ".join(flag_names(found.flags))
    upload: Content = "no upload"
    if found.upload_ns is not None:
        upload = ("upload ", ns(found.upload_ns, "measured"))
    parts: list[Content] = [
        ("instantiate ", ns(found.instantiate_ns, "measured"), f" ({flags})" if flags else ""),
        upload,
        ("first launch ", ns(found.first_launch_ns, "measured")),
        f"launched {counted(found.launch_count, 'time')}",
    ]
    if found.device_memory_bytes:
        parts.append(f"about {byte_size(found.device_memory_bytes)} of device memory")
    if found.destroyed_ns is not None:
        parts.append("destroyed")
    yield say(f"Executable {found.graph_exec_id}: ", joined(parts), ".")
    if found.could_update_graph_exec_id is not None:
        yield say(
            f"An update of executable {found.could_update_graph_exec_id} would have done "
            "(cuGraphExecUpdate)."
        )
    for update in found.updates[:_LISTED]:
        yield _update(update)
    if len(found.updates) > _LISTED:
        yield say(f"And {len(found.updates) - _LISTED:,} more kinds of updates.")


def _update(update: GraphUpdate) -> Sentence:
    what = _KINDS.get(update.kind, update.kind)
    node = f" of node {update.node_id}" if update.node_id is not None else ""
    text = f"{counted(update.count, f'{what} update')}{node}"
    if update.count:
        text += f", {duration(update.total_ns / update.count)} each"
    if update.result == 0:
        return say(f"{text}.")
    name = update.detail_name or f"CUresult {update.result}"
    return say(f"{text}, refused: {update.difference or name}.")


# -- launches and nodes ------------------------------------------------------------------


def _launches(side: LaunchSummary) -> Sentence:
    parts: list[Content] = [
        (
            "host ",
            _bounded(ns(side.host_median_ns, "measured", n=side.host_count or None), side),
            _in_state(side.host_state),
            f" ({side.host_waiting}, left out)" if side.host_waiting else "",
        )
    ]
    if side.gpu_median_ns is not None:
        first = _bounded(ns(side.gpu_median_ns, "measured"), side)
        parts.append(("first to last node ", first, _in_state(CuptiState.RECORDED)))
    if side.event_median_ns is not None:
        between = ns(side.event_median_ns, "measured")
        parts.append(("between events ", between, _in_state(side.event_state)))
    name = _SIDES.get(side.side, side.side)
    counts = f"{side.count:,} recorded, {side.with_node_times:,} with node times"
    return say(f"{name}: {counts}; medians: ", joined(parts), ".")


_WHEN = {
    "before": "before the first window",
    "between": "between windows",
    "after": "after the last",
}


def _around_windows(found: Sequence[PlainLaunches]) -> Sentence | None:
    """Return how long plain launches took around windows; None: there were none."""
    if not found:
        return None
    parts: list[Content] = [
        (ns(one.median_ns, "measured", n=one.count), f" {_WHEN[one.when]}") for one in found
    ]
    return say("Plain launches around windows, median between events: ", joined(parts), ".")


def _bounded(found: Quantity, side: LaunchSummary) -> Quantity:
    evidence = side.length.evidence
    return found if evidence is None else bounded(found, evidence)


def _in_state(state: CuptiState | None) -> str:
    return "" if state is None else f" ({STATE_NAMES[state]})"


def _slowest(graph: GraphSummary) -> TableBlock:
    columns = [
        numbers("Node"), column("Kind"), column("Slowest by total time"), numbers("Median"),
        numbers("p95", "95th percentile"), numbers("Count"), numbers("Share"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [node_place(graph, node.graph_id, node.node_id), node.type, _slow_name(node),
         ns(node.median_ns, "measured"), ns(node.p95_ns, "measured"), number(node.count),
         share(node.share_fraction)]
        for node in graph.slowest_nodes
    ]  # fmt: skip
    return table("Slowest nodes by total time", columns, rows)


def _slow_name(node: SlowNode) -> str:
    name = kernel_label(node.kernel or node.name)
    return f"{name} (exchangeable)" if node.is_exchangeable else name

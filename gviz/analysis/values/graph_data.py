"""The data of a graph: its inputs and outputs, and what is wrong with its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gviz.analysis.node_ref import NodeRef
from gviz.analysis.subject import GraphSubject
from gviz.analysis.values.races import races
from gviz.analysis.values.strange_numbers import strange_numbers
from gviz.analysis.values.value_finding import ValueFinding, finding_of, listed, named
from gviz.analysis.values.varying import varying
from gviz.dataclass import dataclass
from gviz.model import GivenMemory, GraphValues, read_graph_values
from gviz.stats import NotComputed, figure
from gviz.system import NO_PROGRESS, Progress
from gviz.text import byte_size

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
VALUES_VERSION = 1
_FIX_LOST = "Leave the first write out, or look for the node that should have read it."


@dataclass(frozen=True, slots=True)
class DataRange:
    """Memory that goes into a graph or comes out of it."""

    node: NodeRef = figure("derived", "the first node that is given it, or the one that wrote it")
    position: int = figure("measured", "argument of that node, as table node_value has it")
    address: int = figure("measured", "where it lies")
    bytes: int = figure("measured", "its size")
    is_at_most: bool = figure(
        "stated", "whether the buffer may end earlier: CUDA does not say how long it is"
    )
    element: str = figure("derived", "what it holds; byte: not known")
    hash: str = figure(
        "measured", "of what it held, before the node or after it: 64 bits in hexadecimal"
    )


@dataclass(frozen=True, slots=True)
class GraphData:
    """Data of a graph: inputs, outputs, what may be wrong, and how it was read."""

    values_version: int = figure("stated", "version of these keys")
    graph_id: int = figure("stated", "the graph")
    title: str = figure("stated", "its name among others")
    graph_exec_id: int = figure("measured", "the executable that was read")
    node_count: int = figure("measured", "nodes whose memory was read")
    range_count: int = figure("measured", "ranges of memory that were read")
    results: str = figure(
        "measured",
        "whether the copy that was read left the same in memory as the program's executable: equal "
        "in all readings, different in one, or not tested",
    )
    repeats: str = figure("measured", "whether a second launch read the same, likewise")
    held_ns: int = figure("measured", "how long the program's calls were held for it")
    probed_bytes: int = figure("measured", "what probes read")
    unexplained_bytes: int | None = figure(
        "derived", "written by the launch where no node was seen to write; null: not known"
    )
    not_read: tuple[str, ...] = figure("measured", "why not all was read")
    findings: tuple[ValueFinding, ...] = figure("derived", "what is wrong, or may be")
    why_no_races: str | None = figure("stated", "why races were not looked for; null: they were")
    inputs: tuple[DataRange, ...] = figure(
        "derived", "memory that nodes are given and no node of the graph wrote before"
    )
    outputs: tuple[DataRange, ...] = figure(
        "derived", "memory that nodes wrote and no later node of the graph is given"
    )


#: Shares of reading what went into nodes, and of looking at it.
_READING = (0.7, 0.3)


def graph_values(subject: GraphSubject) -> GraphValues:
    """Return what was read of a graph; compute it by ``subject.once``."""
    return read_graph_values(subject.recording, subject.graph)


def values_read(
    subject: GraphSubject, progress: Progress = NO_PROGRESS
) -> GraphValues | NotComputed:
    """Return what was read of a graph, or why nothing was.

    Parameters
    ----------
    progress
        Told what is read; what is made of it takes the rest.
    """
    values = progress.steps(_READING, subject.title).run(subject.once, graph_values)
    if values.graph_exec_id is not None:
        return values
    if values.refusals:
        return NotComputed(values.refusals[-1])
    return NotComputed(
        "values are read on request: record with 'gviz run --values PROGRAM' (docs/values.md)"
    )


def data_findings(subject: GraphSubject) -> tuple[ValueFinding, ...] | NotComputed:
    """Return what is wrong with the data of a graph, or may be; or why nothing is known of it."""
    values = values_read(subject)
    return values if isinstance(values, NotComputed) else tuple(_findings(subject, values))


def read_graph_data(
    subject: GraphSubject, progress: Progress = NO_PROGRESS
) -> GraphData | NotComputed:
    """Return the data of a graph, or why nothing is known of it.

    Parameters
    ----------
    progress
        Told what is read, and when it is.
    """
    values = values_read(subject, progress)
    if isinstance(values, NotComputed):
        return values
    assert values.graph_exec_id is not None
    readings, flow, given = values.used_readings, values.flow, values.given
    unexplained = [r.unexplained_bytes for r in readings]
    return GraphData(
        values_version=VALUES_VERSION,
        graph_id=subject.row.graph_id,
        title=subject.title,
        graph_exec_id=values.graph_exec_id,
        node_count=len(values.by_node),
        range_count=len(given),
        results=_together(r.results for r in readings),
        repeats=_together(r.repeats for r in readings),
        held_ns=sum(r.held_ns or 0 for r in readings),
        probed_bytes=sum(r.probed_bytes or 0 for r in readings),
        unexplained_bytes=unexplained[0] if len(unexplained) == 1 else None,
        not_read=values.refusals,
        findings=tuple(_findings(subject, values)),
        why_no_races=subject.why_no_edges,
        inputs=_ranges(subject, (given[at] for at in flow.inputs), after=False),
        outputs=_ranges(subject, (given[at] for at in flow.unread), after=True),
    )


def _together(words: Iterable[str]) -> str:
    """Return what holds for all readings: the worst of any."""
    found = {*words}
    return next((w for w in ("different", "not tested", "equal") if w in found), "not tested")


def _findings(subject: GraphSubject, values: GraphValues) -> Iterator[ValueFinding]:
    for find in (strange_numbers, varying, races, _overwritten):
        yield from find(subject, values)


def _overwritten(subject: GraphSubject, values: GraphValues) -> Iterator[ValueFinding]:
    """Yield that copies or memsets write over what no node was given."""
    lost = [values.given[at] for at in values.flow.lost]
    if lost:
        size = byte_size(sum(memory.bytes for memory in lost))
        who = listed([named(subject, node) for node in dict.fromkeys(m.node for m in lost)])
        reason = f"what {who} wrote ({size}) is written over before any node is given it"
        yield finding_of(subject, "overwritten", reason, _FIX_LOST, lost[0])


def _ranges(
    subject: GraphSubject, given: Iterable[GivenMemory], *, after: bool
) -> tuple[DataRange, ...]:
    """Return memory by address, each range once."""
    first: dict[tuple[int, int], GivenMemory] = {}
    for memory in given:
        first.setdefault((memory.address, memory.bytes), memory)
    return tuple(
        DataRange(
            node=subject.ref(memory.node),
            position=memory.position,
            address=address,
            bytes=size,
            is_at_most=memory.is_at_most,
            element=memory.element.text,
            hash=(memory.after if after else memory.before).hash_text,
        )
        for (address, size), memory in sorted(first.items())
    )

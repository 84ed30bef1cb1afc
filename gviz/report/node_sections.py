"""The document of one node: its time, what it is, where it comes from and what is beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gviz.families import kernel_label
from gviz.model import KernelArgument, arguments_of
from gviz.report.document import (
    Block,
    Content,
    Document,
    Section,
    Sentence,
    Verdict,
    based,
    column,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.report.node_summary import NodeNeighbour, NodeSummary
from gviz.stats import CuptiState, Evidence, Interval
from gviz.text import byte_size, counted

#: Neighbours and arguments that the short form has.
_BRIEF = 12


def node_document(found: NodeSummary) -> Document:
    """Return the document of a node."""
    label = kernel_label(found.node.name)
    title = f"Node {found.node.node_id} of graph {found.graph_id} ({found.graph}): {label}"
    sections = (
        section("what", "What it is", *_what(found)),
        section("origin", "Where it was made", *_origin(found)),
        _neighbours("dependencies", "It waits for", found.dependencies),
        _neighbours("dependents", "What waits for it", found.dependents),
        *_arguments(found),
    )
    return Document(title, (Verdict("", (_time(found),)),), sections)


def _time(found: NodeSummary) -> Sentence:
    times = found.statistics
    if times is None:
        why = found.node.not_timed_reason or "no launch was recorded with a time of it"
        return say(f"It has no time: {why}.")
    evidence = Evidence("measured", times.count, state=CuptiState.RECORDED)
    interval = Interval(found.median_low_ns, found.median_high_ns)
    parts: list[Content] = [
        "It takes ", ns(times.median_ns, "measured", interval=interval), " (median of ",
        number(times.count, "measured", "executions"), "; 5th to 95th percentile ",
        ns(times.p5_ns, "measured"), " to ", ns(times.p95_ns, "measured"), ")",
    ]  # fmt: skip
    if found.share_fraction is not None:
        whole = "the time of all nodes" if found.is_by_copy else "the launches' GPU time"
        parts += [", ", share(found.share_fraction), f" of {whole}"]
    return based(say(*parts, "."), evidence)


def _what(found: NodeSummary) -> Iterator[Block]:
    node, kernel = found.node, found.function
    yield say(f"{found.kind}{'' if kernel is None else f': {kernel.name}'}.")
    facts = [
        *_shape("Grid", node.grid_x, node.grid_y, node.grid_z),
        *_shape("block", node.block_x, node.block_y, node.block_z),
    ]
    if node.shared_mem_bytes is not None:
        facts.append(f"dynamic shared memory {node.shared_mem_bytes:,} bytes")
    if kernel is not None and kernel.registers is not None:
        facts.append(f"{counted(kernel.registers, 'register')} a thread")
    if node.bytes is not None:
        facts.append(f"{node.bytes:,} bytes")
    if facts:
        yield say("; ".join(facts), ".")
    if node.occupancy_fraction is not None:
        yield say("Theoretical occupancy: ", replace(share(node.occupancy_fraction), n=1), ".")
    for parameter in found.parameters:
        yield say(f"{parameter.name}: {parameter.value}")


def _shape(name: str, *sizes: int | None) -> Iterator[str]:
    if None not in sizes:
        yield f"{name} {' × '.join(f'{size:,}' for size in sizes)}"


def _origin(found: NodeSummary) -> Iterator[Block]:
    if found.nvtx is not None:
        yield say(f"NVTX: {found.nvtx}")
    if not found.stack:
        yield say(f"No Python stack: {found.node.stack_reason or 'none was recorded'}.")
        return
    shown = found.stack if found.own_depth is None else found.stack[found.own_depth :]
    for frame in shown:
        source = f": {frame.source.strip()}" if frame.source else ""
        yield say(f"{frame.file}:{frame.line} {frame.function}{source}")


def _neighbours(key: str, heading: str, found: Sequence[NodeNeighbour] | None) -> Section:
    if found is None:
        return section(key, heading, say("The edges of this graph are not known."))
    if not found:
        return section(key, heading, say("Nothing."))
    columns = [numbers("Node"), column("Name")]
    body: list[list[Content]] = [[str(x.node_id), kernel_label(x.name)] for x in found]
    return section(key, heading, table(heading, columns, body, brief=_BRIEF))


def _arguments(found: NodeSummary) -> Iterator[Section]:
    if not found.arguments or found.signature is None:
        return
    label = "What it is given"
    columns = [numbers("#"), column("Parameter"), numbers("Bytes"), column("Value")]
    body: list[list[Content]] = [
        [str(a.parameter.position), a.to_text(), str(len(a.value)), _value(a)]
        for a in arguments_of((found.declared,), found.arguments)
    ]
    yield section(
        "arguments", label, say(found.signature), table(label, columns, body, brief=_BRIEF)
    )


def _value(argument: KernelArgument) -> str:
    """Return what a type tells of a value, or where in an allocation it points; "": neither."""
    base, size = argument.allocation_address, argument.allocation_bytes
    if base is None:
        return argument.value_text or ""
    offset = int.from_bytes(argument.value, "little") - base
    return f"{byte_size(offset)} into {byte_size(size)} at {base:#x}"

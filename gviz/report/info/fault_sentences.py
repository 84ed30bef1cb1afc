"""Sentences about a fault: what failed, between which nodes, with which addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gviz.cuda import explain_gpu_fault, gpu_fault_name, short_name
from gviz.families import kernel_label
from gviz.model import FaultPlace, FaultSummary
from gviz.recording import FaultAddress
from gviz.report.document import capitalized
from gviz.text import byte_size, counted, duration

#: Nodes that are named, each with its line and addresses, and addresses of each.
_NAMED, _ADDRESSES = 4, 6


def fault_paragraph(found: FaultSummary) -> str:
    """Return all that is known of a fault, as one paragraph."""
    return " ".join([*_what(found), *_where(found), *_nodes(found), *_dump(found)])


def _what(found: FaultSummary) -> Iterator[str]:
    fault = found.fault
    which = "" if found.graph is None else f" in a launch of {found.graph}"
    if fault.kind == "error" and fault.result is not None:
        name, meaning = gpu_fault_name(fault.result), explain_gpu_fault(fault.result)
        yield f"The GPU failed{which}: {meaning} ({name})."
    elif fault.kind == "core dump":
        yield f"The GPU failed{which}: the driver wrote a core dump."
    elif fault.kind == "stall":
        yield f"The program stood still{which}."
    else:
        yield f"The process ended{which}, without closing the recording."
    if fault.kernel is not None:
        yield f"The kernel that failed is {short_name(fault.kernel)}, by the core dump."


def _where(found: FaultSummary) -> Iterator[str]:
    if found.graph is None:
        if found.fault.kind != "core dump":
            yield "No launch that leaves crumbs was running (--black-box=layer or node lets them)."
        return
    nodes = counted(found.running_count, "node")
    last, behind = _titles(found.last), _titles(found.next)
    if last and behind:
        yield f"It stood between {last} and {behind}: at most {nodes}."
    elif last:
        yield f"It stood behind {last}: at most {nodes}."
    elif behind:
        yield f"It stood at the start, before the end of {behind}: at most {nodes}."
    else:
        yield f"No crumb tells where it stood: at most {nodes}."
    yield "The last crumb may be missing: then it was a node just behind these."
    if last and found.fault.kind in ("error", "core dump"):
        yield f"Or a write of {last}, which failed once the kernel had ended."


def _titles(places: Sequence[FaultPlace]) -> str:
    named = list(dict.fromkeys(_title(place) for place in places))
    rest = f" and {len(named) - 2} more" if len(named) > 2 else ""
    return " and ".join(named[:2]) + rest


def _title(place: FaultPlace) -> str:
    within = "" if place.range is None else f" of '{place.range}'"
    return f"node {place.node.node_id} ({kernel_label(place.node.name)}){within}"


def _nodes(found: FaultSummary) -> Iterator[str]:
    for place in found.running[:_NAMED]:
        parts = []
        if place.place is not None:
            parts.append(f"made at {place.place.file}:{place.place.line}")
        parts += [_address(one, found.fault.time_ns) for one in place.addresses[:_ADDRESSES]]
        if len(place.addresses) > _ADDRESSES:
            parts.append(f"{len(place.addresses) - _ADDRESSES} addresses more")
        details = f": {'; '.join(parts)}" if parts else ""
        yield f"{capitalized(_title(place))}{details}."
    more = found.running_count - min(len(found.running), _NAMED)
    if more > 0:
        yield f"And {counted(more, 'node')} more."


def _address(one: FaultAddress, time_ns: int | None) -> str:
    which = "address" if one.argument is None else f"argument {one.argument}"
    text = f"{which} {one.address:#x} "
    if one.block_address is None or one.block_bytes is None:
        return f"{text}lies in no allocation that was seen"
    block = f"of {byte_size(one.block_bytes)} at {one.block_address:#x}"
    if one.state == "allocated":
        return f"{text}lies in an allocation {block}"
    since = ""
    if one.freed_ns is not None and time_ns is not None and time_ns > one.freed_ns:
        since = f" {duration(time_ns - one.freed_ns)} before"
    return f"{text}lies in an allocation {block} that was freed{since}"


def _dump(found: FaultSummary) -> Iterator[str]:
    dump = found.fault.core_dump
    if dump is not None:
        yield f"The GPU's core dump is {dump}; cuda-gdb -ex 'target cudacore {dump}' reads it."

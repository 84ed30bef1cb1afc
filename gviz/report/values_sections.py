"""Documents of values: what is wrong with the data of a graph, and the data of one node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gviz.analysis import (
    DataRange,
    GraphData,
    MemoryState,
    NodeData,
    NodeMemoryState,
    NodeRef,
    ValueFinding,
)
from gviz.report.document import (
    Content,
    Document,
    NodeLink,
    NodesLink,
    Section,
    Sentence,
    TableBlock,
    Verdict,
    capitalized,
    column,
    ns,
    number,
    numbers,
    say,
    section,
    table,
)
from gviz.stats import NotComputed
from gviz.text import byte_size, counted, integer, rounded

#: Inputs and outputs that the short form has, and nodes that are named beside memory.
_BRIEF, _NAMED = 12, 3
_RESULTS = {
    "equal": "The copy that was read left the same in all memory as the program's executable.",
    "different": "The copy that was read, which runs one node after the other, left something else "
    "in memory than the program's executable.",
    "not tested": "Whether the copy that was read left the same in memory was not tested.",
}
_REPEATS = {
    "equal": "A second launch of it read the same.",
    "different": "A second launch of it read something else.",
    "not tested": "Whether a second launch reads the same was not tested.",
}


def graph_values_document(found: GraphData | NotComputed, title: str) -> Document:
    """Return the document of a graph's data; ``title`` names the graph."""
    heading = f"Data of {title}"
    if isinstance(found, NotComputed):
        why = say(f"No values were read: {found.not_computed}.")
        return Document(heading, (Verdict("", (why,)),), ())
    caveats = tuple(f"not all was read: {why}" for why in found.not_read)
    sections = (
        section("findings", "What may be wrong", *_findings(found)),
        section("reading", "How it was read", *_reading(found)),
        _ranges("inputs", "Inputs: memory that no node of the graph wrote", found.inputs),
        _ranges("outputs", "Outputs: memory that no later node is given", found.outputs),
    )
    return Document(heading, (Verdict("", (_verdict(found),), caveats),), sections)


def _verdict(found: GraphData) -> Sentence:
    certain = sum(not one.is_suspicion for one in found.findings)
    suspected = len(found.findings) - certain
    what = f"{counted(certain, 'finding')}, {counted(suspected, 'suspicion')}"
    read = f"{counted(found.range_count, 'range')} of {counted(found.node_count, 'node')}"
    return say(f"{what if found.findings else 'Nothing is wrong that values show'}: {read} read.")


def _findings(found: GraphData) -> Iterator[Sentence]:
    if not found.findings:
        yield say("No NaN or infinite elements, nothing that varies, no race.")
    for one in found.findings:
        yield from _finding(one)
    if found.why_no_races is not None:
        yield say(f"Races were not looked for: {found.why_no_races}.", note=True)


def _finding(found: ValueFinding) -> Iterator[Sentence]:
    kind = "Suspicion" if found.is_suspicion else "Finding"
    where = "".join(f", {text}" for text in (found.layer, found.line) if text)
    nodes = NodesLink(found.nodes, len(found.nodes))
    yield say(f"{kind} ({found.kind}): {capitalized(found.reason)}. At ", nodes, f"{where}.")
    yield say(f"Fix: {found.fix}", note=True)


def _reading(found: GraphData) -> Iterator[Sentence]:
    yield say(_RESULTS[found.results], " ", _REPEATS[found.repeats])
    yield say(
        "It held the program's calls for ", ns(found.held_ns, "measured", n=1), " and read ",
        number(found.probed_bytes, "measured", "bytes"), ".",
    )  # fmt: skip
    if found.unexplained_bytes:
        yield say(
            "The launch wrote to ", number(found.unexplained_bytes, "derived", "bytes"),
            " (pieces of 2 MiB) where no node was seen to write.",
        )  # fmt: skip


def _ranges(key: str, heading: str, found: Sequence[DataRange]) -> Section:
    if not found:
        return section(key, heading, say("None."))
    columns = [column("Node"), numbers("#"), numbers("Address"),
               numbers("Size"), column("Elements"), column("Hash")]  # fmt: skip
    body: list[list[Content]] = [
        [NodeLink(x.node), str(x.position), f"{x.address:#x}", _size(x), x.element, x.hash]
        for x in found
    ]  # fmt: skip
    return section(key, heading, table(heading, columns, body, brief=_BRIEF))


def node_values_document(found: NodeData | NotComputed, title: str) -> Document:
    """Return the document of a node's data; ``title`` names the node."""
    heading = f"Data of {title}"
    if isinstance(found, NotComputed):
        return Document(heading, (Verdict("", (say(f"No values: {found.not_computed}."),)),), ())
    where = ", ".join(text for text in (found.layer, found.line) if text)
    changed = sum(one.after is not None for one in found.memory)
    sentence = say(
        f"{counted(len(found.memory), 'range')} of memory, of which it changed {changed}"
        f"{f'; {where}' if where else ''}."
    )
    memory = section("memory", "What it is given", _states(found.memory))
    flow = section("flow", "Where it comes from and goes to", *map(_flow, found.memory))
    kept = section("contents", "Its contents", *_contents(found.memory))
    return Document(heading, (Verdict("", (sentence,)),), (memory, flow, kept))


def _states(memory: Sequence[NodeMemoryState]) -> TableBlock:
    columns = [
        column("Memory", "argument that holds the address, and where the memory begins behind it"),
        column("Use"), column("Holds"), numbers("Least"), numbers("Greatest"), numbers("Mean"),
        numbers("NaN"), numbers("Infinite"), numbers("Zero"), column("Hash", detail=True),
    ]  # fmt: skip
    body: list[list[Content]] = []
    for one in memory:
        head: list[Content] = [_memory(one), one.use, _holds(one)]
        body.append([*head, *_numbers(one.before)])
        if one.after is not None:
            body.append([f"{_memory(one)} after", "", "", *_numbers(one.after)])
    return table("What it is given", columns, body)


def _numbers(found: MemoryState) -> list[Content]:
    counts = (found.nan_count, found.infinite_count, found.zero_count)
    measures = (found.least, found.greatest, found.mean)
    return [*map(rounded, measures), *map(integer, counts), found.hash]


def _contents(memory: Sequence[NodeMemoryState]) -> Iterator[Sentence]:
    states = [(one, held, side) for one in memory
              for held, side in ((one.before, "before"), (one.after, "after")) if held]  # fmt: skip
    kept = [x for x in states if x[1].contents is not None]
    if not kept:
        yield say("They were not kept: 'gviz run --dump PATTERN' does that.", note=True)
    for one, held, side in kept:
        yield say(f"{_memory(one)} {side}: {held.contents}")
    if kept and len(kept) < len(states):
        yield say(f"{counted(len(states) - len(kept), 'other')} not kept.", note=True)


def _memory(found: NodeMemoryState) -> str:
    inside = f"[{found.offset}]" if found.offset else ""
    beyond = f" + {byte_size(found.start)}" if found.start else ""
    named = f" {found.parameter}" if found.parameter else ""
    return f"{found.position}{inside}{named}{beyond}"


def _holds(found: NodeMemoryState) -> str:
    return _size(found) if found.element == "byte" else f"{_size(found)} of {found.element}"


def _size(found: NodeMemoryState | DataRange) -> str:
    size = byte_size(found.bytes)
    return f"at most {size}" if found.is_at_most else size


def _flow(found: NodeMemoryState) -> Sentence:
    source = _nodes(found.written_by)
    origin = f"written by {source}" if source else "no earlier node of the graph wrote it"
    target = _nodes(found.given_to)
    given = f"given next to {target}" if target else "no later node is given it from here"
    return say(f"{_memory(found)}: {origin}; {given}.")


def _nodes(found: Sequence[NodeRef]) -> str:
    texts = [NodeLink(node).text for node in found[:_NAMED]]
    more = [f"{len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return ", ".join([*texts, *more])

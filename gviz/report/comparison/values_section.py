"""The document of two recordings' values: the first node that outputs something else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gviz.comparison import FirstDifference, GraphValuesDiff, ValueChange, ValuesDiff
from gviz.report.document import (
    Block,
    Content,
    Document,
    NodeLink,
    Sentence,
    TableBlock,
    Verdict,
    column,
    not_computed,
    numbers,
    say,
    section,
    table,
)
from gviz.stats import NotComputed
from gviz.text import counted, integer, rounded

#: Changes of a table, and nodes, that the short form has.
_BRIEF, _NAMED = 12, 4


def values_diff_document(found: ValuesDiff) -> Document:
    """Return the document of a comparison of values."""
    title = "Values before and after"
    if not found.graphs:
        return Document(
            title, (Verdict("", (say("No graph of one is like one of the other."),)),), ()
        )
    verdicts, sections = [], []
    for graph in found.graphs:
        if isinstance(graph, NotComputed):
            verdicts.append(Verdict("", (not_computed(graph),)))
            continue
        subject = f"Graph {graph.before_graph_id} ({graph.name}) and {graph.after_graph_id}"
        verdicts.append(Verdict(subject, tuple(_verdict(graph))))
        key = f"graph-{graph.before_graph_id}"
        sections.append(section(key, subject, *_details(graph)))
    return Document(title, tuple(verdicts), tuple(sections))


def eager_values_document(found: ValuesDiff | NotComputed, title: str) -> Document:
    """Return the document of a graph's values beside those of the same work by stream calls."""
    title = f"Values of {title}: by stream calls (before), as a graph (after)"
    if isinstance(found, NotComputed):
        return Document(title, (Verdict("", (not_computed(found),)),), ())
    (graph,) = (one for one in found.graphs if isinstance(one, GraphValuesDiff))
    details = section("values", "Where they part", *_details(graph))
    return Document(title, (Verdict("", tuple(_verdict(graph))),), (details,))


def _verdict(found: GraphValuesDiff) -> Iterator[Sentence]:
    ranges = counted(found.equal_count, "range")
    if found.inputs:
        first = found.inputs[0]
        yield say(
            "It begins with other data: ", counted(len(found.inputs), "range"), " of memory that "
            "no node of the graph wrote, the first given to ", NodeLink(first.before), "."
        )  # fmt: skip
    if found.first is None:
        yield say(f"All that nodes left is bit-equal ({ranges}).")
    else:
        yield _first(found.first, "The first node that outputs something else")
    if found.first_beyond is not None and found.first_beyond != found.first:
        yield _first(found.first_beyond, "The first with an output that is not even close")
    for nodes, side in ((found.only_before, "before"), (found.only_after, "after")):
        if nodes:
            names = ", ".join(NodeLink(node).text for node in nodes[:_NAMED])
            yield say(f"Only {side} ran, ahead of that: {names}.")
    if found.not_compared_count:
        yield say(
            f"{counted(found.not_compared_count, 'range')} could not be compared: memory reaches "
            "further on one side, or was not read.", note=True
        )  # fmt: skip


def _first(found: FirstDifference, what: str) -> Sentence:
    change = found.outputs[0]
    where = "".join(f", {text}" for text in (found.layer, found.line) if text)
    apart = counted(found.not_compared_count, "range")
    if found.not_compared_count:
        given = f"not compared of what it is given: {apart} that end elsewhere on one side"
    elif found.inputs:
        given = f"what it is given differs as well ({_arguments(found.inputs)})"
    else:
        given = "all that it is given is bit-equal"
    partner = "" if change.before == change.after else f" (after: node {change.after.node_id})"
    return say(f"{what} is node ", NodeLink(change.before), f"{partner}{where}: "
               f"{_arguments(found.outputs)} {change.likeness}; {given}.")  # fmt: skip


def _arguments(changes: Sequence[ValueChange]) -> str:
    return ", ".join(
        f"argument {position}" for position in dict.fromkeys(c.position for c in changes)
    )


def _details(found: GraphValuesDiff) -> Iterator[Block]:
    yield say(
        f"Memory that nodes left: {counted(found.equal_count, 'range')} bit-equal, "
        f"{found.close_count:,} close, {found.different_count:,} different."
    )
    if found.first is not None:
        yield _table("What the first node left", found.first.outputs)
        if found.first.inputs:
            yield _table("What it was given", found.first.inputs)
    if found.inputs:
        yield _table("Memory that no node of the graph wrote", found.inputs)
    firsts = (found.first, found.first_beyond)
    changes = [*found.inputs, *(c for one in firsts if one for c in (*one.outputs, *one.inputs))]
    for why in dict.fromkeys(c.not_loaded for c in changes if c.not_loaded is not None):
        yield say(f"Elements were not counted: {why}", note=True)


def _likeness(change: ValueChange) -> str:
    """Return how alike contents are, with what that allows."""
    if change.tolerance is None:
        return f"{change.likeness} ({change.element}: only bit-equal counts)"
    return f"{change.likeness} ({change.element}: within 2^{math.log2(change.tolerance):.0f})"


def _elements(change: ValueChange) -> str:
    """Return how many elements differ, and by how much, where contents were kept."""
    by = change.largest_difference
    most = "" if by is None else f", by {rounded(by)} at most"
    return f"{integer(change.different_count)}{most}"


def _table(label: str, changes: Sequence[ValueChange]) -> TableBlock:
    columns = [
        column("Node"), numbers("#"), column("It is"), numbers("Elements that differ"),
        numbers("Mean before"), numbers("Mean after"), column("Written before by"),
        column("Written after by"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            NodeLink(c.before), str(c.position), _likeness(c), _elements(c),
            rounded(c.before_mean), rounded(c.after_mean), *(
                ", ".join(NodeLink(node).text for node in nodes[:_NAMED])
                for nodes in (c.before_writers, c.after_writers)
            ),
        ]
        for c in changes
    ]  # fmt: skip
    return table(label, columns, rows, brief=_BRIEF)

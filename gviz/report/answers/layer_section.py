"""Layers of the model by time, and one of them node by node."""

from __future__ import annotations

from gviz.analysis import GraphAnalysis, LayerWork
from gviz.errors import UsageError
from gviz.report.answers.basis import basis_sentences
from gviz.report.document import (
    Content,
    Document,
    NodeLink,
    Verdict,
    based,
    based_document,
    column,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.stats import NotComputed
from gviz.text import counted


def layers_document(graph: GraphAnalysis, title: str) -> Document:
    """Return the layers of a graph's model, the longest first.

    Raises
    ------
    UsageError
        If none are known.
    """
    found = graph.dominance
    layers = found if isinstance(found, NotComputed) else found.layers
    if isinstance(layers, NotComputed):
        raise UsageError(f"layers of graph {graph.graph_id} are not known: {layers.not_computed}")
    rows: list[list[Content]] = [
        [
            layers.name[at],
            number(layers.node_count[at], "measured"),
            ns(layers.total_ns[at], interval=layers.interval[at]),
            share(layers.fraction[at]),
        ]
        for at in layers.longest_first()
    ]
    columns = [column("Layer"), numbers("Nodes"), numbers("Time"), numbers("Share")]
    heading = "Layers of the model, the longest first"
    source = {
        "ranges": "Their NVTX ranges are numbered.",
        "repeats": "They are equal blocks of nodes that repeat.",
    }[layers.source]
    listed = section("layers", heading, say(source), table(heading, columns, rows))
    parts = (listed if isinstance(found, NotComputed) else based(listed, found.evidence),)
    return Document(title, (Verdict("", basis_sentences(graph), graph.doubts),), parts)


def layer_document(found: LayerWork, title: str) -> Document:
    """Return one layer, its nodes in the order in which they start."""
    total = ns(found.total_ns, interval=found.total_interval)
    sentence = say(
        f"{counted(len(found.nodes), 'node')} take ", total, ", ",
        share(found.total_ns / found.launch_ns if found.launch_ns else None),
        " of the time of all nodes of the median launch.",
    )  # fmt: skip
    rows: list[list[Content]] = [
        [NodeLink(node), ns(time, interval=interval)]
        for node, time, interval in zip(found.nodes, found.time_ns, found.interval, strict=True)
    ]
    heading = "Nodes in the order of their start"
    listed = table(heading, [column("Node"), numbers("Time")], rows)
    parts = (section("nodes", heading, listed),)
    document = Document(f"{title}: {found.name}", (Verdict("", (sentence,)),), parts)
    return based_document(document, found.evidence)

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
    """Return the layers of a graph's model in their order.

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
        [name, number(count, "measured"), ns(total), share(fraction)]
        for name, count, total, fraction in zip(
            layers.name, layers.node_count, layers.total_ns, layers.fraction, strict=True
        )
    ]
    columns = [column("Layer"), numbers("Nodes"), numbers("Time"), numbers("Share")]
    heading = "Layers of the model"
    source = {
        "ranges": "Their NVTX ranges are numbered.",
        "repeats": "They are equal blocks of nodes that repeat.",
    }[layers.source]
    listed = section("layers", heading, say(source), table(heading, columns, rows))
    parts = (listed if isinstance(found, NotComputed) else based(listed, found.evidence),)
    return Document(title, (Verdict("", basis_sentences(graph), graph.doubts),), parts)


def layer_document(found: LayerWork, title: str) -> Document:
    """Return one layer, its nodes in the order in which they start."""
    total = sum(found.time_ns)
    sentence = say(
        f"{counted(len(found.nodes), 'node')} take ", ns(total), ", ",
        share(total / found.launch_ns if found.launch_ns else None),
        " of the time of all nodes of the median launch.",
    )  # fmt: skip
    rows: list[list[Content]] = [
        [NodeLink(node), ns(time)] for node, time in zip(found.nodes, found.time_ns, strict=True)
    ]
    heading = "Nodes in the order of their start"
    listed = table(heading, [column("Node"), numbers("Time")], rows)
    parts = (section("nodes", heading, listed),)
    document = Document(f"{title}: {found.name}", (Verdict("", (sentence,)),), parts)
    return based_document(document, found.evidence)

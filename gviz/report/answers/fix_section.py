"""The verdict on a change: faster, the same, slower, or not to be told, with its interval."""

from __future__ import annotations

from gviz.checks import SAME_FRACTION, FixVerdict
from gviz.report.comparison import after, before, launch_evidence, shift
from gviz.report.document import Document, Verdict, based, say
from gviz.text import percent


def fix_document(found: FixVerdict, baseline: str, candidate: str) -> Document:
    """Return the verdict on a change; ``baseline`` and ``candidate``: names of the recordings."""
    launch, graph = found.graph.launch, found.graph
    first = {
        "faster": "Faster: a launch is shorter by more than noise",
        "slower": "Slower: a launch is longer by more than noise",
        "same": f"The same: the launch changed by less than {percent(SAME_FRACTION)}",
        "cannot tell": f"Cannot tell: {found.reason}",
    }[found.result]
    evidence = launch_evidence(graph)
    sentences = [say(f"{first}.")]
    if launch.change_ns is not None:
        sentences.append(
            based(say("A launch took ", before(launch), " before and takes ", after(launch),
                      ": ", shift(launch), "."), evidence)
        )  # fmt: skip
    caveats = tuple(
        f"{side}: node times contradict dependencies, times may stand on wrong nodes"
        for side in graph.contradicted
    )
    title = (
        f"{baseline}, graph {graph.before_graph_id}: {graph.before_name}, and {candidate}, graph "
        f"{graph.after_graph_id}: {graph.after_name}"
    )
    return Document(title, (Verdict("", tuple(sentences), caveats),), ())

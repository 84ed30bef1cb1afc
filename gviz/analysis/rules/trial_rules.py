"""Rules about repairs that only a trial can judge: no recorded time tells what they bring."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.analysis.rules.rule import Found, rule
from gviz.analysis.subject import GraphSubject


@rule(
    "implied-dependencies",
    title="dependencies that others imply, without which a launch is shorter",
    fix="Wait only for the last of what is needed: record one event where branches join, and add "
    "no edge to what another dependency already waits for.",
    source="trials of copies without them (gviz run --trials)",
    assumes="the copy that was tried takes what the program's executable would",
    trial="implied",
)
def implied_dependencies(subject: GraphSubject) -> Iterator[Found]:
    """Yield nothing: what they cost only a trial tells."""
    return iter(())


@rule(
    "creation-order",
    title="nodes that take less time where those on the longest ways are created first",
    fix="Launch the longest branch first when the graph is captured, or add its nodes first.",
    source="trials of copies whose nodes were created in that order (gviz run --trials)",
    assumes="the copy that was tried takes what the program's executable would",
    trial="order",
)
def creation_order(subject: GraphSubject) -> Iterator[Found]:
    """Yield nothing: what another order brings only a trial tells."""
    return iter(())


@rule(
    "serial-branches",
    title="branches that take more time side by side than one after the other",
    fix="Capture the work on one stream, without forks.",
    source="trials of copies with all nodes in one chain (gviz run --trials)",
    assumes="the copy that was tried takes what the program's executable would",
    trial="serial",
)
def serial_branches(subject: GraphSubject) -> Iterator[Found]:
    """Yield nothing: what one chain brings only a trial tells."""
    return iter(())

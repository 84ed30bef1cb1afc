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

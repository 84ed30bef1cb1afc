"""The first node whose output differs from launch to launch, though the memory before was equal."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.analysis.subject import GraphSubject
from gviz.analysis.values.value_finding import (
    ValueFinding,
    finding_of,
    named,
    which_argument,
)
from gviz.model import GraphValues

_FIX = (
    "Look for atomic additions of floating-point numbers, split-K products, clocks and random "
    "numbers in this kernel; torch.use_deterministic_algorithms(True) names operations that have "
    "others."
)


def varying(subject: GraphSubject, values: GraphValues) -> Iterator[ValueFinding]:
    """Yield the first node that a second launch of the same copy shows to vary."""
    for memory in values.given:
        if memory.after.varies:
            steady = not any(m.before.varies for m in values.by_node[memory.node])
            inputs = "all that it is given was" if steady else "not all that it is given was"
            reason = (
                f"{named(subject, memory.node)} wrote something else ({which_argument(memory)}) in "
                f"a second launch with the same memory; {inputs} bit-equal"
            )
            yield finding_of(subject, "varies", reason, _FIX, memory)
            return

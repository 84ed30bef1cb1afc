"""A raw trace: work of the GPU and calls of the host, as a profiler wrote them."""

from __future__ import annotations

from dataclasses import dataclass, field

#: A node by its executable and its number in it.
Node = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel, copy or memset that ran.

    Attributes
    ----------
    kind
        kernel, memcpy or memset.
    name
        The kernel's; of others empty.
    node
        None: of no graph, or the trace does not say.
    """

    kind: str
    name: str
    start_ns: int
    end_ns: int
    device: int
    stream: int
    correlation: int
    node: Node | None = None

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the host that launched a graph."""

    correlation: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependency; ``programmatic``: the head may start once the tail has started."""

    tail: int
    head: int
    programmatic: bool = False


@dataclass(slots=True)
class Raw:
    """A trace.

    Attributes
    ----------
    launches
        Calls that launched graphs.
    edges
        By executable, where the source has them.
    """

    work: list[Work] = field(default_factory=list)
    launches: list[Call] = field(default_factory=list)
    edges: dict[int, list[Edge]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Launch:
    """A graph launch, and what ran in it; ``call``: None where the trace lacks it."""

    correlation: int
    executable: int | None
    call: Call | None
    work: tuple[Work, ...]

    @property
    def start_ns(self) -> int:
        return min(work.start_ns for work in self.work)

    @property
    def end_ns(self) -> int:
        return max(work.end_ns for work in self.work)


def launches_of(raw: Raw) -> list[Launch]:
    """Return the launches that ran anything, by when they began on the GPU.

    Work is of a graph if it names a node, or the call of its correlation id launched one. Work in
    bodies of conditional nodes names no call (correlation id 0): it is of the latest launch of its
    executable that had begun.
    """
    calls = {call.correlation: call for call in raw.launches}
    groups: dict[tuple[int | None, int], list[Work]] = {}
    homeless = []
    for work in sorted(raw.work, key=lambda w: w.start_ns):
        executable = None if work.node is None else work.node[0]
        if work.correlation and (work.node is not None or work.correlation in calls):
            groups.setdefault((executable, work.correlation), []).append(work)
        elif work.node is not None:
            homeless.append(work)
    firsts = sorted((min(w.start_ns for w in mine), key) for key, mine in groups.items())
    for work in homeless:
        begun = [key for at, key in firsts if at <= work.start_ns and work.node is not None
                 and key[0] == work.node[0]]  # fmt: skip
        if begun:
            groups[begun[-1]].append(work)
    found = [
        Launch(correlation, executable, calls.get(correlation), tuple(work))
        for (executable, correlation), work in groups.items()
    ]
    return sorted(found, key=lambda launch: launch.start_ns)


def outside_graphs(raw: Raw) -> list[Work]:
    """Return the work that is of no graph, by start."""
    graphs = {call.correlation for call in raw.launches}
    eager = [w for w in raw.work if w.node is None and w.correlation not in graphs]
    return sorted(eager, key=lambda w: (w.start_ns, w.end_ns))

"""A cycle among dependencies, which no CUDA graph can have: found and described."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: Nodes of a cycle that are named; of longer ones the first and how many there are.
_NAMED = 6
#: Longest name in a sentence; the middle of a longer one is left out.
_NAME_LIMIT = 48


def find_cycle(node_count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """Return the nodes of one cycle in the order of its edges, the first not repeated.

    Parameters
    ----------
    node_count
        Number of nodes.
    edges
        Indices of the dependency and the dependent of each edge.

    Returns
    -------
    list of int
        Empty without a cycle. The node with the lowest index comes first.
    """
    before: list[list[int]] = [[] for _ in range(node_count)]
    waiting = [0] * node_count
    after: list[list[int]] = [[] for _ in range(node_count)]
    for source, target in edges:
        before[target].append(source)
        after[source].append(target)
        waiting[target] += 1
    ready = [n for n in range(node_count) if not waiting[n]]
    for node in ready:
        for dependent in after[node]:
            waiting[dependent] -= 1
            if not waiting[dependent]:
                ready.append(dependent)
    held = next((n for n in range(node_count) if waiting[n]), None)
    if held is None:
        return []
    # What never becomes ready waits for another of the kind: going back must come round.
    seen: dict[int, int] = {}
    way: list[int] = []
    node = held
    while node not in seen:
        seen[node] = len(way)
        way.append(node)
        node = next(n for n in before[node] if waiting[n])
    cycle = way[seen[node] :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def describe_cycle(names: Sequence[str]) -> str:
    """Return a cycle in words.

    Examples
    --------
    >>> describe_cycle(["a", "b"])
    'a → b → a'
    """
    short = [_shortened(name) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        return f"{' → '.join(short)} → … → {short[0]} ({len(names)} nodes)"
    return " → ".join([*short, short[0]])


def _shortened(name: str) -> str:
    if len(name) <= _NAME_LIMIT:
        return name
    half = _NAME_LIMIT // 2
    return f"{name[: half - 1]}…{name[-half:]}"

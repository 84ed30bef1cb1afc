"""DOT text of a graph with other numbers for its nodes, in an order that respects the edges."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gviz.formats.dot.export import to_dot
from gviz.recording.reader import Recording


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a graph: its DOT text, and what each node waits for."""

    graph_id: int
    text: str
    before: Mapping[int, frozenset[int]]

    @classmethod
    def read(cls, recording: Recording, graph_id: int) -> Level:
        """Read a level once, for any number of renumberings."""
        return cls(graph_id, to_dot(recording, graph_id), read_dependencies(recording, graph_id))

    def renumber(self, target: Path, seed: int) -> dict[int, int]:
        """Write the text with other numbers; return them, by the old ones."""
        numbers = order_by_chance(self.before, seed)
        target.write_text(with_numbers(self.text, self.graph_id, numbers))
        return numbers


def read_dependencies(recording: Recording, graph_id: int) -> dict[int, frozenset[int]]:
    """Return the nodes that each node of a level waits for."""
    graph = next(g for g in recording.fetch_graphs() if g.graph_id == graph_id)
    before: dict[int, set[int]] = {node.node_id: set() for node in recording.fetch_nodes(graph_id)}
    if graph.topology_id is not None:
        edges = recording.fetch_edges(graph.topology_id)
        for tail, head in zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True):
            before[head].add(tail)
    return {node: frozenset(found) for node, found in before.items()}


def order_by_chance(before: Mapping[int, frozenset[int]], seed: int) -> dict[int, int]:
    """Return a new number for each node, by the old one: each after its dependencies."""
    source = random.Random(seed)
    left = {node: set(found) for node, found in before.items()}
    after: dict[int, set[int]] = {node: set() for node in before}
    for head, tails in before.items():
        for tail in tails:
            after[tail].add(head)
    ready = [node for node, found in left.items() if not found]
    found: dict[int, int] = {}
    while ready:
        node = ready.pop(source.randrange(len(ready)))
        found[node] = len(found)
        for head in sorted(after[node]):
            left[head].discard(node)
            if not left[head]:
                ready.append(head)
    return found


def new_order(recording: Recording, graph_id: int, seed: int) -> dict[int, int]:
    """Return a new number for each node of a level, by the old one: each after its dependencies."""
    return order_by_chance(read_dependencies(recording, graph_id), seed)


def renumbered_dump(path: Path, target: Path, graph_id: int, seed: int) -> dict[int, int]:
    """Write the DOT text of a graph with other numbers; return them, by the old ones."""
    with Recording(path) as recording:
        return Level.read(recording, graph_id).renumber(target, seed)


def with_numbers(text: str, graph_id: int, numbers: Mapping[int, int]) -> str:
    """Return DOT text with other numbers of a level's nodes, which stand in their order."""
    name = re.compile(rf"\bgraph_{graph_id}_node_(\d+)\b")
    own = re.compile(rf"graph_{graph_id}_node_(\d+) \[tooltip")
    lines = [
        name.sub(lambda m: f"graph_{graph_id}_node_{numbers[int(m[1])]}", line)
        for line in text.splitlines()
    ]
    lines = [
        re.sub(r"(?<=gviz_parent=)\d+", lambda m: str(numbers.get(int(m[0]), m[0])), line)
        for line in lines
    ]
    nodes = sorted(
        (line for line in lines if own.match(line)), key=lambda line: int(own.match(line)[1])
    )
    at = iter(nodes)
    return "\n".join(next(at) if own.match(line) else line for line in lines) + "\n"

"""Graphs with random edits of known truth, and how well a matching finds it.

An :class:`Edits` copies a graph and changes it as a program's next version would: nodes come, go,
are renamed, fused and split, layers are added, branches are captured in another order. It keeps
which node of the edited graph stands for which of the first. :func:`judge` compares a matching
with that.

What cannot be known
--------------------
Where equal layers or lanes follow each other, nothing tells which of them was added or which
is which. A wrong pair therefore counts as right where the matching, in the part where it
differs from the truth, explains the two graphs with no more edits than the truth does: nodes
without a partner, partners that differ, edges that one graph has alone. Both figures are given:
``strict`` ones without this rule.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from recordings import Shape

from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.pairing.compared_graph import ComparedGraph
from gviz.cuda.node_type import NodeType
from gviz.recording.reader import Recording

#: Tried so often to find a place where an edit can be made.
_TRIES = 50


@dataclass(frozen=True, slots=True)
class EditedNode:
    """The work of a node."""

    type: int
    name: str
    grid: tuple[int, ...] = (1, 1, 1)
    block: tuple[int, ...] = (256, 1, 1)
    bytes: int = -1
    context: str = ""


@dataclass
class EditableGraph:
    """Nodes by a key of their own, edges by node, and the order of creation."""

    nodes: dict[int, EditedNode] = field(default_factory=dict)
    before: dict[int, list[int]] = field(default_factory=dict)
    after: dict[int, list[int]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    _next: int = 0

    def add(self, node: EditedNode, after: Iterable[int] = (), beside: int | None = None) -> int:
        """Add a node that waits for others, created behind ``beside`` (None: last)."""
        key, self._next = self._next, self._next + 1
        self.nodes[key], self.before[key], self.after[key] = node, [], []
        at = len(self.order) if beside is None else self.order.index(beside) + 1
        self.order.insert(at, key)
        for other in after:
            self.link(other, key)
        return key

    def link(self, tail: int, head: int) -> None:
        """Add an edge; one that is there stays single."""
        if head not in self.after[tail]:
            self.after[tail].append(head)
            self.before[head].append(tail)

    def unlink(self, tail: int, head: int) -> None:
        """Take an edge away."""
        self.after[tail].remove(head)
        self.before[head].remove(tail)

    def remove(self, key: int) -> None:
        """Take a node and its edges away."""
        for other in list(self.before[key]):
            self.unlink(other, key)
        for other in list(self.after[key]):
            self.unlink(key, other)
        del self.nodes[key], self.before[key], self.after[key]
        self.order.remove(key)

    def copy(self) -> EditableGraph:
        """Return a copy with the same keys."""
        return EditableGraph(
            dict(self.nodes),
            {k: list(v) for k, v in self.before.items()},
            {k: list(v) for k, v in self.after.items()},
            list(self.order),
            self._next,
        )

    def reaches(self, tail: int, head: int, without: tuple[int, int] | None = None) -> bool:
        """Return whether a node depends on another, one edge left aside."""
        stack, seen = [tail], {tail}
        while stack:
            at = stack.pop()
            for other in self.after[at]:
                if (at, other) == without:
                    continue
                if other == head:
                    return True
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return False

    def sort(self) -> None:
        """Make the order of creation topological again, with as little change as that takes."""
        place = {key: i for i, key in enumerate(self.order)}
        waiting = {key: len(self.before[key]) for key in self.nodes}
        ready = [(place[key], key) for key in self.nodes if not waiting[key]]
        heapq.heapify(ready)
        self.order = []
        while ready:
            key = heapq.heappop(ready)[1]
            self.order.append(key)
            for other in self.after[key]:
                waiting[other] -= 1
                if not waiting[other]:
                    heapq.heappush(ready, (place[other], other))
        assert len(self.order) == len(self.nodes)

    def to_compared(self) -> ComparedGraph:
        """Return the graph as it is compared; node i is ``order[i]``."""
        place = {key: i for i, key in enumerate(self.order)}
        nodes = [self.nodes[key] for key in self.order]
        edges = [(place[a], place[b]) for a in self.order for b in self.after[a]]
        table = np.array(edges, np.int64).reshape(-1, 2)
        return ComparedGraph(
            node_id=np.arange(len(nodes)) + 1_000,
            type=np.array([n.type for n in nodes], np.int64),
            name=tuple(n.name for n in nodes),
            title=tuple(n.name.split("(")[0] for n in nodes),
            grid=np.array([n.grid for n in nodes], np.int64).reshape(-1, 3),
            block=np.array([n.block for n in nodes], np.int64).reshape(-1, 3),
            bytes=np.array([n.bytes for n in nodes], np.int64),
            context=tuple(n.context for n in nodes),
            source=table[:, 0].copy(),
            target=table[:, 1].copy(),
            edge_type=np.zeros(len(table), np.int64),
        )


def from_shape(shape: Shape) -> EditableGraph:
    """Return a synthetic shape (tests/recordings.py)."""
    graph, keys = EditableGraph(), list[int]()
    for work in shape.works:
        kernel = work.type is NodeType.KERNEL
        node = EditedNode(
            int(work.type),
            work.name,
            (work.grid_x, 1, 1) if kernel else (-1, -1, -1),
            (work.block_x, 1, 1) if kernel else (-1, -1, -1),
            -1 if work.bytes is None else work.bytes,
            work.nvtx or "",
        )
        keys.append(graph.add(node, [keys[i] for i in work.after]))
    return graph


def from_recording(path: Path, graph_id: int = 1) -> EditableGraph:
    """Return a graph of a recording."""
    with Recording(path) as recording:
        found = ComparedTree(recording, graph_id).graph(graph_id)
    graph = EditableGraph()
    for i in range(len(found)):
        grid, block = tuple(found.grid[i].tolist()), tuple(found.block[i].tolist())
        of = (int(found.type[i]), found.name[i], grid, block, int(found.bytes[i]))
        graph.add(EditedNode(*of, found.context[i]))
    for a, b in zip(found.source.tolist(), found.target.tolist(), strict=True):
        graph.link(a, b)
    return graph


def streams_graph(count: int, width: int = 6, seed: int = 5) -> EditableGraph:
    """Return kernels on ``width`` streams that wait for each other here and there."""
    source, graph = random.Random(seed), EditableGraph()
    last: dict[int, int] = {}
    for _ in range(count):
        stream = source.randrange(width)
        after = [last[stream]] if stream in last else []
        other = source.randrange(width)
        if source.random() < 0.2 and other != stream and other in last:
            after.append(last[other])
        grid = (source.choice([1, 8, 64, 132, 512]), 1, 1)
        last[stream] = graph.add(EditedNode(0, f"kernel_{source.randrange(14)}", grid), after)
    return graph


class Edits:
    """A graph, edited.

    Attributes
    ----------
    base, graph
        The graph before and after.
    stands
        For each node after: those before that it may be taken for.
    """

    def __init__(self, base: EditableGraph, seed: int) -> None:
        self.base, self.graph = base, base.copy()
        self.stands: dict[int, set[int]] = {key: {key} for key in base.nodes}
        self._source = random.Random(seed)

    def make(self, kinds: Iterable[str], count: int) -> None:
        """Make ``count`` edits, each of a random one of the kinds."""
        edits: dict[str, Callable[[], None]] = {
            "insert": self.insert, "delete": self.delete, "rename": self.rename,
            "reshape": self.reshape, "fuse": self.fuse, "split": self.split, "swap": self.swap,
        }  # fmt: skip
        chosen = [edits[kind] for kind in kinds]
        for _ in range(count):
            self._source.choice(chosen)()

    def insert(self) -> None:
        """Add a node on an edge or beside it: a kernel that is new, or one more of another."""
        graph, at = self.graph, self._any()
        node = replace(graph.nodes[self._any()], context="")
        if self._source.random() < 0.5:
            node = EditedNode(0, self._new_name("inserted"), (self._source.randrange(1, 500), 1, 1))
        new = graph.add(node, [at], beside=at)
        if graph.after[at][:-1]:
            head = self._source.choice(graph.after[at][:-1])
            if self._source.random() < 0.8:
                graph.unlink(at, head)
            graph.link(new, head)
        self.stands[new] = set()
        graph.sort()

    def delete(self) -> None:
        """Take a node away; what waited for it waits for what it waited for."""
        graph, key = self.graph, self._any()
        before, after = list(graph.before[key]), list(graph.after[key])
        graph.remove(key)
        for a in before:
            for b in after:
                if min(len(before), len(after)) == 1 or not graph.reaches(a, b):
                    graph.link(a, b)
        self.stands.pop(key, None)

    def rename(self) -> None:
        """Run another kernel: a next version, or one whose name shares nothing."""
        self._change(self._any(), lambda n: replace(n, name=self._next_name(n.name, "_v2")))

    def rename_everywhere(self) -> None:
        """Run another kernel wherever one is run."""
        name = self.graph.nodes[self._any()].name
        new = self._next_name(name, "_sm90")
        for key, node in self.graph.nodes.items():
            if node.name == name:
                self._change(key, lambda n: replace(n, name=new))

    def reshape(self) -> None:
        """Launch twice as many blocks."""
        self._change(self._any(), lambda n: replace(n, grid=(2 * n.grid[0], *n.grid[1:])))

    def fuse(self) -> None:
        """Make one kernel of two that follow each other."""
        graph = self.graph
        for _ in range(_TRIES):
            a = self._any()
            b = self._source.choice(graph.after[a]) if graph.after[a] else None
            if b is not None and not graph.reaches(a, b, without=(a, b)):
                break
        else:
            return
        names = [self._new_name("fused"), graph.nodes[a].name, graph.nodes[b].name]
        names.append(f"{names[1]}_{names[2]}")
        before = [*graph.before[a], *(x for x in graph.before[b] if x != a)]
        after = [*(x for x in graph.after[a] if x != b), *graph.after[b]]
        new = graph.add(replace(graph.nodes[a], name=self._source.choice(names)), beside=a)
        self.stands[new] = self.stands.pop(a) | self.stands.pop(b)
        graph.remove(a)
        graph.remove(b)
        for x in before:
            graph.link(x, new)
        for x in after:
            graph.link(new, x)
        graph.sort()

    def split(self) -> None:
        """Make two kernels of one."""
        graph, key = self.graph, self._any()
        node, before, after = graph.nodes[key], graph.before[key][:], graph.after[key][:]
        one = graph.add(replace(node, name=self._next_name(node.name, "_part1")), beside=key)
        last_name = node.name if self._source.random() < 0.5 else self._new_name("part")
        two = graph.add(replace(node, name=last_name), beside=one)
        stands = self.stands.pop(key)
        self.stands[one], self.stands[two] = set(stands), set(stands)
        graph.remove(key)
        for x in before:
            graph.link(x, one)
        graph.link(one, two)
        for x in after:
            graph.link(two, x)
        graph.sort()

    def swap(self) -> None:
        """In a chain: let two neighbouring stretches of one to three nodes change places."""
        graph = self.graph
        for _ in range(_TRIES):
            sizes = self._source.randrange(1, 4), self._source.randrange(1, 4)
            chain = [self._any()]
            while len(chain) < sum(sizes) + 2 and len(graph.after[chain[-1]]) == 1:
                chain.append(graph.after[chain[-1]][0])
            if (
                len(chain) == sum(sizes) + 2
                and all(len(graph.before[x]) == 1 for x in chain[1:])
                and all(len(graph.after[x]) == 1 for x in chain[:-1])
            ):
                break
        else:
            return
        inner = chain[1:-1]
        turned = [chain[0], *inner[sizes[0] :], *inner[: sizes[0]], chain[-1]]
        for a, b in pairwise(chain):
            graph.unlink(a, b)
        for a, b in pairwise(turned):
            graph.link(a, b)
        at = graph.order.index(inner[0])
        for key in inner:
            graph.order.remove(key)
        graph.order[at:at] = turned[1:-1]
        graph.sort()

    def add_layer(self, layer: list[int], following: list[int]) -> None:
        """Repeat the nodes of a layer right after it.

        ``following`` is the layer after it, node by node: what it waits for in the layer, the new
        one does, and it waits for the new one instead.
        """
        graph, inside = self.graph, set(layer)
        leaving = [(a, b) for a in layer for b in graph.after[a] if b not in inside]
        copies: dict[int, int] = {}
        last = layer[-1]
        for key in layer:
            copies[key] = last = graph.add(graph.nodes[key], beside=last)
            self.stands[last] = set()
        for key, next_key in zip(layer, following, strict=True):
            for other in graph.before[key]:
                if other in inside:
                    graph.link(copies[other], copies[key])
            for other in graph.before[next_key]:
                if other in inside:
                    graph.link(other, copies[key])
        for a, b in leaving:
            graph.unlink(a, b)
            graph.link(copies[a], b)
        graph.sort()

    def remove_layer(self, layer: list[int], following: list[int]) -> None:
        """Take the nodes of a layer away; the next one waits for what it waited for."""
        graph, inside = self.graph, set(layer)
        for key, next_key in zip(layer, following, strict=True):
            for other in graph.before[key]:
                if other not in inside:
                    graph.link(other, next_key)
        for key in layer:
            graph.remove(key)
            self.stands.pop(key, None)
        graph.sort()

    def reorder(self) -> None:
        """Let independent branches be created in a random order."""
        graph = self.graph
        waiting = {key: len(graph.before[key]) for key in graph.nodes}
        ready = [key for key in graph.order if not waiting[key]]
        graph.order = []
        while ready:
            key = ready.pop(self._source.randrange(len(ready)))
            graph.order.append(key)
            for other in graph.after[key]:
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)

    def _any(self) -> int:
        return self._source.choice(self.graph.order)

    def _change(self, key: int, how: Callable[[EditedNode], EditedNode]) -> None:
        self.graph.nodes[key] = how(self.graph.nodes[key])

    def _new_name(self, word: str) -> str:
        return f"{word}_{self._source.randrange(10**6)}"

    def _next_name(self, name: str, ending: str) -> str:
        return name + ending if self._source.random() < 0.5 else self._new_name("rewritten")


# -- judging ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quality:
    """Precision and recall of a matching, 0..1; see the module about ``strict``."""

    precision: float
    recall: float
    strict_precision: float
    strict_recall: float

    @property
    def worst(self) -> float:
        """The smaller of precision and recall."""
        return min(self.precision, self.recall)


def judge(edits: Edits, partner: np.ndarray) -> Quality:
    """Return how well a matching found the truth.

    Parameters
    ----------
    edits
        The edited graph.
    partner
        For each node of ``edits.base.to_compared()`` its partner in
        ``edits.graph.to_compared()``, -1: none.
    """
    base, graph = edits.base, edits.graph
    found = {base.order[i]: graph.order[j] for i, j in enumerate(partner.tolist()) if j >= 0}
    truth, either = _truth(edits)
    judged = {(a, b) for a, b in found.items() if a not in either.get(b, ())}
    wrong = {(a, b) for a, b in judged if truth.get(a) != b}
    missed = {(a, b) for a, b in truth.items() if found.get(a) != b}
    # Where either would do, the truth is what was found.
    whole = truth | {a: b for a, b in found.items() if a in either.get(b, ())}
    excused, found_so = 0, 0
    for before, after in _parts(base, graph, wrong | missed):
        other = {a: b for a, b in whole.items() if a not in before and b not in after}
        other |= {a: b for a, b in found.items() if a in before and b in after}
        if _cost(edits, other, before, after) <= _cost(edits, whole, before, after):
            excused += sum(a in before for a, _ in wrong)
            found_so += sum(a in before for a, _ in missed)
    pairs, right = max(1, len(judged)), len(judged) - len(wrong)
    there, met = max(1, len(truth)), len(truth) - len(missed)
    return Quality((right + excused) / pairs, (met + found_so) / there, right / pairs, met / there)


def _truth(edits: Edits) -> tuple[dict[int, int], dict[int, set[int]]]:
    """Return the pairs that must be found, and for other nodes after, partners that may be."""
    uses: dict[int, int] = {}
    for stands in edits.stands.values():
        for key in stands:
            uses[key] = uses.get(key, 0) + 1
    truth, either = {}, {}
    for after, stands in edits.stands.items():
        if len(stands) == 1 and uses[min(stands)] == 1:
            truth[min(stands)] = after
        elif stands:
            either[after] = stands
    return truth, either


def _parts(
    base: EditableGraph, graph: EditableGraph, pairs: set[tuple[int, int]]
) -> list[tuple[set[int], set[int]]]:
    """Return the nodes in question, those together that hang together by pairs or edges."""
    near: dict[tuple[bool, int], set[tuple[bool, int]]] = {}
    for a, b in pairs:
        near.setdefault((False, a), set()).add((True, b))
        near.setdefault((True, b), set()).add((False, a))
    for side, key in list(near):
        of = graph if side else base
        for other in (*of.before[key], *of.after[key]):
            if (side, other) in near:
                near[side, key].add((side, other))
    parts, seen = [], set[tuple[bool, int]]()
    for start in near:
        stack, part = [start], set[tuple[bool, int]]()
        while stack:
            at = stack.pop()
            if at not in seen:
                seen.add(at)
                part.add(at)
                stack += near[at]
        if part:
            parts.append(({k for s, k in part if not s}, {k for s, k in part if s}))
    return parts


def _cost(edits: Edits, pairs: dict[int, int], before: set[int], after: set[int]) -> float:
    """Return how many edits a matching takes at some nodes."""
    base, graph = edits.base, edits.graph
    back = {b: a for a, b in pairs.items()}
    found = float(sum(a not in pairs for a in before) + sum(b not in back for b in after))
    for a in before & pairs.keys():
        one, two = base.nodes[a], graph.nodes[pairs[a]]
        found += 2 * (one.type != two.type) + (one.name != two.name)
        found += 0.5 * ((one.grid, one.block) != (two.grid, two.block))
        found += 0.5 * (one.bytes != two.bytes)
    for nodes, of, to, other in ((before, base, pairs, graph), (after, graph, back, base)):
        edges = {(a, b) for a in nodes for b in of.after[a]}
        edges |= {(b, a) for a in nodes for b in of.before[a]}
        for a, b in edges:
            found += not (a in to and b in to and to[b] in other.after[to[a]])
    return found

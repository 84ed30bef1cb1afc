"""Records of nodes as columns: all that the inspector says of them.

Those of one node when it is selected, of many in a saved file. assets/web/inspector/records.js
takes them apart, and the modules beside it say them.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gviz.app.components import Addresses, Coded, coded_column, coded_rows, sentence
from gviz.app.files import Library
from gviz.app.inspector.bodies import body_lines, body_times
from gviz.app.inspector.copy_direction import copy_direction
from gviz.app.inspector.life import edges_note, why_no_edges
from gviz.app.inspector.node_values import value_records
from gviz.app.inspector.released import ReleaseFact, release_facts
from gviz.app.inspector.spread import DurationSpread
from gviz.app.views import (
    GraphView,
    Grouped,
    body_view,
    eager_durations,
    eager_ranges,
    neighbours,
    shared_ranges,
)
from gviz.cuda import NodeType, node_type_name, not_timed_reason
from gviz.errors import CycleError
from gviz.families import kernel_label
from gviz.model import (
    FittedParameters,
    GraphValues,
    KernelArgument,
    TreeLevel,
    call_line,
    is_failed,
    own_frame,
    read_declared,
    read_graph_values,
    read_level,
    read_node,
    read_node_durations,
    read_spans_in_parts,
)
from gviz.recording import Recording, rows, table_of
from gviz.stats import IntArray

#: Neighbours named; of more there is the count.
LISTED = 12

Columns = dict[str, Any]

#: What is said of an argument: as signatures have it, its value, and what told the type.
_WORDS = ("text", "number", "known_by")
#: Columns that an argument is made of: where it stands, its size, and what a KernelArgument takes.
_OF_ARGUMENT = (
    "position", "size_bytes", "value", "allocation_address", "allocation_bytes", "offset_bytes",
)  # fmt: skip
_ALLOCATING = (NodeType.MEM_ALLOC, NodeType.MEM_FREE)


#: Spans read at a time.
_SPANS = 2_000_000


class NodeRecords:
    """Records of the nodes of a graph and of the bodies in it.

    Parameters
    ----------
    library, file, view
        Which graph.
    addresses
        Of the graphs that the records lead to.
    """

    def __init__(self, library: Library, file: str, view: GraphView, addresses: Addresses) -> None:
        self.library = library
        self.file = file
        self.view = view
        self.addresses = addresses

    @property
    def recording(self) -> Recording:
        """The recording."""
        return self.library.file(self.file).recording

    @cached_property
    def releases(self) -> dict[tuple[int, int], list[ReleaseFact]]:
        """Facts of what frees the memory that nodes allocate, by (graph, node)."""
        return release_facts(self.recording.fetch_allocations(self.view.run.run_id))

    @cached_property
    def parameters(self) -> FittedParameters:
        """Parameters of the run's kernels."""
        return FittedParameters(read_declared(self.recording, self.view.run.run_id))

    @cached_property
    def values(self) -> GraphValues:
        """Values that were read of the memory that nodes are given."""
        tree = self.view.tree
        if not self.library.shows_values:
            return GraphValues(None, (), ())
        return self.library.file(self.file).keep(
            ("values", tree.graph.graph_id), lambda: read_graph_values(self.recording, tree)
        )

    def one(self, node: int) -> Columns:
        """Return the record of a node, by its index in the tree.

        ``run``, ``timed_count``, ``inflation`` (a sentence or null) and ``levels``: the columns of
        the nodes of a level, numbers as texts of digits where JavaScript has none so large.
        """
        durations = read_node_durations(self.recording, self.view.tree, node)
        spread = DurationSpread(1)
        spread.add(np.zeros(len(durations), np.int64), durations)
        return self._columns(node, node + 1, spread, node)

    def in_parts(self, count: int) -> Iterator[Columns]:
        """Yield the records of all nodes, ``count`` at a time."""
        tree = self.view.tree
        spans = sum(launch.span_count for launch in self.view.recorded_launches)
        spread = DurationSpread(len(tree))
        for part in read_spans_in_parts(self.recording, tree, 1 + spans // _SPANS):
            spread.add(part.node, part.duration_ns)
        for first in range(0, len(tree), count):
            yield self._columns(first, min(first + count, len(tree)), spread, 0)

    def _columns(self, first: int, end: int, spread: DurationSpread, shift: int) -> Columns:
        """Return the records from one index to before another; ``spread`` begins at ``shift``."""
        found = []
        for level in self.view.tree.levels:
            begin, stop = max(first, level.first), min(end, level.end)
            if begin < stop:
                part = spread.part(begin - shift, stop - shift)
                found.append(_Level(self, level, begin, stop).to_columns() | {"spread": part})
        inflation = self.view.inflation
        return {
            "run": self.view.run.name,
            "timed_count": self.view.timed_count,
            "inflation": None if inflation is None else sentence(inflation.to_text()),
            "levels": found,
        }


class _Level:
    """Some nodes of a level that follow each other: from an index of the tree to before another."""

    def __init__(self, of: NodeRecords, level: TreeLevel, first: int, end: int) -> None:
        self._of = of
        self._tree = of.view.tree
        self._level = level
        self._nodes = range(first, end)
        self._view = body_view(of.library, of.file, of.view, level.at)
        self._ids: list[int] = self._tree.nodes[first:end].integers("node_id").tolist()
        self._stacks: dict[int, Sequence[rows.Location]] = {}

    def to_columns(self) -> Columns:
        """Return the columns."""
        names, nodes = self._fetch(rows.Node)
        at = {name: place for place, name in enumerate(names)}
        kinds = [row[at["type"]] for row in nodes]
        words = {kind: node_type_name(kind) for kind in set(kinds)}
        texts = [row[at["name"]] for row in nodes]
        labels = {text: kernel_label(text) for text in set(texts)}
        functions = self._functions(dict.fromkeys(row[at["function_id"]] for row in nodes))
        measured = self._statistics()
        nvtx = self._ranges()
        found = {
            **self._about(),
            "count": len(nodes),
            "key": self._tree.key[self._slice].tolist(),
            "node": coded_rows(names, nodes),
            "kind": coded_column([words[kind] for kind in kinds]),
            "label": coded_column([labels[text] for text in texts]),
            "direction": coded_column(_directions([row[at["copy_kind"]] for row in nodes])),
            "functions": functions,
            "statistics": coded_rows(*measured),
            "share": coded_column(_listed(self._tree.times.share[self._slice])),
            "untimed": self._untimed(nodes, at, measured),
            "nvtx": coded_column(nvtx),
            "nvtx_from": coded_column(self._sources_of_ranges()),
            "module": coded_column(self._view.parts.words(self._nodes)),
            **self._arguments(),
            "parameters": self._parameters(),
            "values": self._values(),
            **self._forward(),
            **self._eager(nvtx),
            "bodies": self._bodies(),
            "released": self._released(kinds),
            **self._neighbours(),
        }
        for row in nodes:
            self._keep_stack(row[at["stack_id"]])
        return found | {"stacks": {str(k): _stack(v) for k, v in self._stacks.items()}}

    @property
    def _slice(self) -> slice:
        return slice(self._nodes.start, self._nodes.stop)

    def _fetch(self, row: type) -> tuple[list[str], list[tuple[Any, ...]]]:
        names = [c.name for c in table_of(row).columns]
        found = self._of.recording.fetch_rows_of_nodes(
            row, self._level.graph.graph_id, self._ids[0], self._ids[-1]
        )
        return names, found

    def _about(self) -> Columns:
        """Return what is known of the level."""
        place, graph = None, self._level.graph
        if self._level.at:
            href = self._of.addresses.graph(self._of.file, graph.graph_id)
            place = [self._tree.path_of(self._level.at), href]
        known = self._view.edge_count is not None
        note = edges_note(graph) if known else None
        return {
            "graph": self._view.titles.get(graph.graph_id, graph.name),
            "place": place,
            "at": self._level.at,
            # Only table and timeline have the nodes of a body whose parent node is not recorded.
            "drawn": bool(self._tree.top[self._nodes.start] >= 0),
            "edges_unknown": None if known else f"Unknown: {why_no_edges(self._view.root)}.",
            "edges_note": None if note is None else sentence(note),
            "memory_unknown": self._has_cycle(),
        }

    def _has_cycle(self) -> bool:
        """Return whether dependencies form a cycle, so that no order says who has memory when."""
        opened = self._of.library.file(self._of.file)
        try:
            read_level(opened.recording, self._tree, self._level.at, opened.keep)
        except CycleError:  # the graph's place says which nodes
            return True
        return False

    def _functions(self, ids: Iterable[int | None]) -> Columns:
        known = self._view.functions
        return {str(i): _row(known[i]) for i in ids if i is not None and i in known}

    def _statistics(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the rows of statistics, one a node: of nothing but None where it has none."""
        names, found = self._fetch(rows.NodeStatistics)
        at = names.index("node_id")
        by_node = {row[at]: row for row in found}
        none = (None,) * len(names)
        return names, [by_node.get(node_id, none) for node_id in self._ids]

    def _untimed(
        self,
        nodes: Sequence[tuple[Any, ...]],
        at: Mapping[str, int],
        measured: tuple[list[str], list[tuple[Any, ...]]],
    ) -> Coded:
        """Return why each node has no time; None: it has one."""
        own, kind = at["not_timed_reason"], at["type"]
        why: dict[tuple[str | None, int], str] = {}
        found: list[str | None] = []
        for row, timed in zip(nodes, measured[1], strict=True):
            if timed[0] is not None:
                found.append(None)
                continue
            key = row[own], row[kind]
            if key not in why:
                why[key] = _why_untimed(self._view, *key)
            found.append(why[key])
        return coded_column(found)

    def _ranges(self) -> list[str | None]:
        paths = self._tree.nodes[self._slice].listed("nvtx_path_id")
        known = self._view.nvtx
        return [None if path is None else known.get(path) for path in paths]

    def _sources_of_ranges(self) -> list[str | None]:
        """Return how the ranges of each node are known; None: they were open around it."""
        tree = self._tree
        marks = zip(
            tree.has_range_of_forward[self._slice].tolist(),
            tree.has_range_of_capture[self._slice].tolist(),
            strict=True,
        )
        return ["forward" if f else "capture" if c else None for f, c in marks]

    def _arguments(self) -> Columns:
        names, found = self._fetch(rows.Argument)
        at, value = names.index("node_id"), names.index("value")
        by_node: dict[int, list[tuple[Any, ...]]] = {node_id: [] for node_id in self._ids}
        for row in found:
            if row[at] in by_node:
                by_node[row[at]].append(row)
        plain = [(*row[:value], row[value].hex(), *row[value + 1 :]) for given in by_node.values()
                 for row in given]  # fmt: skip
        return {
            "arguments": coded_rows(names, plain),
            "argument_count": coded_column([len(given) for given in by_node.values()]),
            "argument_words": coded_rows(_WORDS, self._argument_words(names, by_node)),
        }

    def _argument_words(
        self, names: Sequence[str], by_node: Mapping[int, Sequence[tuple[Any, ...]]]
    ) -> list[tuple[str | None, ...]]:
        """Return what types and names tell of each argument: _WORDS."""
        functions = self._tree.nodes[self._slice].listed("function_id")
        position, size, value, *rest = (names.index(name) for name in _OF_ARGUMENT)
        words: list[tuple[str | None, ...]] = []
        for given, function_id in zip(by_node.values(), functions, strict=True):
            sizes = {row[position]: row[size] for row in given}
            parameters = self._of.parameters.of(function_id, sizes)
            for row in given:
                parameter = parameters[row[position]]
                argument = KernelArgument(parameter, row[value], *(row[at] for at in rest))
                words.append((argument.to_text(), argument.value_text, parameter.known_by))
        return words

    def _parameters(self) -> Columns:
        names, found = self._fetch(rows.NodeParameter)
        node, name, value = (names.index(x) for x in ("node_id", "name", "value"))
        place = self._places({row[node] for row in found})
        parameters: Columns = {}
        for row in found:
            if row[node] in place:
                parameters.setdefault(place[row[node]], []).append([row[name], row[value]])
        return parameters

    def _values(self) -> Columns:
        """Return what memory of nodes held, by their place; of those without none."""
        values = self._of.values
        return {
            str(node - self._nodes.start): value_records(self._tree, values, node)
            for node in self._nodes
            if node in values.by_node
        }

    def _places(self, node_ids: set[int]) -> dict[int, str]:
        """Return the places of nodes among these, as keys of JSON."""
        return {x: str(at) for at, x in enumerate(self._ids) if x in node_ids} if node_ids else {}

    def _forward(self) -> Columns:
        """Return the operations whose backward pass nodes are, and which of them each node has."""
        tree = self._tree
        operations = tree.operations
        nodes = operations.forward[self._slice].tolist()
        place: dict[int, int] = {}
        found: list[Columns] = []
        for node in nodes:
            if node >= 0 and node not in place:
                place[node] = len(found)
                found.append(self._operation(node))
        return {
            "forward": coded_column([None if node < 0 else place[node] for node in nodes]),
            "forward_exact": coded_column(operations.is_exact[self._slice].tolist()),
            "operations": found,
        }

    def _operation(self, index: int) -> Columns:
        """Return the first node of an operation of the forward pass."""
        tree = self._tree
        node = tree.nodes[index]
        path_id, stack_id = node.nvtx_path_id, node.stack_id
        self._keep_stack(stack_id)
        reason = None
        if stack_id is None:
            reason = read_node(self._of.recording, tree, index).stack_reason
        return {
            "node_id": node.node_id,
            "name": node.name,
            "nvtx": None if path_id is None else tree.nvtx.get(path_id),
            "stack_id": stack_id,
            "stack_reason": reason,
        }

    def _keep_stack(self, stack_id: int | None) -> None:
        if stack_id is not None and stack_id not in self._stacks:
            self._stacks[stack_id] = self._view.stack(stack_id)

    def _eager(self, nvtx: Sequence[str | None]) -> Columns:
        """Return the same work outside the graph: how often, how long, and in which ranges.

        Of several iterations the ranges that are the same of all, as their steps are not.
        """
        of = self._of
        taken = eager_durations(of.library, of.file, self._view)
        called = eager_ranges(of.library, of.file, self._view)
        times: Columns = {}
        ranges: Columns = {}
        for at, spans in enumerate(taken.lists(self._ids) if taken else ()):
            if spans:
                times[str(at)] = [len(spans), statistics.median(spans)]
        for at, node_id in enumerate(self._ids if called else ()):
            shared = shared_ranges(called.get(node_id, ()))
            if shared is not None and shared != nvtx[at]:
                ranges[str(at)] = shared
        return {"eager": times, "called": ranges}

    def _bodies(self) -> Columns:
        """Return the bodies of nodes, and the times of what is inside."""
        parents = self._tree.parents_in(self._level.at)
        first, end = (bisect_left(parents, x) for x in (self._nodes.start, self._nodes.stop))
        found = {}
        for index in parents[first:end]:
            lines = body_lines(self._of.file, self._view, index, self._of.addresses)
            times = body_times(self._view, index)
            found[str(index - self._nodes.start)] = {"lines": lines, "times": times}
        return found

    def _released(self, kinds: Sequence[int]) -> Columns:
        """Return what frees the memory of alloc nodes, and whose memory free nodes free."""
        chosen = [at for at, kind in enumerate(kinds) if kind in _ALLOCATING]
        known = self._of.releases if chosen else {}
        graph_id = self._level.graph.graph_id
        facts = {at: known.get((graph_id, self._ids[at])) for at in chosen}
        return {str(at): found for at, found in facts.items() if found}

    def _neighbours(self) -> Columns:
        found = neighbours(self._of.library, self._of.file, self._view)
        return {
            "dependencies": self._keys(found.dependencies),
            "dependents": self._keys(found.dependents),
        }

    def _keys(self, of_node: Grouped) -> Columns:
        """Return how many neighbours each node has, and the numbers of the first on the page."""
        lists = of_node.lists(self._ids)
        named = [found[:LISTED] for found in lists]
        flat = np.array([node_id for found in named for node_id in found], np.int64)
        index: IntArray = self._tree.nodes_in(self._level.at, flat)
        keys = self._tree.key[index].tolist() if len(flat) else []
        ends = np.cumsum([len(found) for found in named]).tolist()
        return {
            "count": coded_column([len(found) for found in lists]),
            "keys": [keys[end - len(found) : end] for found, end in zip(named, ends, strict=True)],
        }


def _why_untimed(view: GraphView, own_reason: str | None, kind: int) -> str:
    reason = own_reason or not_timed_reason(kind)
    if reason is not None:
        return f"Not timed: {reason}."
    if view.root.origin == "dot":
        return "No times: this graph was imported from a DOT dump, which carries none."
    if is_failed(view.root):
        return f"No times: there is no executable of this graph ({view.root.origin})."
    if not view.timed_count:
        return "No times: no launch of this graph was recorded with node times."
    level = view.tree.levels[view.at]
    timed = np.isfinite(view.tree.times.median_ns[level.first : level.end])
    if view.in_branch and not timed.any():
        return "No times: the branch was not taken in any recorded launch."
    return "No times: this node did not run in any recorded launch."


def _directions(kinds: Sequence[int | None]) -> list[str | None]:
    words = {kind: copy_direction(kind) for kind in set(kinds) if kind is not None}
    return [None if kind is None else words[kind] for kind in kinds]


def _listed(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def _stack(frames: Sequence[rows.Location]) -> Columns:
    """Return a stack: its frames, the frame of the user's own, and what it says in a line."""
    return {
        "frames": [_row(frame) for frame in frames],
        "own": own_frame(frames),
        "line": call_line(frames),
    }


def _row(row: Any) -> Columns:
    # Rows hold no other dataclasses: dataclasses.asdict would look into each value.
    values = ((field, getattr(row, field)) for field in row.__dataclass_fields__)
    return {field: value for field, value in values if value is not None}

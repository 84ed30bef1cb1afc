"""Any graph that gviz can hold comes back from the DOT text that it writes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from dot_round_trip import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.cuda.node_type import NodeType
from gviz.formats.dot.export import to_dot
from gviz.formats.dot.importer import import_dot
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter

# Many made-up cases: these eight files would be a sixth of what the quick tests take.
pytestmark = pytest.mark.thorough

#: SQLite stores text as UTF-8: surrogates have no encoding there.
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_ODD = ['"', "\\", '\\"', "a\nb", "&amp;", "\\n", "}", "gviz_format=1", "\0"]
_NAMES = _TEXTS | st.sampled_from(_ODD)
_KINDS = st.sampled_from(sorted(map(int, NodeType))) | st.integers(-1, 40)
_SIZES = st.none() | st.integers(0, 2**40)
_DIMENSIONS = st.none() | st.integers(0, 2**32 - 1)


@st.composite
def levels(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """A level: its name, nodes with what they run, and edges (None: not known)."""
    ids = sorted(draw(st.sets(st.integers(0, 2**32 - 1), max_size=5)))
    nodes = [
        {
            "node_id": number,
            "type": draw(_KINDS),
            "name": draw(_NAMES),
            "bytes": draw(_SIZES),
            "grid_x": draw(_DIMENSIONS),
            "grid_z": draw(_DIMENSIONS),
            "copy_kind": draw(st.none() | st.integers(0, 10)),
            "conditional_type": draw(st.none() | _NAMES),
        }
        for number in ids
    ]
    bodies: list[tuple[int, int | None, dict[str, Any]]] = []
    if depth and ids:
        for _ in range(draw(st.integers(0, 2))):
            branch = draw(st.none() | st.integers(0, 3))
            bodies.append((draw(st.sampled_from(ids)), branch, draw(levels(depth - 1))))
    pairs = [(a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]]
    chosen = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    edges = [
        (*pair, draw(st.sampled_from([0, 1, -1])), draw(st.integers(0, 2)), 0)
        for pair in sorted(chosen)
    ]
    return {
        "name": draw(_NAMES.filter(bool)),
        "nodes": nodes,
        "symbols": [draw(st.none() | _NAMES.filter(bool)) for _ in ids],
        "bodies": bodies,
        "edges": draw(st.just(edges) | st.none()),
    }


class _Writing:
    """Writes levels with numbers of ours."""

    def __init__(self, writer: RecordingWriter) -> None:
        self.writer = writer
        self.graphs = self.functions = 0
        self._symbols: dict[str, int] = {}

    def level(self, level: dict[str, Any], **place: Any) -> None:
        self.graphs += 1
        number = self.graphs
        topology = None if level["edges"] is None else number
        if topology is not None:
            self.writer.insert(
                rows.Topology(topology_id=number, hash=str(number), node_count=0, edge_count=0)
            )
            self.writer.insert_tuples(rows.Edge, [(number, *edge) for edge in level["edges"]])
        self.writer.insert(
            rows.Graph(
                graph_id=number, run_id=1, name=level["name"], topology_id=topology,
                origin="body" if place else "capture", **place,
            )
        )  # fmt: skip
        for node, symbol in zip(level["nodes"], level["symbols"], strict=True):
            is_kernel = node["type"] == NodeType.KERNEL
            self.writer.insert(
                rows.Node(
                    graph_id=number, exec_node_id=None, **node,
                    function_id=self._function(symbol) if is_kernel and symbol else None,
                )
            )  # fmt: skip
        for node_id, branch, body in level["bodies"]:
            self.level(body, parent_graph_id=number, parent_node_id=node_id, branch=branch)

    def _function(self, symbol: str) -> int:
        if symbol not in self._symbols:
            number = self._symbols[symbol] = len(self._symbols) + 1
            self.writer.insert(
                rows.KernelFunction(function_id=number, run_id=1, mangled_name=symbol, name=symbol)
            )
        return self._symbols[symbol]


@given(st.lists(levels(), min_size=1, max_size=2))
@settings(max_examples=80, deadline=None)
def test_graphs_come_back_from_their_dot(tops: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, text = Path(folder) / "was.gviz", Path(folder) / "was.dot"
        with RecordingWriter(path) as writer:
            writer.insert(rows.Run(run_id=1, name="r", state="completed", source="run"))
            writing = _Writing(writer)
            for top in tops:
                writing.level(top)
        with Recording(path) as was:
            ids = [g.graph_id for g in was.fetch_graphs() if g.parent_graph_id is None]
            text.write_text("".join(to_dot(was, graph_id) for graph_id in ids), newline="")
            import_dot(text, Path(folder) / "again.gviz")
            with Recording(Path(folder) / "again.gviz") as got:
                assert drawn(got) == drawn(was)

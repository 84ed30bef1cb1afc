"""Random graphs with bodies, opened and folded at random: no node is lost, closing undoes it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nested_recordings import Part, write_nested_recording

from gviz.app.views.payload import DagRequest, dag_payload
from gviz.app.views.wire import Arrays, unpack
from gviz.model.tree.graph_tree import read_timed_tree
from gviz.recording.reader import Recording

# Many made-up cases: these eight files would be a sixth of what the quick tests take.
pytestmark = pytest.mark.thorough

_T = TypeVar("_T")

BRANCHES = {"child": 1, "while": 1, "if": 2, "switch": 3}


@st.composite
def levels(draw: st.DrawFn, depth: int = 0) -> tuple[Part, ...]:
    """A level of a few nodes, some of which hold bodies; a body may be empty."""
    parts: list[Part] = []
    for index in range(draw(st.integers(0 if depth else 1, 5))):
        after = draw(st.sets(st.integers(0, index - 1), max_size=2)) if index else set()
        kinds = ["kernel", "kernel", "empty", *(BRANCHES if depth < 2 else ())]
        kind = draw(st.sampled_from(kinds))
        bodies = tuple(draw(levels(depth=depth + 1)) for _ in range(BRANCHES.get(kind, 0)))
        taken = tuple(draw(st.lists(st.integers(0, 2), min_size=2, max_size=2)))
        if kind in ("if", "switch"):
            taken = tuple(t % (len(bodies) + 1) - 1 for t in taken)
        elif kind != "while":
            taken = ()
        name = draw(st.sampled_from(["a", "b"])) if kind == "kernel" else kind
        parts.append(Part(name, 1_000, tuple(sorted(after)), kind, bodies, taken))
    return tuple(parts)


class Page:
    """Payloads of one recording, with what was read kept from one to the next, as the app does."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._kept: dict[tuple[object, ...], object] = {}

    def _keep(self, key: tuple[object, ...], build: Callable[[], _T]) -> _T:
        if key not in self._kept:
            self._kept[key] = build()
        return self._kept[key]  # type: ignore[return-value]

    def shown(self, requested: DagRequest) -> tuple[dict[str, object], Arrays]:
        """Return the DAG as it is asked for."""
        return unpack(dag_payload(self._recording, 1, requested, self._keep))


@given(parts=levels(), data=st.data())
@settings(deadline=None, max_examples=60)
def test_no_node_is_lost_and_closing_undoes_opening(
    parts: tuple[Part, ...], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_nested_recording(Path(folder) / "a.gviz", parts, launches=2)
        with Recording(path) as recording:
            tree = read_timed_tree(recording, 1)
            parents = [int(key) for node, key in enumerate(tree.key) if tree.bodies(node)]
            layout = data.draw(st.sampled_from([None, "structure", "lanes", "time"]))
            folding = data.draw(st.sampled_from([None, "repeats", "ranges"]))
            opened = data.draw(st.sets(st.sampled_from(parents))) if parents else set()
            requested = DagRequest(layout, None, folding, frozenset(f"n{key}" for key in opened))
            closed = DagRequest(layout, None, folding)
            page = Page(recording)
            before = page.shown(closed)
            _, a = page.shown(requested)
            check(tree.key, a)
            frames = set(a["within"].tolist()) - {-1} if "within" in a else set()
            assert {int(a["node_id"][i]) for i in frames} <= opened
            after = page.shown(closed)
            assert before[0] == after[0]
            for name, values in before[1].items():
                np.testing.assert_array_equal(values, after[1][name])


def check(keys: np.ndarray, a: Arrays) -> None:
    """Every node is in one item or hidden in one; indices fit; nothing has no place."""
    count = len(a["node_id"])
    own = a["item_nodes"] if "item_nodes" in a else a["node_id"]
    assert sorted([*own.tolist(), *a["hidden_node"].tolist()]) == keys.tolist()
    assert (a["hidden_item"] < count).all()
    assert len(a["x"]) == len(a["y"]) == len(a["lane"]) == count
    assert np.isfinite(a["x"]).all()
    assert np.isfinite(a["y"]).all()
    for name in ("edge_from", "edge_to", "critical", "parent_item"):
        assert (a[name] < count).all()
    assert (a["critical_edge"] < len(a["edge_from"])).all()
    if "within" not in a:
        return
    # Edges stay inside their level, and what holds a level comes before it.
    within = a["within"]
    assert (within[a["edge_from"]] == within[a["edge_to"]]).all()
    assert (within < np.arange(count)).all()
    assert (a["body_right"] >= a["body_left"]).all()
    if "half_height" in a:
        for i in np.flatnonzero(within >= 0).tolist():
            outer = int(within[i])
            assert abs(a["y"][i] - a["y"][outer]) <= a["half_height"][outer]

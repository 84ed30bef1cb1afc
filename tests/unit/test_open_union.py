"""Bodies opened in place in the picture of two graphs: nothing lost, each in its frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nested_recordings import NESTED, Part, chain, write_nested_recording

from gviz.app.address import Sides
from gviz.app.compare.comparison import Comparison, compare_sides
from gviz.app.compare.union_dag import UnionAsked, union_dag
from gviz.app.compare.union_keys import UnionKeys
from gviz.app.library import Library
from gviz.app.wire import Arrays, unpack
from gviz.comparison.union_graph import AFTER, BEFORE, BOTH

#: Numbers on the page of nodes of NESTED: the loop, what is in it, and what else holds bodies.
CHILD, WHILE, SWITCH, IF = 1, 2, 3, 5
INNER_IF = 14
LAYOUTS = ("structure", "lanes")


def changed() -> tuple[Part, ...]:
    """Return NESTED with a node gone from its loop, one added to its child graph, and a case."""
    step, inner, norm, check = NESTED[WHILE].bodies[0]
    assert norm.name == "norm"
    (child,), switch = NESTED[CHILD].bodies, NESTED[SWITCH]
    parts = list(NESTED)
    parts[CHILD] = replace(NESTED[CHILD], bodies=((*child, Part("extra", 3_000, (4,))),))
    parts[WHILE] = replace(NESTED[WHILE], bodies=((step, inner, replace(check, after=(1,))),))
    parts[SWITCH] = replace(switch, bodies=(*switch.bodies, chain("case3_a")))
    return tuple(parts)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder: Path = tmp_path_factory.mktemp("union")
    return Library(
        [
            write_nested_recording(folder / "before.gviz", NESTED),
            write_nested_recording(folder / "after.gviz", changed(), seed=1),
        ]
    )


@pytest.fixture(scope="module")
def found(library: Library) -> Comparison:
    return compare_sides(library, Sides("before", "after", 1, 1))


def dag(
    library: Library, found: Comparison, *opened: int, level: int = 0, layout: str | None = None
) -> tuple[dict[str, Any], Arrays]:
    recordings = library.file("before").recording, library.file("after").recording
    asked = UnionAsked(level, layout, frozenset(f"n{key}" for key in opened))
    return unpack(union_dag(found, recordings, ("before", "after"), asked))


def item_of(arrays: Arrays, key: int) -> int:
    (item,) = np.flatnonzero(arrays["node_id"] == key).tolist()
    return int(item)


def key_of(found: Comparison, side: int, name: str) -> int:
    tree, keys = found.trees[side], (found.keys.before, found.keys.after)[side]
    (at,) = [i for i, text in enumerate(node.name for node in tree.nodes) if text == name]
    return int(keys[at])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("holder", "count", "lone", "of_both"),
    # Of the loop step to norm and norm to check are gone; in the child graph join to extra is new.
    [
        (WHILE, 4, (0, "norm", "removed", BEFORE, 2), 2),
        (CHILD, 6, (1, "extra", "added", AFTER, 1), 6),
    ],
)
def test_open_body_has_nodes_and_edges_of_both_inside_its_frame(
    library: Library,
    found: Comparison,
    layout: str,
    holder: int,
    count: int,
    lone: tuple[int, str, str, int, int],
    of_both: int,
) -> None:
    closed = dag(library, found, layout=layout)[1]
    header, a = dag(library, found, holder, layout=layout)
    frame = item_of(a, holder)
    inside = np.flatnonzero(a["within"] == frame)
    assert len(inside) == count
    assert len(a["node_id"]) == len(closed["node_id"]) + count
    assert stand_inside(a, inside, frame, header["node_width"] / 2)
    side, name, verdict, origin, edges = lone
    item = item_of(a, key_of(found, side, name))
    assert item in inside
    assert header["baseline"]["verdicts"][a["verdict"][item]] == verdict
    told = header["baseline"]["added"], header["baseline"]["gone"]
    assert told == ((1, 0) if verdict == "added" else (0, 1))
    # An edge leads from an item of a level to one of the same.
    ends = a["within"][a["edge_from"]], a["within"][a["edge_to"]]
    assert ends[0].tolist() == ends[1].tolist()
    inner = a["edge_origin"][ends[0] == frame].tolist()
    assert (inner.count(origin), inner.count(BOTH), len(inner)) == (edges, of_both, edges + of_both)


def stand_inside(a: Arrays, items: Any, frame: int, half: float) -> bool:
    """Return whether items are inside the frame of another."""
    x, y = np.abs(a["x"][items] - a["x"][frame]), np.abs(a["y"][items] - a["y"][frame])
    return bool(((x + half <= a["half_width"][frame]) & (y < a["half_height"][frame])).all())


def test_ids_of_no_node_open_nothing(library: Library, found: Comparison) -> None:
    closed = dag(library, found)[1]
    assert "within" not in closed
    again = dag(library, found, 4_000)[1]
    assert closed.keys() == again.keys()
    assert all(np.array_equal(closed[n], again[n], equal_nan=closed[n].dtype.kind == "f")
               for n in closed)  # fmt: skip


def test_bodies_open_in_bodies(library: Library, found: Comparison) -> None:
    a = dag(library, found, WHILE, INNER_IF)[1]
    inner, outer = item_of(a, INNER_IF), item_of(a, WHILE)
    assert a["within"][inner] == outer
    clip = item_of(a, key_of(found, 1, "clip"))
    assert a["within"][clip] == inner
    # What is inside a closed body waits until that is opened.
    assert INNER_IF in dag(library, found, INNER_IF)[1]["hidden_node"]


def test_every_node_of_compared_levels_is_an_item_or_hidden_in_one(
    library: Library, found: Comparison
) -> None:
    keys: UnionKeys = found.keys
    known = {*keys.after.tolist(), *keys.before[keys.compared[0]].tolist()}
    for opened in ((), (WHILE,), (WHILE, INNER_IF), (CHILD, SWITCH, IF)):
        a = dag(library, found, *opened)[1]
        shown, hidden = a["node_id"].tolist(), a["hidden_node"].tolist()
        assert len(set(shown)) == len(shown)
        assert not set(shown) & set(hidden)
        assert known <= {*shown, *hidden}
        assert (a["hidden_item"] < len(shown)).all()


def test_gone_node_of_a_closed_body_is_found_at_its_holder(
    library: Library, found: Comparison
) -> None:
    a = dag(library, found)[1]
    at = a["hidden_node"].tolist().index(key_of(found, 0, "norm"))
    assert a["node_id"][a["hidden_item"][at]] == WHILE


def test_only_bodies_with_a_counterpart_are_drawn(library: Library, found: Comparison) -> None:
    header, a = dag(library, found, SWITCH)
    labels = [header["strings"][i] for i in a["body_label"]]
    mine = a["holder_item"][a["body_holder"]] == item_of(a, SWITCH)
    drawn = {label: open_ >= 0 for label, open_, is_mine
             in zip(labels, a["body_open"], mine, strict=True) if is_mine}  # fmt: skip
    assert drawn == {
        "body 0: case 0": True, "body 1: case 1": True, "body 2: case 2": True,
        "body 3: case 3": False,
    }  # fmt: skip
    assert len(a["body_left"]) == 3


def test_body_shown_alone_has_its_own_bodies_in_place(library: Library, found: Comparison) -> None:
    tree = found.trees[1]
    paths = {x.graph.graph_id: tree.path_of(at) for at, x in enumerate(tree.levels)}
    levels = [paths[x.graph_ids[1]] for x in found.pair.levels]
    level = levels.index("body 0 of node 2")
    a = dag(library, found, INNER_IF, level=level)[1]
    assert a["within"][item_of(a, key_of(found, 1, "clip"))] == item_of(a, INNER_IF)
    assert (a["within"] >= -1).all()
    assert WHILE not in {*a["node_id"].tolist(), *a["hidden_node"].tolist()}

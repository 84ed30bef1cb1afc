"""Bodies opened in place in the picture of two graphs: nothing lost, each in its frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nested_recordings import NESTED, NESTED_CHANGED, NESTED_SHORTENED, write_nested_recording
from recordings import write_loop_recording

from gviz.app.components.addresses import Sides
from gviz.app.files.library import Library
from gviz.app.pages.compare.comparison import Comparison, compare_sides
from gviz.app.pages.compare.union_dag import UnionRequest, union_dag
from gviz.app.pages.compare.union_keys import UnionKeys
from gviz.app.views.wire import Arrays, unpack
from gviz.comparison.union_graph import AFTER, BEFORE, BOTH

#: Numbers on the page of nodes of NESTED: the loop, what is in it, and what else holds bodies.
CHILD, WHILE, SWITCH, IF = 1, 2, 3, 5
INNER_IF = 14
LAYOUTS = ("structure", "lanes")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder: Path = tmp_path_factory.mktemp("union")
    return Library(
        [
            write_nested_recording(folder / "before.gviz", NESTED),
            write_nested_recording(folder / "after.gviz", NESTED_CHANGED, seed=1),
        ]
    )


@pytest.fixture(scope="module")
def found(library: Library) -> Comparison:
    return compare_sides(library, Sides("before", "after", 1, 1))


def dag(
    library: Library, found: Comparison, *opened: int, level: int = 0, layout: str | None = None
) -> tuple[dict[str, Any], Arrays]:
    recordings = library.file("before").recording, library.file("after").recording
    requested = UnionRequest(level, layout, frozenset(f"n{key}" for key in opened))
    return unpack(union_dag(found, recordings, ("before", "after"), requested))


def item_of(arrays: Arrays, key: int) -> int:
    (item,) = np.flatnonzero(arrays["node_id"] == key).tolist()
    return int(item)


def key_of(found: Comparison, side: int, name: str) -> int:
    tree, keys = found.trees[side], (found.keys.before, found.keys.after)[side]
    (at,) = [i for i, text in enumerate(node.name for node in tree.nodes) if text == name]
    return int(keys[at])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("parent", "count", "lone", "of_both"),
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
    parent: int,
    count: int,
    lone: tuple[int, str, str, int, int],
    of_both: int,
) -> None:
    closed = dag(library, found, layout=layout)[1]
    header, a = dag(library, found, parent, layout=layout)
    frame = item_of(a, parent)
    inside = np.flatnonzero(a["within"] == frame)
    assert len(inside) == count
    assert len(a["node_id"]) == len(closed["node_id"]) + count
    assert stand_inside(a, inside, frame, header["node_width"] / 2)
    side, name, verdict, origin, edges = lone
    item = item_of(a, key_of(found, side, name))
    assert item in inside
    assert header["change"]["verdicts"][a["verdict"][item]] == verdict
    reported = header["change"]["added"], header["change"]["gone"]
    assert reported == ((1, 0) if verdict == "added" else (0, 1))
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


def test_every_node_of_both_is_an_item_or_hidden_in_one(
    library: Library, found: Comparison
) -> None:
    keys: UnionKeys = found.keys
    known = {*keys.after.tolist(), *keys.before.tolist()}
    for opened in ((), (WHILE,), (WHILE, INNER_IF), (CHILD, SWITCH, IF)):
        a = dag(library, found, *opened)[1]
        shown, hidden = a["node_id"].tolist(), a["hidden_node"].tolist()
        assert len(set(shown)) == len(shown)
        assert not set(shown) & set(hidden)
        assert known == {*shown, *hidden}
        assert (a["hidden_item"] < len(shown)).all()


def test_gone_node_of_a_closed_body_is_found_at_its_parent(
    library: Library, found: Comparison
) -> None:
    a = dag(library, found)[1]
    at = a["hidden_node"].tolist().index(key_of(found, 0, "norm"))
    assert a["node_id"][a["hidden_item"][at]] == WHILE


def test_case_that_came_opens_beside_those_of_both(library: Library, found: Comparison) -> None:
    header, a = dag(library, found, SWITCH)
    assert bodies_of(header, a, SWITCH) == {
        "body 0: case 0": ("ran in 3 of 6 launches", True),
        "body 1: case 1": ("did not run in any recorded launch", True),
        "body 2: case 2": ("ran in 3 of 6 launches", True),
        "body 3: case 3": ("only in B: did not run in any recorded launch", True),
    }
    item = item_of(a, key_of(found, 1, "case3_a"))
    assert header["change"]["verdicts"][a["verdict"][item]] == "added"
    assert stand_inside(a, np.array([item]), item_of(a, SWITCH), header["node_width"] / 2)


def test_iterations_of_both_sides_are_reported_where_they_differ(tmp_path: Path) -> None:
    library = Library(
        [
            write_loop_recording(tmp_path / f"{name}.gviz", iterations=iterations)
            for name, iterations in (("before", 3), ("after", 5))
        ]
    )
    found = compare_sides(library, Sides("before", "after", 1))
    (parent,) = found.page.bodies
    assert bodies_of(*dag(library, found), parent) == {
        "body 0": (
            "5 iterations a launch, in every launch; in A 3 iterations a launch, in every launch",
            False,
        )
    }  # fmt: skip


def bodies_of(header: dict[str, Any], a: Arrays, key: int) -> dict[str, tuple[str, bool]]:
    """Return of each body of a node what it is, what is said of it, and whether it is open."""
    texts, parents = header["strings"], a["parent_item"][a["body_parent"]]
    table = zip(a["body_label"], a["body_words"], a["body_open"], parents, strict=True)
    item = item_of(a, key)
    return {texts[n]: (texts[w], bool(o >= 0)) for n, w, o, parent in table if parent == item}


#: What is gone, or new the other way round, with the last conditional node: that node, the child
#: graph in its body, and the two kernels in that.
LAST_IF = ("CONDITIONAL IF", "GRAPH", "pack", "send")


@pytest.mark.parametrize("came", [False, True])
def test_what_a_lone_node_holds_opens_level_by_level(tmp_path: Path, *, came: bool) -> None:
    sides = (NESTED_SHORTENED, NESTED) if came else (NESTED, NESTED_SHORTENED)
    library = Library(
        [
            write_nested_recording(tmp_path / f"{name}.gviz", parts)
            for name, parts in zip(("before", "after"), sides, strict=True)
        ]
    )
    found = compare_sides(library, Sides("before", "after", 1, 1))
    side, verdict = (1, "added") if came else (0, "removed")
    tree, keys = found.trees[side], found.keys.of_side(side)
    (last,) = [n for n in tree.parents_in(0) if n == 5]
    lone = keys[[last, *tree.inside(last)]]
    assert [tree.nodes[n].name for n in (last, *tree.inside(last))] == list(LAST_IF)

    header, a = dag(library, found)
    hidden = dict(zip(a["hidden_node"].tolist(), a["hidden_item"].tolist(), strict=True))
    assert {hidden[int(key)] for key in lone[1:]} == {item_of(a, int(lone[0]))}
    (words, is_open) = bodies_of(header, a, int(lone[0]))["body 0: then"]
    assert words.startswith(f"only in {'AB'[side]}: ran in ")
    assert not is_open

    header, a = dag(library, found, int(lone[0]), int(lone[1]))
    items = [item_of(a, int(key)) for key in lone]
    assert [int(a["within"][item]) for item in items] == [-1, items[0], items[1], items[1]]
    assert {header["change"]["verdicts"][v] for v in a["verdict"][items]} == {verdict}
    counts = header["change"]["added"], header["change"]["gone"]
    assert counts == ((4, 0) if came else (0, 4))
    inner = a["edge_from"] == items[2]
    assert a["edge_to"][inner].tolist() == [items[3]]
    assert a["edge_origin"][inner].tolist() == [AFTER if came else BEFORE]
    for parent, inside in ((items[0], items[1:2]), (items[1], items[2:])):
        assert stand_inside(a, np.array(inside), parent, header["node_width"] / 2)

    # The innermost alone, by its number among the page's levels.
    (level,) = [n for n, x in enumerate(found.page.levels) if x.parent == lone[1]]
    header, a = dag(library, found, level=level)
    assert a["node_id"].tolist() == lone[2:].tolist()
    assert np.isnan(a["change_ns"]).all()
    assert np.array_equal(a["before_ns"], a["median_ns"], equal_nan=True) is not came


def test_body_shown_alone_has_its_own_bodies_in_place(library: Library, found: Comparison) -> None:
    tree = found.trees[1]
    paths = {x.graph.graph_id: tree.path_of(at) for at, x in enumerate(tree.levels)}
    levels = [paths[x.graph_ids[1]] for x in found.pair.levels]
    level = levels.index("body 0 of node 2")
    a = dag(library, found, INNER_IF, level=level)[1]
    assert a["within"][item_of(a, key_of(found, 1, "clip"))] == item_of(a, INNER_IF)
    assert (a["within"] >= -1).all()
    assert WHILE not in {*a["node_id"].tolist(), *a["hidden_node"].tolist()}

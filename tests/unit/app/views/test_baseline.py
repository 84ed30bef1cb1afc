"""A graph against a baseline: which it is, what the DAG, the table and the inspector say."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from admitted import admitted_client
from app_recordings import write_imported_recording
from app_tree import by_id, links, texts, walk
from flask.testing import FlaskClient
from nested_recordings import Part, chain, write_nested_recording
from recordings import (
    FIRST_NODE_ID,
    Shape,
    fork_join_shape,
    transformer_shape,
    write_loop_recording,
    write_recording,
)
from shown_pages import render_page

from gviz.app.components.addresses import Addresses, Baseline, Query, parse_query
from gviz.app.files.library import Library
from gviz.app.inspector.inspector import render_inspector
from gviz.app.pages.graph import graph_payload
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app
from gviz.app.views.baseline.baseline import compare, find_baseline, offered
from gviz.app.views.baseline.baseline_overlay import VERDICT_WORDS, VERDICTS, Verdict
from gviz.app.views.baseline.tree_comparison import TreeComparison
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import DagRequest, dag_payload
from gviz.app.views.table.table import table_payload
from gviz.app.views.wire import Arrays, unpack
from gviz.recording.reader import Recording

ADDRESSES = Addresses("/")
LOCAL = {"Host": "localhost"}
SHAPE = transformer_shape(layers=3)
#: In the second layer: twice as slow, half as slow, and launched with another grid.
SLOW, FAST, WIDE = 20, 24, 28
BASE = Baseline("before", 1)


def next_version() -> Shape:
    """The shape with one layer more, a slower and a faster node, and another grid."""
    works = list(transformer_shape(layers=4).works)
    works[SLOW] = replace(works[SLOW], duration_ns=2 * works[SLOW].duration_ns)
    works[FAST] = replace(works[FAST], duration_ns=works[FAST].duration_ns // 2)
    works[WIDE] = replace(works[WIDE], grid_x=77)
    return Shape("next version", tuple(works))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("baseline")
    before = write_recording(folder / "before.gviz", SHAPE, launches=15, seed=1)
    after = write_recording(folder / "after.gviz", next_version(), launches=15, seed=2)
    other = write_recording(folder / "other.gviz", fork_join_shape(), launches=4, seed=3)
    return Library([before, after, other])


def header_and_arrays(library: Library, **requested: object) -> tuple[dict[str, object], Arrays]:
    recording = library.file("after").recording
    what = DagRequest(**requested)  # type: ignore[arg-type]
    return unpack(dag_payload(recording, 1, what, against=against(library)))


def against(library: Library, file: str = "after", base: Baseline = BASE) -> TreeComparison:
    return compare(library, file, graph_view(library, file, 1).tree, base)


def verdict_of(arrays: Arrays, item: int) -> Verdict:
    return VERDICTS[int(arrays["verdict"][item])]


def inspect(library: Library, *nodes: int) -> str:
    view = graph_view(library, "after", 1)
    return texts(
        render_inspector(library, "after", view, nodes, ADDRESSES, compared=against(library))
    )


# -- addresses -------------------------------------------------------------------------


def test_address_names_the_baseline_and_is_read_again() -> None:
    address = ADDRESSES.graph("after", 1, [3], baseline=Baseline("a b&c", 7))
    query = parse_query(address.partition("?")[2])
    assert (query.baseline_file, query.baseline_graph_id) == ("a b&c", 7)


def test_baseline_without_its_graph_is_the_one_that_corresponds(library: Library) -> None:
    view = graph_view(library, "after", 1)
    found = find_baseline(library, "after", view, "before", None)
    assert found.baseline == BASE
    assert found.comparison is not None
    assert found.problem == ""


@pytest.mark.parametrize(
    ("file", "graph", "words"),
    [
        ("nowhere", 1, "No open recording is called nowhere"),
        ("before", 99, "before has no graph 99"),
        ("other", None, "other has no graph like this one"),
        ("after", 1, "A graph is its own baseline"),
    ],
)
def test_baseline_that_is_not_there_is_reported(
    library: Library, file: str, graph: int | None, words: str
) -> None:
    view = graph_view(library, "after", 1)
    found = find_baseline(library, "after", view, file, graph)
    assert found.baseline is None
    assert words in found.problem


def test_graphs_offered_begin_with_the_likely_ones(library: Library) -> None:
    offers = offered(library, "after", graph_view(library, "after", 1))
    assert [(o.baseline, o.likely) for o in offers] == [(BASE, True), (Baseline("other", 1), False)]
    assert offers[0].label == "before: decode, 3 layers (most work shared)"


def test_one_graph_alone_is_offered_nothing(tmp_path: Path) -> None:
    alone = Library([write_recording(tmp_path / "alone.gviz", SHAPE, launches=1)])
    assert offered(alone, "alone", graph_view(alone, "alone", 1)) == []


def test_graph_with_a_cycle_is_not_compared(tmp_path: Path) -> None:
    first = write_recording(tmp_path / "whole.gviz", SHAPE, launches=1)
    second = write_recording(tmp_path / "cyclic.gviz", SHAPE, launches=1)
    with sqlite3.connect(second) as database:
        ends = (FIRST_NODE_ID + 9, FIRST_NODE_ID + 2)
        database.execute("INSERT INTO edge VALUES (1, ?, ?, 0, 0, 0)", ends)
    database.close()
    both = Library([first, second])
    found = find_baseline(both, "whole", graph_view(both, "whole", 1), "cyclic", 1)
    assert found.baseline is None
    assert "cycle" in found.problem


def test_body_leads_to_the_body_of_the_counterpart(tmp_path: Path) -> None:
    both = Library(
        [
            write_loop_recording(tmp_path / "short.gviz", iterations=3),
            write_loop_recording(tmp_path / "long.gviz", iterations=5),
        ]
    )
    view = graph_view(both, "long", 1)
    found = against(both, "long", Baseline("short", 1))
    shown = render_inspector(both, "long", view, [1002], ADDRESSES, compared=found)
    assert "/graph?file=long&graph=2&baseline=short&baseline_graph=2" in links(shown)


# -- the DAG -----------------------------------------------------------------------------


def test_arrays_hold_the_difference_of_medians(library: Library) -> None:
    header, arrays = header_and_arrays(library)
    sides = []
    for file in ("before", "after"):
        statistics = library.file(file).recording.fetch_statistics(1)
        sides.append({s.node_id - FIRST_NODE_ID: s.median_ns for s in statistics})
    assert arrays["baseline_ns"][SLOW] == pytest.approx(sides[0][SLOW])
    change = sides[1][SLOW] - sides[0][SLOW]
    assert arrays["change_ns"][SLOW] == pytest.approx(change)
    assert 2.0 ** arrays["change_log2"][SLOW] == pytest.approx(sides[1][SLOW] / sides[0][SLOW])
    assert {"change", "ratio"} <= set(header["overlays"])  # type: ignore[call-overload]


def test_verdicts_show_what_changed_from_noise(library: Library) -> None:
    header, arrays = header_and_arrays(library)
    assert (verdict_of(arrays, SLOW), verdict_of(arrays, FAST)) == ("slower", "faster")
    counts = np.bincount(arrays["verdict"], minlength=len(VERDICTS)).tolist()
    assert dict(zip(VERDICTS, counts, strict=True)) == {
        "added": 15, "untimed": 0, "untested": 0, "noise": len(SHAPE.works) - 2,
        "slower": 1, "faster": 1, "uncompared": 0, "removed": 0,
    }  # fmt: skip
    assert header["baseline"] == {
        "name": "before", "verdicts": list(VERDICTS), "added": 15, "gone": 0, "untested": "",
    }  # fmt: skip
    strings = header["strings"]
    assert (
        strings[arrays["difference"][WIDE]]
        == f"grid: {SHAPE.works[WIDE].grid_x} × 1 × 1 → 77 × 1 × 1"
    )  # type: ignore[index]


def test_scale_is_that_of_what_is_significant(library: Library) -> None:
    header, arrays = header_and_arrays(library)
    scale = header["overlays"]["change"]["scale"]  # type: ignore[index,call-overload]
    sizes = sorted(abs(float(arrays["change_ns"][i])) for i in (SLOW, FAST))
    assert (scale["least"], scale["most"]) == (pytest.approx(sizes[0]), pytest.approx(sizes[1]))


def test_fold_has_sums_and_a_verdict_of_its_own(library: Library) -> None:
    header, arrays = header_and_arrays(library, folding="repeats")
    folds = np.flatnonzero(arrays["fold"] >= 0)
    assert len(folds) >= 1
    _, nodes = header_and_arrays(library)
    for fold in folds.tolist():
        ids = arrays["item_nodes"][arrays["item_offset"][fold] : arrays["item_offset"][fold + 1]]
        mine = nodes["change_ns"][ids - FIRST_NODE_ID]
        assert arrays["change_ns"][fold] == pytest.approx(float(np.nansum(mine)), abs=1)
        words = header["strings"][arrays["difference"][fold]]  # type: ignore[index]
        assert sum(int(part.split()[0]) for part in words.split(", ")) == len(ids)


def test_without_a_baseline_nothing_is_sent_of_it(library: Library) -> None:
    header, arrays = unpack(dag_payload(library.file("after").recording, 1))
    assert header["baseline"] is None
    assert not {"change", "ratio"} & set(header["overlays"])
    assert "verdict" not in arrays


def test_graph_without_times_is_compared_all_the_same(tmp_path: Path) -> None:
    path = write_imported_recording(tmp_path / "dump.gviz")
    both = Library([path, path])
    found = against(both, "dump", Baseline("dump-2", 1))
    header, arrays = unpack(dag_payload(both.file("dump").recording, 1, against=found))
    assert {VERDICTS[v] for v in arrays["verdict"]} == {"untimed"}
    assert "change" not in header["overlays"]


# -- table, inspector, page ----------------------------------------------------------------


def test_table_has_columns_against_the_baseline(library: Library) -> None:
    view = graph_view(library, "after", 1)
    columns = json.loads(table_payload(view, against(library)))
    assert columns["verdict"][SLOW] == "slower"
    assert columns["change"][SLOW] == pytest.approx(1.0, abs=0.1)
    assert columns["change_ns"][SLOW] == pytest.approx(
        columns["median_ns"][SLOW] - columns["baseline_ns"][SLOW]
    )
    added = columns["verdict"].index("added")
    assert columns["baseline_ns"][added] is columns["change_ns"][added] is None
    assert "baseline_ns" not in json.loads(table_payload(view))


def test_inspector_says_what_became_of_a_node(library: Library) -> None:
    stated = inspect(library, FIRST_NODE_ID + SLOW)
    assert "Against before" in stated
    assert "slower, by more than noise" in stated
    assert "95% interval" in stated
    assert f"node {FIRST_NODE_ID + SLOW} of before" in stated
    assert "within noise" in inspect(library, FIRST_NODE_ID + 3)
    changed = inspect(library, FIRST_NODE_ID + WIDE)
    assert "77 × 1 × 1" in changed


def test_inspector_says_that_a_node_was_added(library: Library) -> None:
    _, arrays = header_and_arrays(library)
    added = int(np.flatnonzero(arrays["verdict"] == VERDICTS.index("added"))[0])
    assert "not in the baseline" in inspect(library, FIRST_NODE_ID + added)


def test_inspector_sums_several_and_all(library: Library) -> None:
    assert "Against before" in inspect(library, FIRST_NODE_ID + SLOW, FIRST_NODE_ID + FAST)
    stated = inspect(library)
    assert "Slower by more than noise (1)" in stated
    assert "Faster by more than noise (1)" in stated
    assert "Added (15)" in stated
    assert "Launch GPU time" in stated


def test_inspector_lists_what_is_gone_with_a_way_to_it(library: Library) -> None:
    view = graph_view(library, "before", 1)
    found = against(library, "before", Baseline("after", 1))
    shown = render_inspector(library, "before", view, [], ADDRESSES, compared=found)
    assert "Gone (15)" in texts(shown)
    gone = [link for link in links(shown) if link.startswith("/graph?file=after&graph=1&node=")]
    assert gone


def test_inspector_warns_of_graphs_that_share_little(library: Library) -> None:
    view = graph_view(library, "after", 1)
    found = against(library, "after", Baseline("other", 1))
    stated = texts(render_inspector(library, "after", view, [], ADDRESSES, compared=found))
    assert "of the nodes run the same work" in stated


def graph_json(library: Library, baseline_graph: int) -> dict[str, Any]:
    """Return what the page of a graph against a baseline is made of."""
    query = Query(baseline_file="before", baseline_graph_id=baseline_graph)
    made = graph_payload(library, "after", graph_view(library, "after", 1), query, ADDRESSES)
    found: dict[str, Any] = json.loads(made)
    return found


# -- routes --------------------------------------------------------------------------------


@pytest.fixture
def client(library: Library) -> FlaskClient:
    paths = [f.path for f in library.files()]
    access = AccessRules()
    client = admitted_client(create_app(paths, access).server, access)
    return client


def test_comparison_is_the_same_in_every_thread(library: Library) -> None:
    assert against(library) is against(library)
    with Recording(library.file("before").path) as recording:
        assert len(recording.fetch_nodes(1)) == len(SHAPE.works)


# -- bodies ------------------------------------------------------------------------------


def nested(iteration_ns: int) -> tuple[Part, ...]:
    """A kernel, a loop of three turns around two kernels, and one more kernel."""
    body = chain("first", "second", duration_ns=iteration_ns)
    return (
        *chain("begin"),
        Part("loop", after=(0,), kind="while", bodies=(body,), taken=(3,)),
        Part("end", 5_000, (1,)),
    )


@pytest.fixture
def loops(tmp_path: Path) -> Library:
    quick, slow = tmp_path / "quick.gviz", tmp_path / "slow.gviz"
    write_nested_recording(quick, nested(4_000), launches=12, seed=1)
    write_nested_recording(slow, nested(6_000), launches=12, seed=2)
    return Library([quick, slow])


def test_nodes_in_a_body_that_is_open_are_compared(loops: Library) -> None:
    found = against(loops, "slow", Baseline("quick", 1))
    requested = DagRequest(unfolded=frozenset({"n1"}))
    header, arrays = unpack(dag_payload(loops.file("slow").recording, 1, requested, against=found))
    names = [header["strings"][i] for i in arrays["name"]]
    verdicts = {n: verdict_of(arrays, i) for i, n in enumerate(names)}
    assert (verdicts["begin"], verdicts["end"]) == ("noise", "noise")
    assert (verdicts["first"], verdicts["second"]) == ("slower", "slower")
    columns = json.loads(table_payload(graph_view(loops, "slow", 1), found))
    assert columns["verdict"] == [VERDICT_WORDS[verdicts[name]] for name in columns["name"]]
    inside = columns["name"].index("first")
    assert columns["change_ns"][inside] == pytest.approx(2_000, rel=0.1)
    key = columns["key"][inside]
    stated = texts(
        render_inspector(
            loops, "slow", graph_view(loops, "slow", 1), [key], ADDRESSES, compared=found
        )
    )
    assert "slower, by more than noise" in stated


def test_body_without_a_counterpart_is_not_compared(tmp_path: Path) -> None:
    plain, looped = tmp_path / "plain.gviz", tmp_path / "looped.gviz"
    write_nested_recording(plain, chain("begin", "end"), launches=6)
    write_nested_recording(looped, nested(4_000), launches=6)
    both = Library([plain, looped])
    found = against(both, "looped", Baseline("plain", 1))
    for folding in (None, "repeats"):
        requested = DagRequest(unfolded=frozenset({"n1"}), folding=folding)
        header, arrays = unpack(
            dag_payload(both.file("looped").recording, 1, requested, against=found)
        )
        names = [header["strings"][i] for i in arrays["name"]]
        verdicts = {n: verdict_of(arrays, i) for i, n in enumerate(names)}
        assert verdicts["first"] == verdicts["second"] == "uncompared"
    columns = json.loads(table_payload(graph_view(both, "looped", 1), found))
    inside = columns["name"].index("first")
    assert columns["verdict"][inside] == "not compared"
    assert columns["change_ns"][inside] is None
    assert columns["verdict"][columns["key"].index(1)] == "added"
    view = graph_view(both, "looped", 1)
    key = columns["key"][inside]
    stated = texts(render_inspector(both, "looped", view, [key], ADDRESSES, compared=found))
    assert "Not compared" in stated


def test_bodies_of_large_recordings_are_not_compared(
    loops: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gviz.app.views.baseline.tree_comparison.MOST_SPANS_READ", 100)
    found = against(loops, "slow", Baseline("quick", 1))
    assert found.level(0) is not None
    assert found.level(1) is None
    assert found.counterpart(1) is None


# -- files that change ---------------------------------------------------------------------


@pytest.fixture
def changing(tmp_path: Path) -> Library:
    before = write_recording(tmp_path / "before.gviz", SHAPE, launches=5, seed=1)
    after = write_recording(tmp_path / "after.gviz", next_version(), launches=5, seed=2)
    return Library([before, after])


@pytest.mark.parametrize("file", ["before", "after"])
def test_comparison_is_made_anew_when_either_file_changes(changing: Library, file: str) -> None:
    found = against(changing)
    assert against(changing) is found
    assert len(found.top.added) == 15
    path = changing.file(file).path
    write_recording(path, transformer_shape(layers=5), launches=5, seed=3, overwrite=True)
    again = against(changing)
    assert again is not found
    counts = len(again.top.added), len(again.top.removed)
    assert counts == ((0, 15) if file == "before" else (30, 0))


# -- the way to the comparison -------------------------------------------------------------


def test_choice_leads_to_the_comparison(library: Library) -> None:
    page = render_page(library, ADDRESSES, "/graph", "?file=after&graph=1")[0]
    first, second, *_ = by_id(page, "baseline").data
    assert first == {"value": "", "label": "none"}
    assert second["value"] == "/compare?a=before&b=after&graph=1:1"


def test_body_is_compared_with_the_graph_that_it_is_in(loops: Library) -> None:
    file = loops.files()[0].key
    body = next(
        g.graph_id
        for g in loops.file(file).recording.fetch_graphs()
        if g.parent_graph_id is not None
    )
    page = render_page(loops, ADDRESSES, "/graph", f"?file={file}&graph={body}")[0]
    assert not [x for x in walk(page) if getattr(x, "id", None) == "baseline"]


@pytest.mark.parametrize(
    ("query", "there"),
    [
        ("baseline=before&baseline_graph=1", "/compare?a=before&b=after&graph=1:1"),
        ("baseline=before", "/compare?a=before&b=after&graph=1:1"),
        ("baseline=nowhere", "/compare?a=nowhere&b=after"),
    ],
)
def test_address_with_a_baseline_is_that_of_the_comparison(
    client: FlaskClient, query: str, there: str
) -> None:
    answer = client.get(f"/payload/page/after/1?{query}", headers=LOCAL)
    assert json.loads(answer.data) == {"moved_to": there}

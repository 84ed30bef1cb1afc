"""The Compare page: what it says of two graphs, and what its views are sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app_recordings import write_imported_recording
from app_tree import by_id, links, texts, walk
from evil_recordings import write_cyclic_recording, write_evil_recording
from nested_recordings import NESTED, NESTED_CHANGED, NESTED_SHORTENED, Part, write_nested_recording
from places import ROOT
from recaptures import write_recaptures
from recordings import (
    Shape,
    Work,
    fork_join_shape,
    transformer_shape,
    write_loop_recording,
    write_recording,
)
from saved_file import part_text

import gviz.assets
from gviz.app.components.addresses import Addresses, Sides, parse_query
from gviz.app.components.canvases import GraphPage
from gviz.app.files.library import Library
from gviz.app.pages.compare.choice import choose_graph
from gviz.app.pages.compare.comparison import Comparison, Comparisons, compare_sides
from gviz.app.pages.compare.content import compared_content
from gviz.app.pages.compare.inspector import compared_inspector
from gviz.app.pages.compare.node_place import open_path, place_of
from gviz.app.pages.compare.page import render_compared
from gviz.app.pages.compare.table_rows import TABLES, compared_table
from gviz.app.pages.compare.timeline import both_timelines
from gviz.app.pages.compare.union_dag import UnionRequest, union_dag
from gviz.app.server.address_page import render_page
from gviz.app.views.payload import dag_payload, timeline_payload
from gviz.app.views.wire import Arrays, unpack
from gviz.assets import recordings as bundled
from gviz.comparison.diff import RequestedPair, compare_recordings
from gviz.errors import CycleError, RecordingError
from gviz.model.tree.keep import build_anew
from gviz.recording.reader import Recording

ADDRESSES = Addresses("/")
BEFORE, AFTER = "decode_step_again", "decode_step_fused"
FUSED = (
    "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35_16x128x64_1x4x1_"
    "cga1x1x1_kernel0_0"
)
PATIENCE_S = 60.0


class Patient(Comparisons):
    """Waits until a comparison is made: a test has nothing else to do."""

    def find(self, versioned, patience_s=PATIENCE_S):  # type: ignore[no-untyped-def]
        return super().find(versioned, patience_s)


def content(library: Library, search: str, made: type[Comparisons] = Patient) -> dict[str, Any]:
    """Return what the browser makes the page of."""
    query = parse_query(search)
    found: dict[str, Any] = json.loads(compared_content(made(library), library, query, ADDRESSES))
    return found


def said(library: Library, search: str) -> str:
    """Return the text of the page."""
    found = content(library, search)
    return part_text(found["parts"], found["page"])


def linked(library: Library, search: str) -> list[str]:
    """Return the addresses that the page links to."""
    return [part[1]["href"] for part in content(library, search)["parts"] if part[0] == "Link"]


def compared(library: Library, search: str) -> Comparison:
    query = parse_query(search)
    assert query.before_file is not None
    assert query.after_file is not None
    first, second = (library.file(key) for key in (query.before_file, query.after_file))
    graphs = query.graphs or (choose_graph(first, second), None)
    return compare_sides(library, Sides(first.key, second.key, *graphs))


def inspected(library: Library, search: str, *nodes: int) -> Any:
    """Return the inspector: of nodes, or without any the summary."""
    query = parse_query(search)
    sides = Sides(query.before_file or "", query.after_file or "")
    return compared_inspector(compared(library, search), sides, nodes, ADDRESSES)


def body(library: Library, search: str) -> list[Any]:
    """Return the page and its summary."""
    page = render_compared(compared(library, search), [], can_share=True)
    return [page, inspected(library, search)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_recaptures(tmp_path_factory.mktemp("recaptures"))


@pytest.fixture(scope="module")
def library(files: tuple[Path, Path]) -> Library:
    return Library(files)


@pytest.fixture(scope="module")
def found(library: Library) -> Comparison:
    return compare_sides(library, Sides(BEFORE, AFTER, 1))


def table(found: Comparison, name: str) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = json.loads(compared_table(found, name))
    return columns


def count(found: Comparison, name: str) -> int:
    """Return how many rows a table has."""
    return len(next(iter(table(found, name).values()), []))


def pair(tmp_path: Path) -> tuple[Library, Comparison]:
    """Compare a loop with one of more turns: child graphs and bodies on both sides."""
    iterations = (("a", 3), ("b", 5))
    library = Library(
        [write_loop_recording(tmp_path / f"{n}.gviz", iterations=i) for n, i in iterations]
    )
    return library, compare_sides(library, Sides("a", "b", 1))


# -- the page ------------------------------------------------------------------------------


def test_page_fetches_its_content(library: Library) -> None:
    shown, steps, title = render_page(library, ADDRESSES, "/compare", f"?a={BEFORE}&b={AFTER}")
    assert isinstance(shown, GraphPage)
    assert shown.source == f"/payload/compared/page?a={BEFORE}&b={AFTER}"
    assert title == "Compare – gviz"
    assert "Compare" in texts(steps)
    not_open = render_page(library, ADDRESSES, "/compare", f"?a={BEFORE}&b=nowhere")[0]
    assert "no open recording is called 'nowhere'" in texts(not_open)


def test_unfinished_comparison_is_requested_again(library: Library) -> None:
    class Slow(Comparisons):
        def find(self, *_: object) -> None:  # type: ignore[override]
            return None

    found = content(library, f"?a={BEFORE}&b={AFTER}", Slow)
    assert found["waiting"].startswith("Comparing")


def test_content_names_the_versions_that_are_compared(library: Library) -> None:
    found = content(library, f"?a={BEFORE}&b={AFTER}&graph=1:1")
    assert found["fixed"] == {"a": BEFORE, "b": AFTER, "graph": "1:1"}
    assert next(iter(found["tables"])) == "names"
    # By the size of the change: what is gone counts with its whole time.
    columns = found["tables"]["names"]["columns"]
    (first,) = [c for c in columns if c.get("sort")]
    assert (first["field"], first["by"], first["sort"]) == ("change_ns", "size_ns", "desc")
    # What a pane of 490 px has room for: the change, before what it was made from.
    shown = [c["field"] for c in columns if not c.get("hide")]
    assert shown[:4] == ["label", "change_ns", "change", "verdict"]
    assert set(found["tables"]) == set(TABLES)
    sources = {name: source for name, source in found["sources"].items() if "/compared/" in source}
    assert set(sources) >= {"dag", "timeline", "table", "inspector"}
    for source in sources.values():
        assert f"a={BEFORE}@" in source
        assert f"b={AFTER}@" in source
    # Without graphs in the address they are no part of it: another launch may choose others.
    assert content(library, f"?a={BEFORE}&b={AFTER}")["fixed"] == {"a": BEFORE, "b": AFTER}


def test_page_says_what_gviz_diff_says(library: Library, files: tuple[Path, Path]) -> None:
    stated = texts(body(library, f"?a={BEFORE}&b={AFTER}"))
    with Recording(files[0]) as first, Recording(files[1]) as second:
        (graph,) = compare_recordings(first, second, RequestedPair(1, None)).runs[0].graphs
    assert graph.launch.change_ns == -109_088
    assert graph.launch.significant
    for words in ("1.05 ms", "941 µs", "faster by more than noise: −109 µs (−10.4%)", "▼ faster",
                  "Nodes: 320 before, 272 after: 48 removed, 0 added, 16 changed",
                  "64 removed, 16 added", "Taken for the same by their name"):  # fmt: skip
        assert words in stated.replace("\n", "")


def test_swap_leads_to_the_same_the_other_way_round(library: Library) -> None:
    found = linked(library, f"?a={BEFORE}&b={AFTER}&graph=1:1")
    assert f"/compare?a={AFTER}&b={BEFORE}&graph=1:1" in found
    assert f"/compare?a={AFTER}&b={BEFORE}" in linked(library, f"?a={BEFORE}&b={AFTER}")


def test_waterfall_ends_where_the_launch_after_does(library: Library) -> None:
    summary = inspected(library, f"?a={BEFORE}&b={AFTER}")
    classes = ((x, str(getattr(x, "className", ""))) for x in walk(summary))
    bars = [x.style for x, name in classes if "gv-waterfall-bar" in name]
    begins, lengths = ([float(bar[name]) for bar in bars] for name in ("--gv-from", "--gv-long"))
    spans = [(begin, begin + length) for begin, length in zip(begins, lengths, strict=True)]
    before, *steps, after = spans
    at = before[1]
    for begin, end in steps:  # each begins where the one before ended
        assert at == pytest.approx(begin, abs=0.0002) or at == pytest.approx(end, abs=0.0002)
        at = end if at == pytest.approx(begin, abs=0.0002) else begin
    assert at == pytest.approx(after[1], abs=0.0002)
    assert "The bars begin at " in texts(summary)


@pytest.mark.parametrize(
    ("search", "stated"),
    [
        ("", "Choose a recording before (A) and one after (B)"),
        (f"?a={BEFORE}", "Choose a recording before (A)"),
        (f"?a={BEFORE}&b={BEFORE}", "A and B are the same recording"),
        (f"?a={BEFORE}&b={AFTER}&graph=12x", "4 kernels became 1"),
    ],
    ids=["nothing", "one side", "the same", "malformed"],
)
def test_page_says_what_is_missing(library: Library, search: str, stated: str) -> None:
    assert stated in said(library, search)


def test_pairs_that_correspond_are_offered_those_opened_next_first(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    other = write_recording(tmp_path / "other.gviz", fork_join_shape())
    again = write_recording(tmp_path / "again.gviz", fork_join_shape(), seed=2)
    layers = write_recording(tmp_path / "layers.gviz", transformer_shape(2))
    found = linked(Library([files[0], other, layers, files[1], again]), "")
    assert found == [f"/compare?a={BEFORE}&b={AFTER}", "/compare?a=other&b=again"]


def test_pairs_of_one_gpu_come_first_and_say_what_they_are() -> None:
    bundled = Path(gviz.assets.__file__).parent / "recordings"
    names = ("decode_step", "decode_step_h200", "decode_step_h200_fused")
    library = Library([bundled / f"{name}.gviz" for name in names])
    assert linked(library, "") == [
        f"/compare?a={names[1]}&b={names[2]}",
        f"/compare?a={names[0]}&b={names[1]}",
        f"/compare?a={names[0]}&b={names[2]}",
    ]
    stated = said(library, "")
    assert "PyTorch decode step · H200 · decode_step.py:106 main (same name)" in stated
    assert "PyTorch decode step · H100 80GB HBM3 → H200 · decode_step.py:106 main" in stated
    assert stated.count("another GPU") == 2


@pytest.mark.parametrize("graph", ["7", "1:7"])
def test_graph_that_is_not_there_is_reported(library: Library, graph: str) -> None:
    with pytest.raises(RecordingError, match="no graph 7"):
        content(library, f"?a={BEFORE}&b={AFTER}&graph={graph}")


def test_one_open_recording_is_reported_what_to_do(files: tuple[Path, Path]) -> None:
    assert "Only one recording is open" in said(Library(files[:1]), "")


def test_other_graphs_are_reported_and_can_be_compared_anyway(tmp_path: Path) -> None:
    library = Library(
        [
            write_recording(tmp_path / "fork.gviz", fork_join_shape()),
            write_recording(tmp_path / "layers.gviz", transformer_shape(2)),
        ]
    )
    assert "No graph of fork is a graph of layers" in said(library, "?a=fork&b=layers")
    assert "/compare?a=fork&b=layers&graph=1:1" in linked(library, "?a=fork&b=layers")
    stated = texts(body(library, "?a=fork&b=layers&graph=1:1"))
    assert "Hardly two versions of one graph, with " in stated
    assert "The launch " in stated
    assert stated.index("Hardly two versions") < stated.index("The launch ")
    assert content(library, "?a=fork&b=layers&graph=1:1")["colour"] == "change"


def test_nodes_of_which_none_has_a_time_on_both_sides_have_the_colours_of_their_page() -> None:
    recordings = ROOT / "assets" / "recordings"
    names = ("cupy_pipeline", "token_step_1")
    with_none = Library([recordings / f"{name}.gviz" for name in names])
    found = content(with_none, f"?a={names[0]}&b={names[1]}&graph=1:1")
    assert found["colour"] == "family"
    assert "Relative change" not in json.dumps(found["parts"])


def test_graphs_without_a_change_have_the_colours_of_the_page_of_one(tmp_path: Path) -> None:
    shape = fork_join_shape()
    library = Library([write_recording(tmp_path / f"{name}.gviz", shape) for name in "ab"])
    assert content(library, "?a=a&b=b&graph=1:1")["colour"] == "family"
    found = compare_sides(library, Sides("a", "b", 1, 1))
    header, arrays = dag(library, found, ("a", "b"), None)
    with Recording(tmp_path / "b.gviz") as recording:
        own, alone = unpack(dag_payload(recording, 1))
        spans = unpack(timeline_payload(recording, 1, "median", None))[1]

    def coloured(header: dict[str, Any], arrays: Arrays) -> dict[int, int]:
        families = arrays["family"].tolist()
        slots = [header["family_slots"][str(family)] for family in families]
        return dict(zip(arrays["node_id"].tolist(), slots, strict=True))

    assert coloured(header, arrays) == coloured(own, alone)
    assert "family" in header["overlays"]
    sides = timeline(library, found, ("a", "b"))[1]
    assert sides["graph_family"].tolist() == spans["graph_family"].tolist()


def test_cycle_is_a_sentence(tmp_path: Path) -> None:
    library = Library(
        [
            write_recording(tmp_path / "sound.gviz", fork_join_shape()),
            write_cyclic_recording(tmp_path / "cyclic.gviz"),
        ]
    )
    for search in ("?a=sound&b=cyclic&graph=1:1", "?a=cyclic&b=sound&graph=1:1"):
        with pytest.raises(CycleError):
            content(library, search)


def test_no_launch_on_one_side_leaves_the_rest(tmp_path: Path) -> None:
    library = Library(
        [
            write_recording(tmp_path / "timed.gviz", fork_join_shape()),
            write_recording(tmp_path / "untimed.gviz", fork_join_shape(), launches=0),
        ]
    )
    stated = texts(body(library, "?a=timed&b=untimed"))
    assert "No launch was timed after" in stated
    assert "Where the time changed: not computed" in stated
    assert "0 removed, 0 added" in stated.replace("\n", "")


def test_other_gpu_is_a_caveat_of_the_verdict(files: tuple[Path, Path]) -> None:
    library = Library([Path(next(iter(bundled.__path__))) / "decode_step.gviz", files[0]])
    stated = texts(body(library, f"?a=decode_step&b={BEFORE}"))
    assert "GPU NVIDIA H100 80GB HBM3 → NVIDIA H200: it may explain a change." in stated


def test_graph_of_a_dump_is_compared_without_times(tmp_path: Path) -> None:
    library = Library(
        [
            write_imported_recording(tmp_path / "one.gviz"),
            write_imported_recording(tmp_path / "two.gviz"),
        ]
    )
    assert "No launch was timed on either side" in texts(body(library, "?a=one&b=two"))


def test_evil_names_are_text(tmp_path: Path) -> None:
    library = Library(
        [write_evil_recording(tmp_path / "a.gviz"), write_evil_recording(tmp_path / "b.gviz")]
    )
    assert content(library, "?a=a&b=b&graph=1:1")["compares"]
    for name in TABLES:
        table(compare_sides(library, Sides("a", "b", 1, 1)), name)


# -- the inspector -------------------------------------------------------------------------


def test_inspector_of_a_replaced_kernel_says_what_became_of_it(library: Library) -> None:
    search = f"?a={BEFORE}&b={AFTER}"
    nodes = table(compared(library, search), "nodes")
    stated = texts(inspected(library, search, nodes["key"][0])).replace("\n", " ")
    for words in ("node 49 → 40", "11.8 µs", "6.75 µs", "faster", "grid"):
        assert words in stated
    found = links(inspected(library, search, nodes["key"][0]))
    assert found == [
        f"/graph?file={BEFORE}&graph=1&node=49",
        f"/graph?file={AFTER}&graph=1&node=40",
    ]
    gone = nodes["key"][nodes["what"].index("removed")]
    stated = texts(inspected(library, search, gone))
    assert "Removed: B has no such node." in stated
    assert "It is part of GEMM f16 nnt 64x8 + 3 more → attention forward f16 16x128." in stated


def test_summary_has_a_layer_of_both_whose_nodes_can_be_chosen(library: Library) -> None:
    search = f"?a={BEFORE}&b={AFTER}"
    shown = inspected(library, search)
    stated = " ".join(texts(shown).split())
    assert "One of 16 layers: layer" in stated
    assert "20 nodes → 17; " in stated
    rows = [x for x in walk(shown) if "gv-layer-row" in (getattr(x, "className", None) or "")]
    assert len(rows) == 20
    classes = [row.className.rpartition("-")[2] for row in rows]
    assert classes.count("removed") == 3
    (replaced,) = [row for row in rows if "in place of 4" in texts(row)]
    assert replaced.className.endswith("gv-layer-faster")
    # A click selects the node that the table has too.
    nodes = table(compared(library, search), "nodes")
    assert {int(getattr(row, "data-node")) for row in rows} <= set(nodes["key"])
    place = nodes["key"].index(int(getattr(replaced, "data-node")))
    assert nodes["name"][place].endswith(FUSED)


def test_inspector_of_no_node_of_either_is_the_summary(library: Library) -> None:
    search = f"?a={BEFORE}&b={AFTER}"
    assert texts(inspected(library, search, 99_999)) == texts(inspected(library, search))


# -- tables --------------------------------------------------------------------------------


def test_table_of_nodes_has_every_node_of_both_once(found: Comparison) -> None:
    nodes = table(found, "nodes")
    assert len(nodes["key"]) == len(set(nodes["key"])) == 320
    assert nodes["what"].count("removed") == 48
    assert nodes["what"].count("changed") == 16
    assert sum(n is not None for n in nodes["node_a"]) == 320
    assert sum(n is not None for n in nodes["node_b"]) == 272
    # What matters most stands first: the fused kernel, with the four that it took the place of.
    assert (nodes["what"][0], nodes["verdict"][0]) == ("changed", "faster")
    assert nodes["name"][0].endswith(" + 3 more → " + FUSED)
    assert nodes["difference"][0].startswith("in place of 4 nodes; kernel: ")
    removed = [d for w, d in zip(nodes["what"], nodes["difference"], strict=True) if w == "removed"]
    assert all(difference == f"in {nodes['name'][0]}" for difference in removed)


def test_interval_holds_the_change_and_agrees_with_the_verdict(found: Comparison) -> None:
    nodes = table(found, "nodes")
    beyond = [at for at, v in enumerate(nodes["verdict"]) if v in ("slower", "faster")]
    assert beyond
    for at in beyond:
        low, change, high = (nodes[name][at] for name in ("low_ns", "change_ns", "high_ns"))
        assert low > 0 or high < 0
        # The interval is of the shift of ranks, the change of medians: a step of CUPTI's clock.
        assert low - 32 <= change <= high + 32


def test_tables_have_what_gviz_diff_lists(found: Comparison) -> None:
    (level,) = found.graph.levels
    assert count(found, "names") == len(level.replaced) + len(level.names)
    assert count(found, "ranges") == len(level.ranges)
    edges = table(found, "edges")
    assert edges["what"].count("removed") == len(level.edges_removed)
    assert edges["what"].count("added") == len(level.edges_added)
    changes = sum(len(node.changes) for node in level.changed)
    assert count(found, "changed") == changes
    apart = sum(len(node.changes) for node in level.only_addresses)
    assert count(found, "addresses") == apart


@pytest.mark.parametrize(("sides", "became"), [("ab", "removed"), ("ba", "added")])
def test_names_of_one_side_count_with_their_whole_time(
    tmp_path: Path, sides: str, became: str
) -> None:
    shape = fork_join_shape()
    more = Work("alone_kernel", 90_000, (len(shape.works) - 1,))
    library = Library(
        [
            write_recording(tmp_path / "a.gviz", Shape("more", (*shape.works, more)), launches=8),
            write_recording(tmp_path / "b.gviz", shape, launches=8),
        ]
    )
    names = table(compare_sides(library, Sides(*sides, 1, 1)), "names")
    rows = [dict(zip(names, row, strict=True)) for row in zip(*names.values(), strict=True)]
    # The largest change of all: no name that both have changed by so much.
    assert (rows[0]["name"], rows[0]["verdict"]) == ("alone_kernel", became)
    assert rows[0]["change_ns"] == (rows[0]["b_ns"] if became == "added" else -rows[0]["a_ns"])
    sizes = [abs(row["change_ns"] or 0.0) for row in rows]
    assert sizes == sorted(sizes, reverse=True)


def test_every_table_names_nodes_by_numbers_of_the_page(found: Comparison) -> None:
    known = {*found.keys.before.tolist(), *found.keys.after.tolist()}
    for name in TABLES:
        columns = table(found, name)
        for keys in columns.get("keys", [[key] for key in columns.get("key", [])]):
            assert known.issuperset(keys)


def test_table_of_nodes_has_those_of_bodies(tmp_path: Path) -> None:
    _, found = pair(tmp_path)
    nodes = table(found, "nodes")
    assert len(nodes["key"]) == len(found.trees[1].nodes)
    assert any(nodes["body"])


@pytest.mark.parametrize("after", [NESTED, NESTED_CHANGED, NESTED_SHORTENED])
@pytest.mark.parametrize("swapped", [False, True])
def test_nodes_lead_to_the_bodies_in_them_and_bodies_back(
    tmp_path: Path, after: tuple[Part, ...], *, swapped: bool
) -> None:
    sides = (after, NESTED) if swapped else (NESTED, after)
    library = Library(
        [
            write_nested_recording(tmp_path / f"{n}.gviz", parts)
            for n, parts in zip("ab", sides, strict=True)
        ]
    )
    search = "?a=a&b=b&graph=1"
    found = compared(library, search)

    @cache  # nodes of one body have the same around them
    def drawn(level: int, opened: tuple[str, ...]) -> set[int]:
        return set(dag(library, found, ("a", "b"), None, level, opened)[1]["node_id"].tolist())

    offered: dict[str, list[tuple[str, list[str], str]]] = {}
    for key in sorted({*found.keys.before.tolist(), *found.keys.after.tolist()}):
        place = place_of(found, key)
        assert place is not None
        ways = [
            (texts(x), [*filter(None, vars(x)["data-open"].split(","))], vars(x)["data-level"])
            for x in walk(inspected(library, search, key))
            if hasattr(x, "data-open")
        ]
        offered.setdefault(place.row.name, []).extend(ways)
        # What has to be open for it to be seen draws it.
        around = tuple(f"n{node}" for node in open_path(found, place))
        assert key in drawn(0, around)
    switch = [text for text, _, _ in offered["CONDITIONAL SWITCH"]]
    assert "Only body 2: case 2" in switch
    assert ("Only body 3: case 3" in switch) is (after is NESTED_CHANGED)
    for text, nodes, level in (way for ways in offered.values() for way in ways):
        assert bool(nodes) is not text.startswith("Only ")
        assert drawn(int(level), tuple(nodes))


def test_body_of_one_side_is_counted_listed_and_offered(tmp_path: Path) -> None:
    files = [
        write_nested_recording(tmp_path / f"{name}.gviz", parts)
        for name, parts in (("a", NESTED_CHANGED), ("b", NESTED))
    ]
    library = Library(files)
    shown = body(library, "?a=a&b=b&graph=1")
    summary = texts(shown).replace("\n", "")
    count = sum(x.end - x.first for x in compare_sides(library, Sides("a", "b", 1)).trees[0].levels)
    assert f"{count} nodes before" in summary
    assert "2 removed, 1 added" in summary
    assert "; 1 body removed (1 node)" in summary
    offered = by_id(shown, "level").data
    assert offered[-1]["label"] == "body 3 of node 3 (only in A)"
    nodes = table(compare_sides(library, Sides("a", "b", 1)), "nodes")
    at = nodes["name"].index("case3_a")
    assert (nodes["what"][at], nodes["verdict"][at]) == ("removed", "removed")
    assert nodes["difference"][at] == "in a body that only A has"


# -- views ---------------------------------------------------------------------------------


def timeline(library: Library, found: Comparison, names: tuple[str, str]) -> Any:
    recordings = tuple(library.file(n).recording for n in names)
    return unpack(
        both_timelines(found, recordings, Sides(*names), None, (build_anew, build_anew))  # type: ignore[arg-type]
    )


def test_both_launches_are_on_one_axis_from_zero(library: Library, found: Comparison) -> None:
    header, a = timeline(library, found, (BEFORE, AFTER))
    assert header["sides"]["graph"]["title"] == f"A · {BEFORE}"
    assert header["graph"]["total_ns"] > header["stream"]["total_ns"]
    assert a["graph_start_ns"].min() == a["stream_start_ns"].min() == 0
    assert len(a["graph_node_id"]) == 320
    assert len(a["stream_node_id"]) == 272
    shared = np.intersect1d(a["graph_node_id"], a["stream_node_id"])
    assert len(shared) == 272
    # Names are numbered in one row of strings.
    both = header["strings"]
    name = {int(k): both[i] for k, i in zip(a["stream_node_id"], a["stream_name"], strict=True)}
    nodes = table(found, "nodes")
    for key, text in zip(nodes["key"], nodes["name"], strict=True):
        if key in name:
            assert text.endswith(name[key])


def test_bodies_of_both_are_found_at_the_nodes_that_hold_them(tmp_path: Path) -> None:
    library, found = pair(tmp_path)
    _, a = timeline(library, found, ("a", "b"))
    assert set(a["nested_node"].tolist()) == set(
        found.keys.after[found.trees[1].parent >= 0].tolist()
    )


def test_launch_of_one_side_only_is_shown_alone(tmp_path: Path) -> None:
    library = Library(
        [
            write_recording(tmp_path / "timed.gviz", fork_join_shape()),
            write_recording(tmp_path / "untimed.gviz", fork_join_shape(), launches=0),
        ]
    )
    found = compare_sides(library, Sides("timed", "untimed", 1))
    header, _ = timeline(library, found, ("timed", "untimed"))
    assert header["stream"] is None
    assert header["sides"]["stream"]["missing"].startswith("No launch of B")


def dag(
    library: Library,
    found: Comparison,
    names: tuple[str, str],
    layout: str | None,
    level: int = 0,
    opened: Sequence[str] = (),
) -> Any:
    recordings = tuple(library.file(n).recording for n in names)
    requested = UnionRequest(level, layout, frozenset(opened))
    return unpack(union_dag(found, recordings, names, requested))  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["structure", "lanes"])
def test_union_has_every_node_and_edge(library: Library, found: Comparison, layout: str) -> None:
    header, a = dag(library, found, (BEFORE, AFTER), layout)
    (level,) = found.graph.levels
    assert header["layout"] == layout
    assert len(a["node_id"]) == 320
    verdicts = [header["change"]["verdicts"][v] for v in a["verdict"]]
    assert verdicts.count("removed") == len(level.removed) == 48
    assert np.bincount(a["edge_origin"]).tolist() == [
        level.edge_kept_count, len(level.edges_removed), len(level.edges_added)
    ]  # fmt: skip
    assert len(np.unique(np.column_stack([a["x"], a["y"]]), axis=0)) == 320
    gone = a["verdict"] == header["change"]["verdicts"].index("removed")
    assert np.isfinite(a["before_ns"][gone]).all()
    assert np.isnan(a["change_ns"][gone]).all()


def test_union_of_untimed_graphs_is_coloured_by_family(tmp_path: Path) -> None:
    library = Library(
        [
            write_recording(tmp_path / "a.gviz", fork_join_shape(), launches=0),
            write_recording(tmp_path / "b.gviz", fork_join_shape(width=5), launches=0),
        ]
    )
    found = compare_sides(library, Sides("a", "b", 1, 1))
    header, a = dag(library, found, ("a", "b"), None)
    assert "change" not in header["overlays"]
    assert header["change"]["added"] == 9
    assert (a["edge_origin"] == 2).any()

"""Pages as component trees: what each says, and in which state an address puts it."""

from __future__ import annotations

import json
import lzma
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import plotly
import pytest
from app_recordings import OWN_LINE, measured, write_detailed_recording, write_imported_recording
from app_tree import by_id, links, texts, walk
from inspected import inspected, listed, record_of, value
from places import ROOT
from recordings import Shape, transformer_shape, write_loop_recording, write_recording
from shown_pages import render_page

from gviz.app.components.addresses import PAGES, TREND, Addresses, parse_query
from gviz.app.components.canvases import GraphPage
from gviz.app.files.library import Library
from gviz.app.inspector.memory_panel import render_memory_facts
from gviz.app.pages import graph
from gviz.app.pages.graph import graph_payload
from gviz.app.server import address_page
from gviz.app.views.dag.folding import fold_level
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import DagRequest, dag_payload, level_memory_payload
from gviz.app.views.table.table import table_payload
from gviz.app.views.wire import unpack
from gviz.formats.importer import import_files
from gviz.model.tree.graph_level import read_graph_level
from gviz.recording.reader import Recording
from gviz.text import duration

ADDRESSES = Addresses("/")


def page(library: Library, path: str, search: str = "") -> object:
    return render_page(library, ADDRESSES, path, search)[0]


@pytest.fixture
def detailed(tmp_path: Path) -> Library:
    return Library([write_detailed_recording(tmp_path / "detailed.gviz")])


@pytest.fixture
def imported(tmp_path: Path) -> Library:
    return Library([write_imported_recording(tmp_path / "dump.gviz")])


@pytest.fixture
def loop(tmp_path: Path) -> Library:
    return Library([write_loop_recording(tmp_path / "loop.gviz")])


@pytest.fixture(scope="module")
def small(small_recording: Path) -> Library:
    return Library([small_recording])


def inspect(library: Library, graph_id: int, *nodes: int) -> str:
    file = library.files()[0].key
    view = graph_view(library, file, graph_id)
    return inspected(library, file, view, nodes)


def test_runs_page_lists_every_run_with_a_way_to_it(small: Library) -> None:
    shown = page(small, "/")
    assert "fork-join 3x4" in texts(shown)
    assert "H100 80GB HBM3" in texts(shown)
    assert "/run?file=small&run=1" in links(shown)
    assert "/graph?file=small&graph=1" in links(shown)


def test_runs_page_marks_an_aborted_run_and_shows_its_warning(detailed: Library) -> None:
    shown = texts(page(detailed, "/"))
    assert "aborted" in shown
    assert "The process was killed." in shown
    assert "2 × H100 80GB HBM3" in shown


def test_run_page_says_what_measuring_cost(detailed: Library) -> None:
    shown = texts(page(detailed, "/run", "?file=detailed&run=1"))
    assert "Two events around a launch\n1.53 µs" in shown
    assert "1.53 µs" in shown
    assert "unknown (aborted)" in shown


def test_graph_page_offers_the_launch_that_its_address_names(
    small: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "OFFERED_LAUNCHES", 2)
    choice = by_id(page(small, "/graph", "?file=small&graph=1&launch=7"), "launch")
    assert choice.value == "7"
    assert [o["value"] for o in choice.data] == ["median", "all", "1", "2", "7"]


def test_graph_page_ignores_a_launch_that_is_not_there(small: Library) -> None:
    shown = page(small, "/graph", "?file=small&graph=1&launch=99999")
    assert 1 <= int(by_id(shown, "launch").value) <= 20


def test_graph_page_is_fetched_with_what_its_address_names(small: Library) -> None:
    search = "?file=small&graph=1&launch=7&stream=21&node=1005"
    shown, _, title = address_page.render_page(small, ADDRESSES, "/graph", search)
    assert isinstance(shown, GraphPage)
    key = small.file("small").versioned_key
    assert shown.source == f"/payload/page/{key}/1?launch=7&stream=21"
    assert shown.state == {"query": search, "steps": 0}
    assert title.endswith("gviz")


def test_graph_page_knows_where_its_data_are(small: Library) -> None:
    view = graph_view(small, "small", 1)
    made = json.loads(graph_payload(small, "small", view, parse_query(""), Addresses("/p/")))
    key = small.file("small").versioned_key
    assert made["sources"]["timeline"] == f"/p/payload/timeline/{key}/1"
    kinds = {"dag", "timeline", "memory", "facts", "table", "inspector", "breakdown", "verdict"}
    assert set(made["sources"]) == kinds | {"saved", "uses", "what-if"}
    assert made["fixed"] == {"file": "small", "graph": 1}
    assert made["first"] == ["dag", "timeline"]
    assert made["colour"] == "family"
    assert made["launch"] in {str(x.launch_id) for x in view.recorded_launches}


def test_repeats_that_cover_a_graph_are_folded_at_first(tmp_path: Path, small: Library) -> None:
    path = write_recording(tmp_path / "long.gviz", transformer_shape(12), launches=2)
    long = Library([path])
    view = graph_view(long, "long", 1)
    made = json.loads(graph_payload(long, "long", view, parse_query(""), ADDRESSES))
    assert (made["fold"], made["open"]) == ("repeats", ["first"])
    made = json.loads(
        graph_payload(small, "small", graph_view(small, "small", 1), parse_query(""), ADDRESSES)
    )
    assert (made["fold"], made["open"]) == ("none", [])


def test_graph_without_repeats_is_folded_by_its_ranges_at_first(tmp_path: Path) -> None:
    shape = transformer_shape(12)
    # No two nodes are equal.
    works = tuple(replace(work, grid_x=1_000 + at) for at, work in enumerate(shape.works))
    path = write_recording(tmp_path / "odd.gviz", Shape("odd", works), launches=2)
    odd = Library([path])
    view = graph_view(odd, "odd", 1)
    made = json.loads(graph_payload(odd, "odd", view, parse_query(""), ADDRESSES))
    assert made["fold"] == "ranges"
    with Recording(path) as recording:
        tree = fold_level(read_graph_level(recording, 1), "ranges")
    closed = [fold.title for fold in tree.closed(made["open"])]
    assert closed == [f"layer {n}" for n in range(12)]


def test_timeline_of_many_iterations_comes_before_the_dag(
    loop: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "SENT_WHOLE", 3)
    monkeypatch.setattr(graph, "_MANY_ITERATIONS", 1)
    view = graph_view(loop, "loop", 1)
    made = json.loads(graph_payload(loop, "loop", view, parse_query(""), ADDRESSES))
    assert made["first"] == ["timeline", "dag"]


def test_graph_page_of_an_import_says_that_it_has_no_times(imported: Library) -> None:
    shown = page(imported, "/graph", "?file=dump&graph=1")
    assert "No times: a DOT dump carries none" in texts(shown)
    assert by_id(shown, "colour").value == "family"


def test_graph_page_without_nodes_says_so(imported: Library) -> None:
    assert "This graph has no nodes." in texts(page(imported, "/graph", "?file=dump&graph=2"))


def test_body_graph_is_reached_from_its_node_and_leads_back(loop: Library) -> None:
    assert "/graph?file=loop&graph=2" in inspect(loop, 1, 1002)
    _, steps, _ = render_page(loop, ADDRESSES, "/graph", "?file=loop&graph=2")
    assert "/graph?file=loop&graph=1" in links(steps)


@pytest.mark.parametrize(("graph_id", "says"), [(1, False), (2, True)])
def test_body_says_why_it_has_no_breakdown(loop: Library, graph_id: int, says: bool) -> None:
    shown = page(loop, "/graph", f"?file=loop&graph={graph_id}")
    assert ("A body has no launch of its own" in texts(shown)) is says


def test_body_graph_shows_the_times_of_its_nodes(loop: Library) -> None:
    found = record_of(loop, "loop", graph_view(loop, "loop", 2), 2001)
    assert value(found["statistics"]["median_ns"]) == 5_000
    assert value(found["label"]) == "step_kernel"


def test_node_with_a_body_shows_the_time_inside(loop: Library) -> None:
    view = graph_view(loop, "loop", 1)
    shown = inspect(loop, 1, 1002)
    assert "its time is that of the nodes of its body" in shown
    assert "34.0 µs" in shown  # 5 iterations of 5.0 and 1.8 µs
    assert view.node_time.median_ns == 34_000 + 3_000 + 2_500


@pytest.mark.parametrize(
    ("path", "search"),
    [
        ("/nowhere", ""),
        ("/graph", ""),
        ("/graph", "?file=none&graph=1"),
        ("/graph", "?file=small&graph=77"),
        ("/run", "?file=small&run=9"),
        ("/run", "?file=none&run=1"),
        ("/graph", "?file=small&graph=abc"),
    ],
)
def test_address_of_nothing_is_a_message(small: Library, path: str, search: str) -> None:
    assert "Not here" in texts(page(small, path, search))


def test_inspector_is_told_everything_of_a_kernel(detailed: Library) -> None:
    view = graph_view(detailed, detailed.files()[0].key, 1)
    found = record_of(detailed, detailed.files()[0].key, view, 11)
    node = {name: value(column) for name, column in found["node"].items()}
    assert (node["name"], node["grid_x"], node["grid_y"], node["block_x"]) == ("silu", 64, 2, 128)
    assert (node["shared_mem_bytes"], node["occupancy_fraction"]) == (2048, 0.75)
    assert (node["capture_stream_id"], node["priority"]) == (13, -1)
    (function,) = found["functions"].values()
    assert function["name"] == "void silu<float>(float*, int, float)"
    assert (function["static_shared_mem_bytes"], function["registers"]) == (1024, 32)
    (stack,) = found["stacks"].values()
    assert OWN_LINE in stack["frames"][stack["own"]]["source"]
    assert stack["frames"][stack["own"]]["file"] == "/home/user/train.py"
    assert value(found["nvtx"]) == "step › layer 3"
    assert value(found["argument_count"]) == 3
    assert bytes.fromhex(found["arguments"]["value"]["values"][0])[:2] == b"\x00\x02"
    assert found["arguments"]["allocation_bytes"]["values"] == [1 << 20, None, None]


def test_inspector_is_told_direction_size_and_addresses_of_a_copy(detailed: Library) -> None:
    view = graph_view(detailed, detailed.files()[0].key, 1)
    found = record_of(detailed, detailed.files()[0].key, view, 12)
    node = {name: value(column) for name, column in found["node"].items()}
    assert value(found["direction"]) == "device to host"
    assert (node["bytes"], node["source_address"]) == (4096, 0x7F00_0000_0000)
    assert node["destination_address"] == 0x5500_0000_1000
    assert node["stack_reason"] == "created without Python"


def test_inspector_says_why_a_node_has_no_time(imported: Library, detailed: Library) -> None:
    assert "Not timed: CUPTI reports host nodes only from version 13.1." in inspect(imported, 1, 2)
    assert "imported from a DOT dump" in inspect(imported, 1, 1)
    assert "no launch of this graph was recorded" in inspect(detailed, 1, 11)


def test_inspector_compares_with_the_eager_iteration(small: Library) -> None:
    view = graph_view(small, "small", 1)
    found = record_of(small, "small", view, 1005)
    assert found["eager"] == {"0": [1, 2944.0]}
    assert found["timed_count"] == view.timed_count


def test_inspector_of_several_nodes_sums(small: Library) -> None:
    view = graph_view(small, "small", 1)
    total = sum(measured(view)[n].median_ns for n in (1004, 1005))
    shown = inspect(small, 1, 1004, 1005, 1003)
    assert "3 nodes selected" in shown
    assert f"{total / 1e3:.2f} µs" in shown
    assert "2 of 3" in shown


def test_inspector_of_nothing_offers_the_slowest_nodes(small: Library) -> None:
    view = graph_view(small, "small", 1)
    slowest = max(measured(view).values(), key=lambda s: s.median_ns)
    shown = inspect(small, 1)
    assert "No node selected" in shown
    assert view.nodes[slowest.node_id].name in shown


def test_table_has_one_value_a_node_and_its_share(small: Library) -> None:
    view = graph_view(small, "small", 1)
    columns = json.loads(table_payload(view))
    assert columns["node"] == sorted(view.nodes)
    # Of stacks and families there are fewer than nodes.
    assert columns.pop("stacks") == columns.pop("calls") == []
    assert set(columns["family"]) == set(range(len(columns.pop("families"))))
    assert {len(listed(columns, name)) for name in columns} == {len(view.nodes)}
    total = sum(s.total_ns for s in measured(view).values())
    shares = sum(s for s in columns["share"] if s is not None)
    assert shares == pytest.approx(total / view.recorded_gpu_ns)


def test_table_of_no_nodes_is_empty(imported: Library) -> None:
    assert table_payload(graph_view(imported, "dump", 2)) == b"{}"


def test_names_are_text_and_never_markup(detailed: Library) -> None:
    shown, steps, title = render_page(detailed, ADDRESSES, "/run", "?file=detailed&run=1")
    assert "train <b>.py" in texts(shown)
    assert "dangerously" not in json.dumps(
        [shown, steps, title], cls=plotly.utils.PlotlyJSONEncoder
    )


@pytest.mark.parametrize(
    ("layers", "launches", "fold"), [(3, 2, "none"), (4, 2, "repeats"), (20, 0, "repeats")]
)
def test_repeats_are_folded_at_first_where_names_would_not_be_read(
    tmp_path: Path, layers: int, launches: int, fold: str
) -> None:
    """Of 51, 66 and 306 nodes, these without times."""
    path = write_recording(tmp_path / "step.gviz", transformer_shape(layers), launches=launches)
    library = Library([path])
    found = graph_payload(
        library, "step", graph_view(library, "step", 1), parse_query(""), ADDRESSES
    )
    assert json.loads(found)["fold"] == fold


@pytest.mark.parametrize(
    ("collector", "advice"), [("events", "--collector cupti"), ("cupti", "--node-launches all")]
)
def test_page_without_node_times_advises_what_can_have_them(
    tmp_path: Path, small_recording: Path, collector: str, advice: str
) -> None:
    path = Path(shutil.copy(small_recording, tmp_path / "untimed.gviz"))
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM launch WHERE node_level = 1")
        database.execute("UPDATE run SET collector = ?", (collector,))
    database.close()
    shown = texts(page(Library([path]), "/graph", "?file=untimed&graph=1"))
    assert "No node times: " in shown
    assert advice in shown


def test_large_page_is_built_once(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "large.gviz", transformer_shape(40), launches=2)
    library = Library([path])
    assert graph_view(library, "large", 1) is graph_view(library, "large", 1)


@pytest.mark.parametrize("text", ["99999999999999999999", "-1", "x", "١", "1e3", ""])
def test_address_with_an_impossible_id_is_a_page_not_an_error(small: Library, text: str) -> None:
    shown = texts(page(small, "/graph", f"?file=small&graph={text}"))
    assert "Runs" in shown or "no " in shown.lower()
    assert texts(
        page(small, "/graph", f"?file=small&graph=1&launch={text}&node={text}&stream={text}")
    )
    assert texts(page(small, "/run", f"?file=small&run={text}"))


def test_time_is_summed_by_kernel_name() -> None:
    pipeline = Library([ROOT / "assets" / "recordings" / "cupy_pipeline.gviz"])
    view = graph_view(pipeline, "cupy_pipeline", 1)
    shown = inspect(pipeline, 1)
    blurs = [s.median_ns for n, s in measured(view).items() if view.nodes[n].name == "blur"]
    assert len(blurs) == 4
    assert f"blur\n4\n{duration(sum(blurs))}\n" in shown


@pytest.mark.parametrize("number", [1, 2])
def test_memory_view_of_a_dump_says_that_there_is_nothing(imported: Library, number: int) -> None:
    view = graph_view(imported, "dump", number)
    facts = texts(render_memory_facts(imported, "dump", view))
    assert "No node of this graph allocates or frees memory" in facts
    with Recording(imported.file("dump").path) as recording:
        header, _ = unpack(level_memory_payload(recording, number, None))
        assert header["axis"] == "order"
        assert unpack(dag_payload(recording, number, DagRequest(data=True)))


@pytest.mark.parametrize("number", [1, 2])
def test_memory_view_of_bodies_has_the_times_of_the_launch(loop: Library, number: int) -> None:
    with Recording(loop.file("loop").path) as recording:
        header, arrays = unpack(level_memory_payload(recording, number, 1))
    assert header["axis"] == "time"
    assert (arrays["node_end"] > arrays["node_start"]).all()


def test_memory_is_fetched_when_it_is_looked_at(small: Library) -> None:
    shown = page(small, "/graph", "?file=small&graph=1")
    assert not texts(by_id(shown, "memory-box"))
    assert by_id(shown, "memory-box").hidden


def test_an_imported_trace_without_graphs_is_marked_as_one(tmp_path: Path) -> None:
    golden = ROOT / "tests" / "golden" / "traces" / "eager_torch_2.11.json.xz"
    trace = tmp_path / "eager.json"
    trace.write_bytes(lzma.decompress(golden.read_bytes()))
    import_files([trace], tmp_path / "eager.gviz")
    shown = page(Library([tmp_path / "eager.gviz"]), "/")
    stated = texts(shown)
    assert "The trace has no launch of a CUDA graph, and 44 operations outside graphs." in stated
    assert "while gviz watched" not in stated
    titles = [str(getattr(part, "title", "")) for part in walk(shown)]
    assert any("the trace is of PyTorch's profiler" in title for title in titles)
    assert not any("it carries no times" in title for title in titles)


def test_page_that_the_list_of_pages_lacks_is_not_served(
    small: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = [address_page.render_page(small, ADDRESSES, TREND, "")[2]]
    monkeypatch.delitem(PAGES, TREND)
    titles.append(address_page.render_page(small, ADDRESSES, TREND, "")[2])
    assert titles == ["Trend – gviz", "gviz"]

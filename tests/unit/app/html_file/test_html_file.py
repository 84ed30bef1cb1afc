"""The HTML file of ``gviz export --html``: what is in it, that it asks for nothing, its size."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from admitted import admitted_client
from app_recordings import write_detailed_recording, write_imported_recording
from app_tree import texts
from dash import dcc, html
from inspected import listed, record_of, value
from life_recordings import write_life_recording
from nested_recordings import NESTED, NESTED_SHORTENED, write_nested_recording
from recordings import (
    Shape,
    Work,
    transformer_shape,
    write_loop_recording,
    write_recording,
)
from saved_file import SavedFile, part_text

from gviz.app.components.addresses import Addresses, Sides
from gviz.app.components.parts import Parts
from gviz.app.components.web_modules import join_modules, list_modules
from gviz.app.files.library import Library
from gviz.app.html_file.facts import NODES_A_BLOB
from gviz.app.html_file.file import write_html
from gviz.app.html_file.launches import check_launches, choose, parse_launch
from gviz.app.html_file.pool import Pool
from gviz.app.pages.compare.comparison import compare_sides
from gviz.app.pages.compare.inspector import compared_inspector
from gviz.app.pages.compare.table_rows import TABLES, compared_table
from gviz.app.pages.compare.union_dag import UnionRequest, union_dag
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app
from gviz.app.views.dag.visible_levels import open_id
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import DagRequest, dag_payload, timeline_payload
from gviz.app.views.wire import unpack
from gviz.errors import RecordingError, UsageError
from gviz.recording.arrays import SpanArrays
from gviz.recording.reader import Recording

BUNDLED = sorted(Path(str(files("gviz.assets") / "recordings")).glob("*.gviz"))
BUNDLED_OF = {path.stem: path for path in BUNDLED}
HOSTILE = ["</script><script>alert(1)</script>", "<!-- <script>", "]]>&amp;\"'", "\u2028 \x00 核"]


@pytest.fixture(scope="module")
def small(small_recording: Path, tmp_path_factory: pytest.TempPathFactory) -> SavedFile:
    path = tmp_path_factory.mktemp("html") / "small.html"
    write_html(small_recording, path, [1])
    return SavedFile.read(path)


# -- the document ----------------------------------------------------------------------


@pytest.mark.thorough
def test_files_of_one_recording_are_equal_whatever_the_order_of_sets(
    small_recording: Path, tmp_path: Path
) -> None:
    written = []
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.html"
        command = [sys.executable, "-P", "-m", "gviz", "export", small_recording, "--html"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([*command, "-o", path], env=environment, check=True, capture_output=True)
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_file_requests_nothing(small: SavedFile) -> None:
    addresses = {
        value
        for _, attributes in small.tags
        for name, value in attributes.items()
        if name in ("src", "href", "action", "srcset", "poster", "data")
    }
    assert {address.partition(":")[0] for address in addresses} <= {"data"}
    assert not [tag for tag, _ in small.tags if tag in ("iframe", "object", "embed", "base")]
    words = "\n".join([*small.code, *(style.text for style in small.styles)])
    # The name of SVG's vocabulary is no address.
    assert set(re.findall(r"\w+://[^\s\"'`)]+", words)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#)", words.replace("url(#", ""))


def test_policy_allows_the_files_own_scripts_and_no_connection(small: SavedFile) -> None:
    policy = small.policy()
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in " ".join(policy.values())
    assert not {"connect-src", "frame-src", "font-src"} & set(policy)
    for texts_, directive in (
        (small.code, "script-src"),
        ([style.text for style in small.styles], "style-src"),
    ):
        hashes = {
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
            for text in texts_
        }
        assert set(policy[directive].split()) == hashes
    assert len(small.code) == 2
    assert policy["worker-src"] == "blob:"


def test_worker_runs_the_modules_of_layouts(small: SavedFile) -> None:
    web = files("gviz.assets") / "web"
    assert small.worker.rstrip() == join_modules(web, "layout/main.js").rstrip()
    folders = {name.split("/")[0] for name in list_modules(web, "layout/main.js")}
    assert folders == {"core", "inspector", "layout"}


def test_script_is_the_modules_of_a_file_and_of_the_views(small: SavedFile) -> None:
    web = files("gviz.assets") / "web"
    assert small.code[-1] == join_modules(web, "file/main.js")
    names = list_modules(web, "file/main.js")
    folders = {name.split("/")[0] for name in names}
    views = {"dag", "timeline", "memory", "table", "breakdown"}
    assert folders == {"core", "overlay", *views, "search", "inspector", "page", "stores", "file"}
    for name in [*names, *list_modules(web, "layout/main.js"), "early/theme.js"]:
        text = web.joinpath(*name.split("/")).read_text(encoding="utf-8").lower()
        assert not re.search(r"</script|</style|<!--", text), name
    for style in (web / "styles").iterdir():
        assert not re.search(r"</script|</style|<!--", style.read_text("utf-8").lower()), style


def test_every_module_is_in_the_application_or_in_files() -> None:
    web = files("gviz.assets") / "web"
    entries = ("dash/main.js", "file/main.js", "layout/main.js")
    used = {name for entry in entries for name in list_modules(web, entry)}
    with as_file(web) as folder:
        there = {path.relative_to(folder).as_posix() for path in folder.rglob("*.js")}
    assert there - used == {"early/theme.js", "page/store.js"}  # types alone


def test_modules_of_files_are_not_loaded_by_the_application(small_recording: Path) -> None:
    access = AccessRules()
    client = admitted_client(create_app([small_recording], access).server, access)
    headers = {"Host": "localhost"}
    page = client.get("/", headers=headers).get_data(as_text=True)
    (own,) = re.findall(r'<script src="(/gviz\.js[^"]*)"', page)
    code = client.get(own, headers=headers).get_data(as_text=True)
    assert "// core/svg_pen.js" in code
    assert "// file/" not in code
    # What Dash would load as classic scripts.
    assert not re.findall(r'(?:src|href)="[^"]*/assets/[^"?]*\.(?:js|css)', page)


def test_neither_dash_nor_plotly_nor_a_grid_is_in_it(small: SavedFile) -> None:
    code = "\n".join(small.code)
    assert len(code) < 600_000
    assert "React.createElement" not in code
    assert "Plotly.newPlot" not in code


def test_hostile_names_end_no_element(tmp_path: Path) -> None:
    works = tuple(Work(name, 3_000, (i - 1,) if i else ()) for i, name in enumerate(HOSTILE))
    path = write_recording(tmp_path / "r.gviz", Shape(HOSTILE[0], works), launches=2)
    write_html(path, tmp_path / "r.html", [1])
    found = SavedFile.read(tmp_path / "r.html")
    assert len(found.code) == 2
    assert found.title == f"{HOSTILE[0]} – gviz"
    assert HOSTILE[0] not in found.text
    assert listed(found.json("table-1"), "name") == HOSTILE


@pytest.mark.thorough
def test_file_of_5000_nodes_is_under_5_mb(tmp_path: Path) -> None:
    shape = transformer_shape(layers=333)
    assert len(shape.works) > 5_000
    path = write_recording(tmp_path / "r.gviz", shape, launches=20, played=2)
    written = write_html(path, tmp_path / "r.html", [1])
    assert written.node_count == len(shape.works)
    assert written.size_bytes == (tmp_path / "r.html").stat().st_size < 5_000_000


@pytest.mark.thorough
def test_bundled_recordings_are_under_1_kb_a_node(tmp_path: Path) -> None:
    # Real arguments, addresses and stacks: more of them than a generated graph has.
    path = next(path for path in BUNDLED if path.stem == "training_step")
    written = write_html(path, tmp_path / "r.html", [1])
    code = 365_000
    assert written.size_bytes < code + 1_000 * written.node_count


# -- parts -----------------------------------------------------------------------------


def test_equal_components_are_one_part() -> None:
    parts = Parts()

    def fact(value: str) -> html.Div:
        return html.Div([html.Dt("Grid"), html.Dd(value)], className="a")

    first, second, other = (parts.add(fact(value)) for value in ("8", "8", "9"))
    assert first == second != other
    assert [part[0] for part in parts.list] == ["dt", "dd", "div", "dd", "div"]
    assert part_text(parts.list, other) == "Grid 9"


def test_parts_keep_attributes_and_nothing_of_dash() -> None:
    parts = Parts()
    parts.add(
        html.Div(
            [None, "text", [html.B("bold")], 3],
            className="c",
            hidden=True,
            style={"--gv-share": "50%"},
            tabIndex="0",
            **{"aria-label": "L", "data-x": "1"},
        )
    )
    tag, attributes, *children = parts.list[-1]
    assert tag == "div"
    assert attributes == {
        "class": "c",
        "hidden": True,
        "style": {"--gv-share": "50%"},
        "tabindex": "0",
        "aria-label": "L",
        "data-x": "1",
    }
    assert children == ["text", 1, "3"]


def test_what_a_file_has_no_counterpart_for_is_reported() -> None:
    parts = Parts()
    place = parts.add(html.Div([dcc.Dropdown(["a"])]))
    assert parts.unknown == {"Dropdown"}
    assert "gviz view shows it" in part_text(parts.list, place)


# -- against a baseline ----------------------------------------------------------------


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two versions of a program: one more layer, and a node that takes twice as long."""
    folder = tmp_path_factory.mktemp("versions")
    works = list(transformer_shape(layers=4).works)
    works[20] = replace(works[20], duration_ns=2 * works[20].duration_ns)
    shape = transformer_shape(layers=3)
    before = write_recording(folder / "before.gviz", shape, launches=15, seed=1)
    later = Shape("later", tuple(works))
    return before, write_recording(folder / "after.gviz", later, launches=15, seed=2)


def test_file_with_a_baseline_is_the_page_of_both(
    versions: tuple[Path, Path], tmp_path: Path
) -> None:
    before, after = versions
    written = write_html(after, tmp_path / "after.html", [1], baseline=before)
    saved = SavedFile.read(written.path)
    library = Library([after, before])
    sides = Sides("before", "after", 1, 1)
    found = compare_sides(library, sides)
    numbers = sorted({*found.keys.before.tolist(), *found.keys.after.tolist()})
    assert (written.graph_count, written.node_count) == (1, len(numbers))
    assert written.launches == "the median launch before and after"
    graph, facts = saved.json("graph-1"), saved.json("facts-1-0")
    assert (graph["compares"], graph["colour"], graph["name"]) == (True, "change", "before → after")
    # It begins with the sentence, and the waterfall stands in the inspector.
    page = part_text(graph["parts"], graph["page"])
    assert "slower by more than noise" in " ".join(page.split())
    inspector = part_text(graph["parts"], graph["nothing"])
    assert inspector.strip().startswith("Where the launch's time changed")
    for name in TABLES:
        blob = saved.json("table-1" if name == "nodes" else f"table-1-{name}")
        assert blob == json.loads(compared_table(found, name))
    for place, node in enumerate(numbers):
        shown = compared_inspector(found, sides, [node], Addresses("/"))
        assert part_text(facts["parts"], facts["nodes"][place]).split() == texts(shown).split()
    # No page of a graph alone is in the file.
    links = [part for part in facts["parts"] if part[0] == "Link" and part[2].startswith("node ")]
    assert links
    assert {part[1]["href"] for part in links} == {""}
    assert "gviz view before.gviz after.gviz" in graph["note"]


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM graph WHERE parent_graph_id = 1",
        "DELETE FROM node WHERE node_id IN (SELECT parent_node_id FROM graph)",
        "UPDATE graph SET parent_node_id = NULL",
    ],
    ids=["no graph", "no node", "no number of the node"],
)
def test_level_without_its_graph_or_node_is_missing_to_the_page_of_both(
    tmp_path: Path, statement: str, side: str
) -> None:
    paths = {name: tmp_path / f"{name}.gviz" for name in ("before", "after")}
    for path in paths.values():
        write_nested_recording(path, NESTED)
    with closing(sqlite3.connect(paths[side])) as database, database:
        assert database.execute(statement).rowcount > 0
    write_html(paths["after"], tmp_path / "a.html", [1], baseline=paths["before"])
    library = Library([paths["after"], paths["before"]])
    found = compare_sides(library, Sides("before", "after", 1, 1))
    whole = next(tree for name, tree in zip(paths, found.trees, strict=True) if name != side)
    assert len(whole.levels) > len(found.pair.levels) > 0


def test_both_graphs_are_in_the_file_once_with_all_bodies(tmp_path: Path) -> None:
    before = write_nested_recording(tmp_path / "before.gviz", NESTED)
    after = write_nested_recording(tmp_path / "after.gviz", NESTED_SHORTENED)
    saved = SavedFile.read(write_html(after, tmp_path / "a.html", [1], baseline=before).path)
    header, arrays = unpack(saved.blobs()["dag-1"])
    library = Library([after, before])
    found = compare_sides(library, Sides("before", "after", 1, 1))
    recordings = library.file("before").recording, library.file("after").recording
    everything = frozenset(open_id(parent) for parent in found.page.bodies)
    wanted = UnionRequest(0, None, everything)
    shown, drawn = unpack(union_dag(found, recordings, ("before", "after"), wanted))
    assert sorted(arrays["node_id"].tolist()) == sorted(drawn["node_id"].tolist())
    assert len(header["levels"]) == len(found.page)
    for name in ("verdict", "edge_origin"):
        assert sorted(arrays[name].tolist()) == sorted(drawn[name].tolist())
    holding = {int(arrays["node_id"][level["parent"]]) for level in header["levels"][1:]}
    assert holding == set(found.page.bodies)
    assert header["shown"].items() <= shown.items()
    # Every layout is made of it: none is in the file.
    assert not {"x", "route_x"} & set(arrays)


def test_any_two_graphs_of_a_file_are_compared(tmp_path: Path) -> None:
    path = write_loop_recording(tmp_path / "both.gviz")
    with pytest.raises(RecordingError, match="by --graph"):
        write_html(path, tmp_path / "a.html", [1, 2], baseline=path, baseline_graph=1)
    written = write_html(path, tmp_path / "a.html", [1], baseline=path, baseline_graph=1)
    graph = SavedFile.read(written.path).json("graph-1")
    assert graph["name"] == "both → both"


def test_graph_without_a_counterpart_is_shown_alone(tmp_path: Path) -> None:
    path = BUNDLED_OF["graph_lives"]
    with Recording(path) as recording:
        graphs = [g.graph_id for g in recording.fetch_graphs() if g.parent_graph_id is None][:3]
    pair = {graphs[0]: graphs[1]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gviz.app.html_file.file.find_partners", lambda *_: pair)
        written = write_html(path, tmp_path / "a.html", graphs, baseline=path)
    saved = SavedFile.read(written.path)
    assert [bool(saved.json(f"graph-{g}").get("compares")) for g in graphs] == [True, False, False]
    assert "has no graph like this one" in saved.json(f"graph-{graphs[1]}")["note"]


def test_baseline_without_such_a_graph_is_refused(
    versions: tuple[Path, Path], tmp_path: Path
) -> None:
    dump = write_imported_recording(tmp_path / "dump.gviz")
    with pytest.raises(RecordingError, match="dump has no graph like graph 1; 'gviz info' lists"):
        write_html(versions[1], tmp_path / "a.html", [1], baseline=dump)
    assert not (tmp_path / "a.html").exists()


# -- payloads --------------------------------------------------------------------------


def test_pooled_payloads_are_what_they_were(small_recording: Path) -> None:
    pool = Pool()
    with Recording(small_recording) as recording:
        payloads = [
            *(dag_payload(recording, 1, DagRequest(name, 1)) for name in ("structure", "time")),
            timeline_payload(recording, 1, "median", None),
            timeline_payload(recording, 1, 1, None),
        ]
    places = [pool.add(payload) for payload in payloads]
    size = len(pool.data)
    pool.add(payloads[0])
    assert (len(pool.data), pool.headers[-1]) == (size, pool.headers[0])
    for place, payload in zip(places, payloads, strict=True):
        header, arrays = unpack(payload)
        stored = pool.headers[place]
        assert pool.strings[stored["strings"]] == header["strings"]
        for name, array in arrays.items():
            about = stored["arrays"][name]
            assert about["offset"] % 8 == 0
            raw = np.frombuffer(
                pool.data, "<" + about["dtype"], about["length"], offset=about["offset"]
            )
            assert np.array_equal(raw, array, equal_nan=array.dtype.kind == "f")
    assert len(pool.data) < 0.8 * sum(map(len, payloads))


def test_dag_is_there_once_with_the_chosen_launches(small_recording: Path, tmp_path: Path) -> None:
    write_html(small_recording, tmp_path / "r.html", [1], [7, 2])
    saved = SavedFile.read(tmp_path / "r.html")
    header, arrays = unpack(saved.blobs()["dag-1"])
    with Recording(small_recording) as recording:
        shown, nodes = unpack(dag_payload(recording, 1))
    assert header["shown"].items() <= shown.items()
    assert [ordinal for _, ordinal in header["launches"]] == [2, 7]
    for name in ("node_id", "median_ns", "edge_from"):
        assert np.array_equal(arrays[name], nodes[name], equal_nan=True)
    assert {"ran0_start", "ran1_start"} <= set(arrays)
    # Every layout is made of it: none is in the file.
    assert not {"x", "route_x"} & set(arrays)


def test_file_begins_folded_where_the_application_does(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "r.gviz", transformer_shape(layers=12), launches=3)
    graph = SavedFile.read(write_html(path, tmp_path / "r.html", [1]).path).json("graph-1")
    assert (graph["fold"], graph["open"]) == ("repeats", ["first"])


def test_small_graph_begins_unfolded(small: SavedFile) -> None:
    assert (small.json("graph-1")["fold"], small.json("graph-1")["open"]) == ("none", [])


# -- launches --------------------------------------------------------------------------


def test_verdict_and_breakdown_read_spans_of_a_launch_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_recording(tmp_path / "x.gviz", transformer_shape(2), launches=3)
    read: list[int] = []
    fetch = Recording.fetch_spans

    def counted(self: Recording, launch_id: int) -> SpanArrays:
        read.append(launch_id)
        return fetch(self, launch_id)

    monkeypatch.setattr(Recording, "fetch_spans", counted)
    write_html(path, tmp_path / "x.html", [1])
    # The typical one is drawn as well.
    assert (read.count(1), read.count(3)) == (1, 1)


def test_launches_are_chosen_by_their_number(small_recording: Path) -> None:
    library = Library([small_recording])
    view = graph_view(library, "small", 1)
    typical = choose(view, [])
    assert [len(typical.single), typical.several, typical.recorded] == [1, ("median",), 20]
    some = choose(view, [7, 2, "all"])
    assert [launch.ordinal for launch in some.single] == [2, 7]
    assert some.several == ("median", "all")
    assert [option["label"] for option in some.options()][:2] == ["median of 20", "all 20, stacked"]
    assert some.to_text() == "launches #2, #7, the median of 20, stacked all 20"
    recording = library.file("small").recording
    check_launches(recording, [view], [0, 19, "all", "median"])
    with pytest.raises(RecordingError, match=r"no launch #20 with node times; there are #0 to #19"):
        check_launches(recording, [view], [20])


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "##1", "Median"])
def test_malformed_launch_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="give a launch's number"):
        parse_launch(text)


def test_stacking_too_many_spans_is_refused(
    small_recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library([small_recording])
    view = graph_view(library, "small", 1)
    monkeypatch.setattr("gviz.app.html_file.launches.SENT_WHOLE", 100)
    with pytest.raises(RecordingError, match="have 900 spans, and a file holds 100; name some"):
        check_launches(library.file("small").recording, [view], ["all"])


def test_timelines_are_whole_however_many_spans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gviz.app.views.timeline.side_arrays.SENT_WHOLE", 10)
    path = write_recording(tmp_path / "r.gviz", transformer_shape(layers=4), launches=3)
    with Recording(path) as recording:
        thin, _ = unpack(timeline_payload(recording, 1, 1, None))
        whole, _ = unpack(timeline_payload(recording, 1, 1, None, whole=True))
    assert "detail" in thin
    assert "detail" not in whole


# -- what recordings may lack ----------------------------------------------------------


def test_note_says_what_the_file_holds(small: SavedFile) -> None:
    note = small.json("graph-1")["note"]
    assert note.startswith("This file holds launch #")
    assert ", the median of 20, one eager iteration. " in note
    assert "gviz view small.gviz" in note


def test_bodies_come_with_their_graph(tmp_path: Path) -> None:
    path = write_loop_recording(tmp_path / "loop.gviz")
    written = write_html(path, tmp_path / "loop.html", [1])
    assert written.graph_count == 2
    found = SavedFile.read(tmp_path / "loop.html")
    assert [g["id"] for g in found.json("file")["graphs"]] == [1, 2]
    facts = found.json("facts-1-0")
    shown, body = facts["levels"]
    (inside,) = shown["bodies"].values()
    assert [href for _, href, _ in inside["lines"]] == ["#graph=2"]
    assert body["place"][1] == "#graph=2"
    write_html(path, tmp_path / "body.html", [2])
    body = SavedFile.read(tmp_path / "body.html")
    assert set(body.blobs()) >= {"graph-2", "arrays-2", "facts-2-0"}
    assert "graph-1" not in body.blobs()


@pytest.mark.parametrize(
    "write", [write_imported_recording, write_detailed_recording, write_life_recording]
)
def test_any_recording_can_be_written(tmp_path: Path, write: object) -> None:
    path = write(tmp_path / "r.gviz")  # type: ignore[operator]
    with Recording(path) as recording:
        graphs = [g.graph_id for g in recording.fetch_graphs() if g.parent_graph_id is None]
    write_html(path, tmp_path / "r.html", graphs)
    found = SavedFile.read(tmp_path / "r.html")
    for graph_id in graphs:
        about = found.json(f"graph-{graph_id}")
        assert set(about["timeline"].values()) <= set(range(len(about["headers"])))
        header, _ = unpack(found.blobs()[f"dag-{graph_id}"])
        assert header["shown"]["graph_id"] == graph_id


def test_records_of_a_file_are_the_servers(tmp_path: Path) -> None:
    path = write_recording(
        tmp_path / "long.gviz", transformer_shape(80), launches=6, arguments=True
    )
    write_html(path, tmp_path / "long.html", [1])
    saved = SavedFile.read(tmp_path / "long.html")
    library = Library([path])
    view = graph_view(library, "long", 1)
    for place in (0, 7, NODES_A_BLOB - 1, NODES_A_BLOB, len(view.tree) - 1):
        (level,) = saved.json(f"facts-1-{place // NODES_A_BLOB}")["levels"]
        record = record_of(library, "long", view, int(view.tree.key[place]))
        at = place % NODES_A_BLOB
        assert [level["key"][at]] == record["key"]
        assert level["dependencies"]["keys"][at : at + 1] == record["dependencies"]["keys"]
        assert level["spread"]["counts"][at] == record["spread"]["counts"][0]
        for columns in ("node", "statistics"):
            for name, column in record[columns].items():
                assert _value(level[columns][name], at) == value(column), name


def _value(column: dict[str, Any], at: int) -> Any:
    """Return a column's value, as assets/web/inspector/records.js reads it."""
    if "values" not in column:
        return column["same"]
    return column["values"][column["codes"][at] if "codes" in column else at]

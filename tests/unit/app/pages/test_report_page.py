"""The Report page: what it says of a graph, where its links lead, and what it says instead."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from app_recordings import write_detailed_recording, write_imported_recording
from app_tree import by_id, links, texts, walk
from bare_recordings import BARE
from contradicted_recordings import exchange_times
from evil_recordings import write_cyclic_recording, write_evil_recording
from memory_recordings import write_memory_recording
from recordings import Shape, Work, write_loop_recording, write_recording
from shown_pages import render_page

from gviz.analysis.advice import Ignored
from gviz.app.components import node_list
from gviz.app.components.addresses import Addresses, parse_query
from gviz.app.components.canvases import Chart
from gviz.app.files.kept import Kept
from gviz.app.files.library import Library
from gviz.app.files.open_recording import OpenRecording
from gviz.app.pages.report import node_links
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.page import show_report
from gviz.app.pages.report.reports import Reports
from gviz.assets import recordings as bundled
from gviz.model import read_tree
from gviz.report import AlikeLink, NodesLink

ADDRESSES = Addresses("/")
ASSETS = Path(next(iter(bundled.__path__)))
PATIENCE_S = 60.0


class Patient(Reports):
    """Waits until a report is made: a test has nothing else to do."""

    def find(self, opened, version, graph_id, patience_s=PATIENCE_S):  # type: ignore[no-untyped-def]
        return super().find(opened, version, graph_id, patience_s)


def shown(library: Library, graph_id: int = 1) -> object:
    file = library.files()[0]
    view = {"file": file.key, "version": file.version, "graph": graph_id}
    body, again = show_report(library, Patient(), view, 0, ADDRESSES)
    assert not isinstance(again, int)
    return body


def selected(body: object) -> list[tuple[int, ...]]:
    """Return the nodes that each link to the graph page selects, but for those that name them."""
    queries = [x.partition("?")[2] for x in links(body) if "/graph?" in x]
    return [parse_query(x).node_ids for x in queries if "select=" not in x]


def named(body: object) -> list[str]:
    """Return what links to the graph page select by its name."""
    queries = [x.partition("?")[2] for x in links(body) if "/graph?" in x]
    return [name for x in queries for name in parse_qs(x).get("select", [])]


@pytest.fixture(scope="module")
def decode() -> Library:
    return Library([ASSETS / "decode_step.gviz"])


@pytest.fixture(scope="module")
def decode_body(decode: Library) -> object:
    return shown(decode)


def test_page_says_why_paths_are_not_computed(tmp_path: Path) -> None:
    path = exchange_times(ASSETS / "decode_step.gviz", tmp_path / "x.gviz")
    text = texts(shown(Library([path])))
    assert "209 of 413 dependencies are contradicted by the times" in text
    assert "Nodes on the critical path" not in text
    assert "below-one-wave" not in text


def test_page_is_there_before_the_analysis(decode: Library) -> None:
    page, steps, title = render_page(decode, ADDRESSES, "/report", "?file=decode_step&graph=1")
    assert "Analyzing 320 nodes and 60 launches" in texts(page)
    assert by_id(page, "report-view").data["graph"] == 1
    assert by_id(page, "report-wait").max_intervals == 0
    assert "/graph?file=decode_step&graph=1" in links(steps)
    assert title.startswith("Report: ")


def test_unfinished_report_is_requested_again(decode: Library) -> None:
    class Slow(Reports):
        def find(self, opened: OpenRecording, version: str, graph_id: int, *_: object) -> None:
            return None

    view = {"file": "decode_step", "version": decode.files()[0].version, "graph": 1}
    _, again = show_report(decode, Slow(), view, 4, ADDRESSES)
    assert again == 5


def test_findings_have_gain_fix_evidence_and_source(decode_body: object) -> None:
    stated = texts(decode_body)
    for expected in ("below-one-wave", "At most 326 µs per launch", "Fix", "Evidence", "Source",
                     "first-launch-without-upload", "453 µs per run",
                     "docs/limits.md"):  # fmt: skip
        assert expected in stated, expected


def test_how_a_thing_is_known_is_a_mark_everywhere(decode_body: object) -> None:
    assert "Could the device launch it" in texts(decode_body)
    assert "[derived]" not in texts(decode_body)


def test_ledger_adds_up_on_the_page(decode_body: object) -> None:
    stated = texts(decode_body)
    for expected in ("919 µs", "158 µs", "1.08 ms", "291 µs", "304 nodes"):
        assert expected in stated, expected


def test_every_link_selects_nodes_that_are_there(decode: Library, decode_body: object) -> None:
    found = selected(decode_body)
    assert len(found) > 20
    assert all(found)
    assert {n for nodes in found for n in nodes} <= set(range(320))
    recording = decode.files()[0].recording
    names = {f"kernel:{name}" for name in read_tree(recording, 1).nodes.listed("name")}
    by_name = [x for x in named(decode_body) if x.startswith("kernel:")]
    assert len(by_name) > 5
    assert set(by_name) <= names


def test_every_part_is_there(decode_body: object) -> None:
    stated = texts(decode_body).replace("\n", "")
    for expected in (
        "By dependencies alone (structural)",
        "Longest nodes of the observed path",
        "the graph itself",
        "Independent nodes that took turns",
        "Standard deviation",
        "Waiting for calls",
        "if the GPU never waited for a call",
        "Elapsed time",
        "Shorter and longer graphs of the same nodes",
        "3 over the work of graph 1",
        "1.13 times as fast (Amdahl)",
        "AUTO_FREE_ON_LAUNCH",
    ):
        assert expected in stated, expected
    drawn = {x.id for x in walk(decode_body) if isinstance(x, Chart)}
    assert drawn == {f"chart-{x}" for x in ("dominance", "part_gains", "idle", "break_even")}


def traces(body: object, name: str) -> list[dict[str, Any]]:
    (chart,) = [x for x in walk(body) if getattr(x, "id", None) == f"chart-{name}"]
    found: list[dict[str, Any]] = chart.figure["data"]
    return found


def bars_of(body: object, label: str) -> list[tuple[float, float]]:
    """Return from where to where the bars of a waterfall reach, as parts of its width."""
    (drawn,) = [x for x in walk(body) if getattr(x, "aria-label", None) == label]
    bars = [x.style for x in walk(drawn) if "gv-waterfall-bar" in str(getattr(x, "className", ""))]
    begins = [float(style["--gv-from"]) for style in bars]
    return [(a, a + float(style["--gv-long"])) for a, style in zip(begins, bars, strict=True)]


def test_bars_of_a_waterfall_follow_each_other(decode_body: object) -> None:
    *parts, whole, residual = bars_of(decode_body, "Waterfall of the time of the median launch")
    at = 0.0
    for begin, end in parts:
        assert begin == pytest.approx(at, abs=2e-4)
        at = end
    assert len(parts) > 1
    assert whole == (0.0, pytest.approx(at, abs=2e-4))
    assert residual[0] == pytest.approx(at, abs=2e-4)
    first, *_, last = bars_of(decode_body, "Waterfall from eager to the graph")
    assert first[0] == last[0] == 0.0
    assert last[1] < first[1] == pytest.approx(1.0, abs=2e-4)


def test_waterfall_says_times_and_shares(decode_body: object) -> None:
    (drawn,) = [
        x for x in walk(decode_body)
        if getattr(x, "aria-label", None) == "Waterfall of the time of the median launch"
    ]  # fmt: skip
    words = [x.children for x in walk(drawn) if getattr(x, "className", "") == "gv-waterfall-value"]
    assert words[-2].endswith(" · 100%")
    assert all(" · " in text for text in words)


def test_pareto_line_never_falls_and_bars_never_grow(decode_body: object) -> None:
    bars, line = traces(decode_body, "dominance")
    assert bars["x"] == sorted(bars["x"], reverse=True)
    assert line["x"] == sorted(line["x"])
    assert line["x"][0] == bars["x"][0]


def test_totals_lead_to_the_nodes_they_are_of(decode: Library, decode_body: object) -> None:
    file = decode.files()[0]
    report = Patient().find(file, file.version, 1)
    to_nodes = NodeLinks("decode_step", report.tree, report.ranges, report.families, ADDRESSES)
    by_range = report.graph.dominance.by_range
    kinds = {"name": "kernel", "family": "family", "kind": "kind", "nesting": "nvtx",
             "range": "range"}  # fmt: skip
    for by, found in (("name", report.graph.dominance.by_name), ("range", by_range),
                      ("family", report.graph.dominance.by_family),
                      ("kind", report.graph.dominance.by_kind),
                      ("nesting", report.graph.dominance.by_nesting)):  # fmt: skip
        for value, executions in zip(found.name, found.executions, strict=True):
            link = to_nodes.alike(AlikeLink(by, value))
            query = link.href.partition("?")[2]
            # Nothing loops here, and every node has a time.
            if executions > 4:
                assert parse_qs(query)["select"] == [f"{kinds[by]}:{value}"]
            else:
                assert len(parse_query(query).node_ids) == executions, (by, value)


def test_layers_lead_to_their_nodes_and_their_time(decode_body: object) -> None:
    hrefs = [x for x in links(decode_body) if "select=layer:" in x]
    names = [parse_qs(href.partition("?")[2])["select"][0] for href in hrefs]
    # Once by their time, once by what 10% off would bring.
    assert sorted(names) == sorted(f"layer:layer {n}" for n in range(16) for _ in range(2))
    assert all(href.endswith("&launch=median&time=selected") for href in hrefs)


@pytest.mark.parametrize("name", sorted(BARE))
def test_bare_recordings_say_why_there_is_nothing(tmp_path: Path, name: str) -> None:
    library = Library([BARE[name](tmp_path / "bare.gviz")])
    stated = texts(shown(library))
    assert "This page failed" not in stated
    assert "gviz failed here" not in stated
    assert "not computed" in stated.lower() or "There is no report. " in stated
    assert "nan" not in stated.split()


@pytest.mark.parametrize(
    "write",
    [
        write_evil_recording,
        write_cyclic_recording,
        write_detailed_recording,
        write_imported_recording,
        write_loop_recording,
        write_memory_recording,
    ],
)
def test_odd_recordings_have_a_report(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    library = Library([write(tmp_path / "odd.gviz")])
    stated = texts(shown(library))
    assert "What to change" in stated
    assert "gviz failed here" not in stated


def test_ignored_findings_are_left_out_and_counted(decode: Library) -> None:
    view = {"file": "decode_step", "version": decode.files()[0].version, "graph": 1}
    ignored = Ignored(rule="below-one-wave", graph=None, kernels=None)
    library = Library([ASSETS / "decode_step.gviz"])
    body = texts(show_report(library, Patient([ignored]), view, 0, ADDRESSES)[0])
    assert "below-one-wave" not in body
    assert "1 finding left out by the configuration." in body


def test_report_of_another_version_is_refused(decode: Library) -> None:
    view = {"file": "decode_step", "version": "0123", "graph": 1}
    body, _ = show_report(decode, Patient(), view, 0, ADDRESSES)
    assert "changed since this page was opened" in texts(body)


def test_report_is_made_once_and_others_are_not_held_up(decode: Library) -> None:
    file = decode.files()[0]
    reports, release, built = Reports(), threading.Event(), []

    class Held(OpenRecording):
        def derive(self, key, build):  # type: ignore[no-untyped-def]
            built.append(key)
            release.wait(PATIENCE_S)
            return file.derive(key, build)

    held = Held("held", file.path, Kept())
    assert reports.find(held, held.version, 1, patience_s=0.01) is None
    assert reports.find(held, held.version, 1, patience_s=0.01) is None
    assert reports.find(file, file.version, 1, patience_s=PATIENCE_S) is not None
    release.set()
    assert reports.find(held, held.version, 1, patience_s=PATIENCE_S) is not None
    assert built == [("report", 1)]


@pytest.mark.parametrize("search", ["?file=none&graph=1", "?graph=1", "?file=decode_step&graph=77"])
def test_address_of_no_report_is_a_message(decode: Library, search: str) -> None:
    assert "Not here" in texts(render_page(decode, ADDRESSES, "/report", search)[0])


def test_pages_lead_to_the_report(decode: Library) -> None:
    wanted = ADDRESSES.report("decode_step", 1)
    for path, search in (("/", ""), ("/run", "?file=decode_step&run=1"),
                         ("/graph", "?file=decode_step&graph=1")):  # fmt: skip
        assert wanted in links(render_page(decode, ADDRESSES, path, search)[0]), path
    table = by_id(render_page(decode, ADDRESSES, "/", "?view=table")[0], "runs-table")
    assert table.rowData[0]["report_href"] == wanted


def test_link_to_nodes_in_a_body_opens_it(tmp_path: Path) -> None:
    library = Library([write_loop_recording(tmp_path / "loop.gviz")])
    file = library.files()[0]
    report = Patient().find(file, file.version, 1)
    refs = [x.node for x in report.graph.critical_path.observed]
    inner = next(ref for ref in refs if ref.graph_id == 2)
    link = NodeLinks("loop", report.tree, report.ranges, report.families, ADDRESSES).node(inner)
    query = parse_qs(link.href.partition("?")[2])
    assert query["graph"] == ["1"]
    assert query["open"] == ["n1002"]
    level = next(i for i, x in enumerate(report.tree.levels) if x.graph.graph_id == 2)
    assert query["node"] == [str(report.tree.key_in(level, inner.node_id))]


def test_link_selects_as_many_nodes_as_an_address_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("even_kernel", "odd_kernel") * 1300
    works = [Work(name, 2_000, (at - 1,) if at else ()) for at, name in enumerate(names)]
    shape = Shape("turns", tuple(works))
    library = Library([write_recording(tmp_path / "turns.gviz", shape, launches=1)])
    file = library.files()[0]
    report = Patient().find(file, file.version, 1)
    to_nodes = NodeLinks("turns", report.tree, report.ranges, report.families, ADDRESSES)
    keys = report.tree.key.tolist()
    even = NodesLink((), 1300, places=tuple(range(0, 2600, 2)))
    assert selected(to_nodes.nodes(even)) == [tuple(keys[0:2600:2])]
    monkeypatch.setattr(node_list, "MOST_CHARACTERS", 400)
    assert selected(to_nodes.nodes(even)) == [tuple(keys[0:160:2])]
    assert texts(to_nodes.nodes(even)) == "80 of 1,300 nodes"
    # What has a name needs no room.
    assert named(to_nodes.alike(AlikeLink("name", "even_kernel"))) == ["kernel:even_kernel"]
    assert named(to_nodes.alike(AlikeLink("kind", "KERNEL"))) == ["kind:KERNEL"]


def test_link_opens_a_few_bodies_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library([write_loop_recording(tmp_path / "loop.gviz")])
    file = library.files()[0]
    report = Patient().find(file, file.version, 1)
    to_nodes = NodeLinks("loop", report.tree, report.ranges, report.families, ADDRESSES)
    everywhere = selected(to_nodes.alike(AlikeLink("kind", "KERNEL")))[0]
    parents = dict(zip(report.tree.key.tolist(), report.tree.parent.tolist(), strict=True))
    inside = [at for at, key in enumerate(everywhere) if parents[key] >= 0]
    assert inside
    monkeypatch.setattr(node_links, "MOST_OPENED", 0)
    assert selected(to_nodes.alike(AlikeLink("kind", "KERNEL")))[0] == everywhere[: inside[0]]


def test_finding_about_hundreds_of_nodes_selects_all_of_them() -> None:
    library = Library([ASSETS / "training_step.gviz"])
    body = shown(library)
    assert "358 nodes" in texts(body)
    found = max(selected(body), key=len)
    assert len(found) > 1_000
    assert len([ids for ids in selected(body) if len(ids) == 358]) == 1

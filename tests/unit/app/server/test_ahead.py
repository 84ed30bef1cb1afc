"""Pages made ahead: what the first look at a recording asks for is there, and nothing breaks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, active_count

import pytest
from dash import html
from dash.development.base_component import Component
from live_spool import LiveProgram
from recordings import (
    fork_join_shape,
    transformer_shape,
    write_loop_recording,
    write_recording,
)
from waiting import eventually

from gviz.app.components.addresses import Addresses
from gviz.app.components.canvases import Dag
from gviz.app.files.library import Library
from gviz.app.files.open_recording import GoneError
from gviz.app.pages import graph as graph_page
from gviz.app.server import ahead, ahead_thread, first_page
from gviz.app.server.address_page import render_page
from gviz.app.server.ahead import Ahead, canvas_sources, has_long_data
from gviz.app.server.application import build_app
from gviz.app.server.read_ahead import ReadAhead
from gviz.app.server.security import AccessRules
from gviz.app.views import payload
from gviz.app.views.run_view import run_files
from gviz.model.tree import graph_level
from gviz.model.tree.tree_nodes import SHOWN
from gviz.recording.reader import Recording

Open = Callable[..., Library]


@pytest.fixture
def open_files() -> Iterator[Open]:
    opened: list[Library] = []

    def open_them(*paths: Path) -> Library:
        opened.append(Library(paths))
        return opened[-1]

    yield open_them
    for library in opened:
        library.close()


def made(library: Library, prefix: str = "/") -> tuple[Ahead, Callable[[str], int]]:
    """Return what makes pages ahead, and what asks the same server and returns the status."""
    app = build_app(library, AccessRules("t", prefix=prefix))
    client = app.server.test_client()
    client.get(f"{prefix}?token=t", headers={"Host": "localhost"})
    found = Ahead(app.server, library, Addresses(prefix))
    return found, lambda address: client.get(address, headers={"Host": "localhost"}).status_code


def graph_page_of(library: Library, file: str, prefix: str = "/") -> Component:
    addresses = Addresses(prefix)
    path, _, query = addresses.graph(file, 1).partition("?")
    return render_page(library, addresses, path, f"?{query}")[0]


def sources(library: Library, file: str, prefix: str = "/") -> list[str]:
    return canvas_sources(graph_page_of(library, file, prefix))


def refuse(*arguments: object, **named: object) -> bytes:
    raise AssertionError("made again")


@pytest.mark.parametrize("prefix", ["/", "/proxy/x/"])
def test_data_of_a_graph_page_are_there_before_they_are_requested(
    small_recording: Path, open_files: Open, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    library = open_files(small_recording)
    pages, status = made(library, prefix)
    pages.start()
    assert pages.wait(60)
    monkeypatch.setattr(payload, "dag_payload", refuse)
    monkeypatch.setattr(payload, "timeline_payload", refuse)
    requested = sources(library, "small", prefix)
    assert len(requested) == 2
    assert [status(address) for address in requested] == [200, 200]


def test_every_file_is_made_but_what_is_missing_or_still_recorded(
    tmp_path: Path, open_files: Open
) -> None:
    paths = [
        write_recording(tmp_path / f"{name}.gviz", shape)
        for name, shape in (("a", fork_join_shape()), ("b", transformer_shape(2)))
    ]
    gone = tmp_path / "gone.gviz"
    shutil.copy(paths[0], gone)
    live = LiveProgram(tmp_path / "live.gviz")
    library = open_files(gone, live.spool, *paths)
    gone.unlink()
    pages, _ = made(library)
    pages.start()
    assert pages.wait(60)
    for name in ("a", "b"):
        tree = library.file(name).keep(("tree", 1, SHOWN), lambda: pytest.fail("not made ahead"))
        assert tree.graph.graph_id == 1


def test_no_more_is_made_than_there_is_room_for(
    tmp_path: Path, open_files: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write_recording(tmp_path / f"{name}.gviz", fork_join_shape()) for name in "ab"]
    library = open_files(*paths)
    # Runs are listed in any case; after the first page there is more than that.
    run_files(library)
    monkeypatch.setattr(ahead_thread, "MOST_BYTES", library.kept_bytes)
    pages, _ = made(library)
    pages.start()
    assert pages.wait(60)
    assert library.file("a").keep(("tree", 1, SHOWN), lambda: None) is not None
    assert library.file("b").keep(("tree", 1, SHOWN), lambda: None) is None


def test_stopped_before_it_began_nothing_is_made(small_recording: Path, open_files: Open) -> None:
    library = open_files(small_recording)
    pages, _ = made(library)
    pages.stop()
    pages.start()
    assert pages.wait(60)
    assert library.file("small").keep(("tree", 1, SHOWN), lambda: None) is None


def test_page_that_takes_long_is_built_by_dash_and_its_data_are_made_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_page, "_PATIENCE_S", 0.01)
    go_on, requested = Event(), []
    done = Event()
    page: Component = html.Div([Dag(id="dag", source="/payload/dag/x/1")])

    def make() -> tuple[Component, str]:
        go_on.wait(60)
        return page, "x"

    def prefetch(address: str) -> None:
        requested.append(address)
        done.set()

    assert first_page._in_time(make, prefetch) is None
    assert requested == []
    go_on.set()
    assert done.wait(60)
    assert requested == ["/payload/dag/x/1"]


def test_page_in_time_leaves_its_data_to_the_browser() -> None:
    page: Component = html.Div([Dag(id="dag", source="/payload/dag/x/1")])
    assert first_page._in_time(lambda: (page, "x"), refuse) == (page, "x")


def test_first_click_is_prepared_when_the_table_is_requested(
    tmp_path: Path, open_files: Open
) -> None:
    library = open_files(write_recording(tmp_path / "a.gviz", fork_join_shape(), arguments=True))
    file = library.file("a")
    _, status = made(library)
    assert status(f"/payload/table/{file.versioned_key}/1") == 200

    def kept() -> bool:
        try:
            file.derive(("eager ranges", 1), _not_there)
        except LookupError:
            return False
        return True

    eventually(kept, "what the inspector asks for")


def _not_there() -> None:
    raise LookupError


def test_click_on_a_file_that_is_gone_is_left_to_the_request(
    tmp_path: Path, open_files: Open
) -> None:
    path = write_recording(tmp_path / "a.gviz", fork_join_shape())
    library = open_files(path)
    file = library.file("a")
    with file.at():
        ahead.prepare_click(library, file, 99, Addresses("/"))
    path.unlink()
    before = active_count()
    with pytest.raises(GoneError):
        ahead.prepare_click(library, file, 1, Addresses("/"))
    assert active_count() <= before


def test_address_that_fails_is_left_to_the_request(small_recording: Path, open_files: Open) -> None:
    library = open_files(small_recording)
    _, status = made(library)
    server = build_app(library, AccessRules("t")).server
    ahead.prefetch(server, "/payload/dag/nothing/1")
    ahead.prefetch(server, "/no/such/page/at/all")
    assert status("/payload/dag/nothing/1") == 404


def test_styles_are_known_before_the_first_request(small_recording: Path, open_files: Open) -> None:
    """Dash looks for them at the first: a second beside it would have a page without."""
    app = build_app(open_files(small_recording), AccessRules("t"))
    with app.server.test_request_context("/"):
        page = app.index().get_data(as_text=True)
    assert "/assets/styles/page.css" in page
    assert "/assets/styles/canvas.css" in page


# -- reading while the server is loaded ----------------------------------------------------


def test_what_is_shown_first_is_read_before_there_is_a_page(
    small_recording: Path, open_files: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = open_files(small_recording)
    reading = ReadAhead(library)
    reading.start()
    assert reading.wait(60)
    monkeypatch.setattr(Recording, "fetch_spans", refuse)
    monkeypatch.setattr(graph_level, "read_level_edges", refuse)
    monkeypatch.setattr(payload, "stream_side", refuse)
    _, status = made(library)
    assert [status(address) for address in sources(library, "small")] == [200, 200]


def test_nothing_is_read_after_its_end(small_recording: Path, open_files: Open) -> None:
    library = open_files(small_recording)
    reading = ReadAhead(library)
    reading.stop()
    reading.start()
    assert reading.wait(60)
    assert library.file("small").keep(("tree", 1, SHOWN), lambda: None) is None


def test_file_that_is_gone_is_left_to_who_requests(tmp_path: Path, open_files: Open) -> None:
    path = write_recording(tmp_path / "a.gviz", fork_join_shape())
    library = open_files(path)
    path.unlink()
    reading = ReadAhead(library)
    reading.start()
    assert reading.wait(60)


# -- what comes first ----------------------------------------------------------------------


def test_timeline_of_many_iterations_comes_before_the_dag(
    tmp_path: Path, open_files: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = open_files(write_loop_recording(tmp_path / "loop.gviz", iterations=300))
    page = graph_page_of(library, "loop")
    assert views(page) == ["dag", "timeline"]
    assert not has_long_data(page)
    monkeypatch.setattr(graph_page, "SENT_WHOLE", 100)
    page = graph_page_of(library, "loop")
    assert views(page) == ["timeline", "dag"]
    assert has_long_data(page)


def test_dag_of_many_nodes_and_long_eager_iteration_are_waited_for(
    small_recording: Path, open_files: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = open_files(small_recording)
    assert not has_long_data(graph_page_of(library, "small"))
    for name in ("SENT_WHOLE", "_MANY_NODES"):
        with monkeypatch.context() as few:
            few.setattr(graph_page, name, 5)
            page = graph_page_of(library, "small")
            assert has_long_data(page)
            assert views(page) == ["dag", "timeline"]


def views(page: Component) -> list[str]:
    return [source.split("/")[2] for source in canvas_sources(page)]

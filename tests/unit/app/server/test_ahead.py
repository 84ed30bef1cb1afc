"""Pages made ahead: what the first look at a recording asks for is there, and nothing breaks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import active_count

import pytest
from admitted import admitted_client
from live_spool import LiveProgram
from recordings import (
    fork_join_shape,
    transformer_shape,
    write_recording,
)
from waiting import eventually

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.files.open_recording import GoneError
from gviz.app.server import ahead, ahead_thread
from gviz.app.server.access.security import AccessRules
from gviz.app.server.ahead import Ahead, first_sources
from gviz.app.server.application import build_app
from gviz.app.server.read_ahead import ReadAhead
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
    access = AccessRules(prefix=prefix)
    app = build_app(library, access)
    client = admitted_client(app.server, access)
    found = Ahead(app.server, library, Addresses(prefix))
    return found, lambda address: client.get(address, headers={"Host": "localhost"}).status_code


def sources(library: Library, file: str, prefix: str = "/") -> list[str]:
    return first_sources(library, Addresses(prefix), file, 1)


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
    assert [address.split("payload/")[1].split("/")[0] for address in requested] == [
        "page", "dag", "timeline", "table"
    ]  # fmt: skip
    assert [status(address) for address in requested] == [200] * 4


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


def test_folds_are_found_when_the_table_is_requested(tmp_path: Path, open_files: Open) -> None:
    library = open_files(write_recording(tmp_path / "a.gviz", transformer_shape(2)))
    file = library.file("a")
    _, status = made(library)
    assert status(f"/payload/table/{file.versioned_key}/1") == 200

    def kept() -> bool:
        try:
            file.keep(("fold names", 1, 0, "repeats"), _not_there)
        except LookupError:
            return False
        return True

    eventually(kept, "the folds of repeats")


def _not_there() -> None:
    raise LookupError


def test_click_on_a_file_that_is_gone_is_left_to_the_request(
    tmp_path: Path, open_files: Open
) -> None:
    path = write_recording(tmp_path / "a.gviz", fork_join_shape())
    library = open_files(path)
    file = library.file("a")
    with file.at():
        ahead.prepare_next(library, file, 99, Addresses("/"))
    path.unlink()
    before = active_count()
    with pytest.raises(GoneError):
        ahead.prepare_next(library, file, 1, Addresses("/"))
    assert active_count() <= before


def test_address_that_fails_is_left_to_the_request(small_recording: Path, open_files: Open) -> None:
    library = open_files(small_recording)
    _, status = made(library)
    server = build_app(library, AccessRules()).server
    ahead.prefetch(server, "/payload/dag/nothing/1")
    ahead.prefetch(server, "/no/such/page/at/all")
    assert status("/payload/dag/nothing/1") == 404


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
    assert [status(address) for address in sources(library, "small")] == [200] * 4


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

"""The open recordings: keys, threads, derived values, and files that change while open."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from app_tree import texts
from recordings import fork_join_shape, transformer_shape, write_loop_recording, write_recording

from gviz.app.components.addresses import Addresses
from gviz.app.files.kept import Kept
from gviz.app.files.library import Library
from gviz.app.files.open_recording import ChangedError, GoneError, OpenRecording, split_version
from gviz.app.server.address_page import render_page
from gviz.app.views.run_view import run_files
from gviz.errors import RecordingError


@pytest.fixture
def path(tmp_path: Path, small_recording: Path) -> Path:
    """A recording that a test may spoil."""
    return Path(shutil.copy(small_recording, tmp_path / "mine.gviz"))


@pytest.fixture
def opened(path: Path) -> OpenRecording:
    return Library([path]).files()[0]


def replace_by_rename(path: Path) -> None:
    """As gviz itself replaces a recording."""
    write_loop_recording(path, overwrite=True)


def overwrite_in_place(path: Path) -> None:
    """As ``cp OTHER mine.gviz`` does: the same file, other bytes."""
    other = write_loop_recording(path.with_name("other.gviz"))
    with path.open("r+b") as file:
        file.truncate()
        file.write(other.read_bytes())


CHANGES = pytest.mark.parametrize("change", [replace_by_rename, overwrite_in_place])

#: Pages of the recording, and their queries.
PLACES = (("/graph", "?file=mine&graph=1"), ("/run", "?file=mine&run=1"), ("/", ""))


def run_name(opened: OpenRecording) -> str:
    return opened.recording.fetch_runs()[0].name


# -- keys ------------------------------------------------------------------------------


def test_files_of_equal_names_are_kept_apart(small_recording: Path) -> None:
    library = Library([small_recording, str(small_recording)])
    assert [f.key for f in library.files()] == ["small", "small-2"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("run@host.gviz", "run-host"),
        ("a?b&c#d%2f.gviz", "a-b-c-d-2f"),
        ("...gviz", "recording"),
        ("größe 1.gviz", "größe 1"),
        ("x" * 120 + ".gviz", "x" * 80),
        ("tab\there.gviz", "tab-here"),
    ],
)
def test_key_can_stand_in_an_address(
    tmp_path: Path, small_recording: Path, name: str, key: str
) -> None:
    library = Library([Path(shutil.copy(small_recording, tmp_path / name))])
    assert [f.key for f in library.files()] == [key]
    assert library.file(key).name == name


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no file"):
        Library([tmp_path / "absent.gviz"])
    with pytest.raises(RecordingError, match="no recording to show"):
        Library([])


def test_version_of_an_address_is_split_off() -> None:
    assert split_version("small@1a2b") == ("small", "1a2b")
    assert split_version("small") == ("small", None)


# -- derived values ----------------------------------------------------------------------


def test_each_thread_opens_the_recording_for_itself(opened: OpenRecording) -> None:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(opened.recording))
    thread.start()
    thread.join()
    assert opened.recording is opened.recording
    assert found[0] is not opened.recording


def test_derived_value_is_built_once_by_many_threads(opened: OpenRecording) -> None:
    built: list[int] = []
    started = threading.Barrier(4)

    def request() -> None:
        started.wait()
        opened.derive(("key",), lambda: built.append(1))

    threads = [threading.Thread(target=request) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1]


def test_value_that_could_not_be_built_is_tried_again() -> None:
    kept = Kept()

    def fail() -> int:
        raise RecordingError("no")

    with pytest.raises(RecordingError):
        kept.value(("key",), fail)
    assert kept.value(("key",), lambda: 3) == 3


def test_values_of_two_files_are_two(path: Path, small_recording: Path) -> None:
    first, second = Library([path, small_recording]).files()
    assert first.derive(("key",), lambda: 1) == 1
    assert second.derive(("key",), lambda: 2) == 2


# -- files that change -------------------------------------------------------------------


@CHANGES
def test_changed_file_is_read_anew(
    opened: OpenRecording, path: Path, change: Callable[[Path], None]
) -> None:
    before = run_name(opened)
    assert opened.derive(("name",), lambda: run_name(opened)) == before
    change(path)
    assert run_name(opened) == "while loop" != before
    assert opened.derive(("name",), lambda: run_name(opened)) == "while loop"


@CHANGES
def test_version_follows_the_file(
    opened: OpenRecording, path: Path, change: Callable[[Path], None]
) -> None:
    version = opened.version
    assert opened.version == version
    change(path)
    assert opened.version != version
    with pytest.raises(ChangedError, match=r"mine\.gviz changed since this page was opened"):
        opened.at(version).__enter__()


def test_same_size_and_time_of_change_do_not_hide_a_change(
    opened: OpenRecording, path: Path
) -> None:
    version, stat = opened.version, path.stat()
    data = path.read_bytes()
    with path.open("r+b") as file:
        file.write(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    assert opened.version != version


@CHANGES
def test_value_made_of_two_versions_is_thrown_away(
    opened: OpenRecording, path: Path, change: Callable[[Path], None]
) -> None:
    def build() -> str:
        first = run_name(opened)
        change(path)
        return first + run_name(opened)

    with pytest.raises(ChangedError):
        opened.derive(("both",), build)
    assert opened.derive(("both",), lambda: "whole") == "whole"


def test_what_was_read_before_a_change_is_not_kept_as_of_after_it(
    opened: OpenRecording, path: Path
) -> None:
    def derive_late() -> None:
        with opened.at():
            recording = opened.recording
            recording.fetch_runs()
            replace_by_rename(path)
            opened.derive(("name",), lambda: recording.fetch_runs()[0].name)

    with pytest.raises(ChangedError):
        derive_late()
    assert opened.derive(("name",), lambda: run_name(opened)) == "while loop"


def test_error_of_a_file_that_changes_meanwhile_is_the_change(
    opened: OpenRecording, path: Path
) -> None:
    def build() -> str:
        path.write_bytes(path.read_bytes()[:20_000])
        raise RecordingError("damaged")

    with pytest.raises(ChangedError):
        opened.derive(("value",), build)


def test_old_values_are_let_go_when_the_file_changes(opened: OpenRecording, path: Path) -> None:
    kept = opened._kept
    opened.derive(("name",), lambda: run_name(opened))
    before = set(kept._places)
    replace_by_rename(path)
    opened.derive(("name",), lambda: run_name(opened))
    assert len(kept._places) == 1
    assert not before & set(kept._places)


def test_truncated_file_is_a_sentence_on_its_page(path: Path) -> None:
    library = Library([path])
    addresses = Addresses("/")
    path.write_bytes(path.read_bytes()[:90])
    shown = texts(render_page(library, addresses, "/graph", "?file=mine&graph=1")[0])
    assert "is cut short" in shown
    shown = texts(render_page(library, addresses, "/", "")[0])
    assert "unreadable" in shown
    assert "is cut short" in shown


@pytest.mark.parametrize("fill", [0, 0xFF])
def test_garbage_in_place_of_the_content_is_a_sentence_on_its_page(path: Path, fill: int) -> None:
    library = Library([path])
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes([fill]) * (len(data) - 4096))
    for place, search in (
        ("/graph", "?file=mine&graph=1"),
        ("/run", "?file=mine&run=1"),
        ("/", ""),
    ):
        shown = texts(render_page(library, Addresses("/"), place, search)[0])
        assert "mine.gviz" in shown
        assert "damaged" in shown


def test_deleted_file_is_a_sentence_on_its_page(path: Path) -> None:
    library = Library([path])
    path.unlink()
    for place, search in (
        ("/graph", "?file=mine&graph=1"),
        ("/run", "?file=mine&run=1"),
        ("/", ""),
    ):
        shown = texts(render_page(library, Addresses("/"), place, search)[0])
        assert f"mine.gviz is not at {path} any more" in shown
        assert "put it back" in shown
    with pytest.raises(GoneError):
        _ = library.file("mine").recording


def test_file_that_came_back_is_shown_again(path: Path, small_recording: Path) -> None:
    library = Library([path])
    path.unlink()
    with pytest.raises(GoneError):
        _ = library.file("mine").version
    shutil.copy(small_recording, path)
    assert run_name(library.file("mine")) == "fork-join 3x4"


def test_bad_file_does_not_hide_the_others(path: Path, small_recording: Path) -> None:
    library = Library([path, small_recording])
    path.unlink()
    troubled, fine = run_files(library)
    assert "any more" in troubled.problem
    assert [view.run.name for view in fine.runs] == ["fork-join 3x4"]


def test_page_made_while_the_file_is_replaced_is_of_one_version(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library([path])
    made: list[str] = []

    def replace_once(*arguments: object, **named: object) -> object:
        if not made:
            made.append("replaced")
            write_recording(path, transformer_shape(2), launches=2, overwrite=True)
        return plain(*arguments, **named)  # type: ignore[arg-type]

    from gviz.app.server import address_page

    plain = address_page.graph_view
    monkeypatch.setattr(address_page, "graph_view", replace_once)
    content, steps, _ = render_page(library, Addresses("/"), "/graph", "?file=mine&graph=1")
    assert made == ["replaced"]
    assert "decode, 2 layers" in texts(steps)
    assert "fork-join" not in texts(steps)
    assert library.file("mine").versioned_key in content.source


def test_file_that_changes_every_time_is_a_sentence(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library([path])
    from gviz.app.server import address_page

    plain = address_page.graph_view

    def replace_always(*arguments: object, **named: object) -> object:
        write_recording(path, fork_join_shape(2), launches=2, overwrite=True)
        return plain(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(address_page, "graph_view", replace_always)
    shown = texts(render_page(library, Addresses("/"), "/graph", "?file=mine&graph=1")[0])
    assert "It keeps changing" in shown

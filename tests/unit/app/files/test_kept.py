"""Results kept of recordings: bounded by bytes, the least recently used goes first."""

from __future__ import annotations

import gc
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from recordings import transformer_shape, write_recording

from gviz.app.components import Addresses
from gviz.app.files import OpenRecording
from gviz.app.files import kept as kept_module
from gviz.app.files.kept import _PROGRAM, KEPT_BYTES, Kept, byte_size
from gviz.app.files.library import Library
from gviz.app.inspector import NodeRecords
from gviz.app.pages import find_folds
from gviz.app.pages.report.reports import build_report
from gviz.app.views import (
    body_view,
    breakdown_payload,
    kept_folds,
    payload,
    table_payload,
    uses_payload,
)
from gviz.app.views.graph_data import graph_view
from gviz.model import TimedLevel, read_timed_level, read_timed_tree


@dataclass(frozen=True, slots=True)
class Holder:
    array: np.ndarray
    text: str


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setattr(kept_module, "KEPT_BYTES", 10_000)
    return Kept()


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        (np.zeros(1_000_000, np.uint8), 1_000_000, 1_000_000),
        (b"x" * 5_000, 5_000, 5_100),
        (Holder(np.zeros(1_000), "x" * 1_000), 9_000, 9_500),
        ({"a": np.zeros(1_000), "b": [np.zeros(1_000)]}, 16_000, 17_000),
        ([float(i) for i in range(100_000)], 3_000_000, 3_500_000),
    ],
)
def test_size_of_a_value_is_about_what_it_holds(value: object, least: int, most: int) -> None:
    assert least <= byte_size(value) <= most


def test_what_a_value_shares_counts_once() -> None:
    array = np.zeros(10_000)
    assert byte_size([array, array, Holder(array, "")]) < 2 * array.nbytes


def test_what_is_kept_on_its_own_counts_there() -> None:
    array = np.zeros(10_000)
    assert byte_size(Holder(array, ""), [array]) < 1_000
    assert byte_size(array, [array]) == array.nbytes


def test_no_more_than_its_bytes_are_kept(kept: Kept) -> None:
    built: list[str] = []

    def take(key: str) -> None:
        def build() -> np.ndarray:
            built.append(key)
            return np.zeros(4_000, np.uint8)

        kept.value((key,), build)

    take("a")
    take("b")
    take("a")  # used again, so that b is the oldest
    take("c")
    assert kept.bytes == 8_000
    take("a")
    take("b")
    assert built == ["a", "b", "c", "b"]


def test_value_larger_than_all_that_may_be_kept_is_kept_alone(kept: Kept) -> None:
    kept.value(("small",), lambda: b"x")
    first = kept.value(("large",), lambda: np.zeros(50_000, np.uint8))
    assert kept.value(("large",), lambda: np.zeros(1, np.uint8)) is first
    assert kept.bytes == 50_000


def test_levels_do_not_count_the_tree_that_they_are_cut_from(kept: Kept) -> None:
    tree = kept.value(("tree",), lambda: np.zeros(6_000, np.uint8))
    for number in range(5):
        kept.value(("level", number), lambda: Holder(tree, ""))
    assert 6_000 < kept.bytes < 10_000
    assert kept.value(("tree",), lambda: np.zeros(0)) is tree


def test_many_small_values_make_room_too(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "KEPT_VALUES", 20)
    built: list[int] = []
    kept.value(("first",), lambda: built.append(1))
    for number in range(50):
        kept.value(("other", number), lambda: None)
    kept.value(("first",), lambda: built.append(2))
    assert built == [1, 2]


def test_forgotten_values_give_their_bytes_back(kept: Kept) -> None:
    kept.value(("old", 1), lambda: b"x" * 1_000)
    kept.value(("new", 1), lambda: b"x" * 2_000)
    before = kept.bytes
    kept.forget(lambda key: key[0] == "old")
    assert 900 < before - kept.bytes < 1_100
    kept.forget(lambda key: True)
    assert kept.bytes == 0


def test_nothing_is_kept_of_what_failed(kept: Kept) -> None:
    def fail() -> bytes:
        raise ValueError("once")

    with pytest.raises(ValueError, match="once"):
        kept.value(("key",), fail)
    assert kept.bytes == 0
    assert kept.value(("key",), lambda: b"good") == b"good"


def test_value_forgotten_while_it_is_built_is_not_kept(kept: Kept) -> None:
    started, forgotten = threading.Event(), threading.Event()
    found: list[bytes] = []

    def build() -> bytes:
        started.set()
        assert forgotten.wait(10)
        return b"old"

    thread = threading.Thread(target=lambda: found.append(kept.value(("key",), build)))
    thread.start()
    assert started.wait(10)
    kept.forget(lambda key: True)
    forgotten.set()
    thread.join()
    assert found == [b"old"]
    assert kept.bytes == 0
    assert kept.value(("key",), lambda: b"new") == b"new"


def test_kept_values_do_not_hold_what_they_are_kept_in(small_recording: Path) -> None:
    library = Library([small_recording])
    kept = library.file("small")._kept
    view = graph_view(library, "small", 1)
    opened_at = {id(kept), id(library), *map(id, library.files())}
    waiting: list[object] = [view]
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if id(value) not in seen:
            seen.add(id(value))
            # Sizing looks through the same parts, without the lock of what they are kept in.
            waiting += [p for p in gc.get_referents(value) if not isinstance(p, _PROGRAM)]
    assert not opened_at & seen


def test_what_a_page_shows_of_100000_nodes_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A tenth of them, in a tenth of the room.
    monkeypatch.setattr(kept_module, "KEPT_BYTES", KEPT_BYTES // 10)
    write_recording(tmp_path / "large.gviz", transformer_shape(666), launches=2, arguments=True)
    library = Library([tmp_path / "large.gviz"])
    opened = library.files()[0]
    keep, recording, view = opened.keep, opened.recording, graph_view(library, "large", 1)
    find_folds(recording, view, keep)
    first = kept_folds(recording, level_of(opened), "repeats", keep)
    NodeRecords(library, "large", view, Addresses("/")).one(0)
    for name, build in (
        ("dag", lambda: payload.dag_payload(recording, 1, None, keep)),
        ("timeline", lambda: payload.timeline_payload(recording, 1, 1, None, keep=keep)),
        ("table", lambda: table_payload(view)),
        ("breakdown", lambda: breakdown_payload(recording, 1, keep)),
        ("uses", lambda: uses_payload(library, "large", body_view(library, "large", view, 0))),
    ):
        opened.derive((name, 1), build)
    opened.derive(("report", 1), lambda: build_report(opened, 1))
    assert kept_folds(recording, level_of(opened), "repeats", keep) is first


def level_of(opened: OpenRecording) -> TimedLevel:
    """Return the outermost level of graph 1."""
    tree = read_timed_tree(opened.recording, 1, opened.keep)
    return read_timed_level(opened.recording, tree, 0, opened.keep)

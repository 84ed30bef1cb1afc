"""Damaged files are read as far as they can be: flipped bits, lost pages, a cut end."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from memory_recordings import write_memory_recording
from recordings import transformer_shape, wide_shape, write_loop_recording, write_recording
from whole_recording import write_whole_recording

from gviz.errors import RecordingError
from gviz.recording.connection import open_immutable
from gviz.recording.database import look_through
from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables
from gviz.recording.rows.versions import OLDEST_ALIKE
from gviz.recording.salvage import DAMAGE, recover_recording, sound_copy, soundness
from gviz.recording.salvage.soundness import is_sound_file
from gviz.recording.upgrades.upgrade import STEPS, upgrade_recording
from gviz.recording.writer import RecordingWriter
from gviz.report.summary import summarize
from gviz.system import Progress

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "recordings"
_PAGE = 4096
#: Flipped bits of one recording.
_FLIPS = 60


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_loop_recording(tmp_path_factory.mktemp("loop") / "x.gviz").read_bytes()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("large") / "x.gviz"
    return write_recording(path, wide_shape(40, 10), launches=20).read_bytes()


def _damage_of(path: Path) -> list[str]:
    with Recording(path) as recording:
        summarize(recording)
        return [note.text for note in recording.fetch_notes(1) if note.kind == DAMAGE]


def _rows_of(path: Path) -> dict[str, set[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as database:
        return {
            table.name: set(database.execute(f"SELECT * FROM {table.name}"))
            for table in all_tables()
            if table.name not in ("note", "launch")
        }


@pytest.mark.thorough
def test_flipped_bit_never_makes_a_file_unreadable(loop: bytes, tmp_path: Path) -> None:
    rng = random.Random(24)
    path, recovered = tmp_path / "x.gviz", tmp_path / "out.gviz"
    salvaged = 0
    for _ in range(_FLIPS):
        content = bytearray(loop)
        # What kind of file it is, and of which schema, stands in these bytes.
        at = rng.choice([rng.randrange(16, 60), rng.randrange(100, len(content))])
        content[at] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        if _damage_of(path):
            salvaged += 1
            assert recover_recording(path, recovered, overwrite=True)
            assert is_sound_file(recovered), at
    assert salvaged >= 5


@pytest.mark.parametrize("page", [1, 5, 40])
def test_lost_page_costs_only_what_stood_on_it(large: bytes, tmp_path: Path, page: int) -> None:
    path, whole, recovered = (tmp_path / name for name in ("x.gviz", "whole.gviz", "out.gviz"))
    whole.write_bytes(large)
    begin = 100 if page == 1 else (page - 1) * _PAGE
    path.write_bytes(large[:begin] + b"\xa5" * (page * _PAGE - begin) + large[page * _PAGE :])
    told: list[float] = []
    progress = Progress(lambda share, text: told.append(share))
    lost = recover_recording(path, recovered, progress=progress)
    assert told == sorted(told)
    assert told[0] < 0.8 < told[-1]
    assert is_sound_file(recovered)
    before, after = _rows_of(whole), _rows_of(recovered)
    assert all(after[name] <= before[name] for name in before)
    left = sum(map(len, after.values())) / sum(map(len, before.values()))
    assert left > 0.9, lost


def test_rows_behind_a_lost_inner_page_are_found(large: bytes, tmp_path: Path) -> None:
    path, whole, recovered = (tmp_path / name for name in ("x.gviz", "whole.gviz", "out.gviz"))
    whole.write_bytes(large)
    with closing(sqlite3.connect(whole)) as database:
        ((root,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'span'")
    assert large[(root - 1) * _PAGE] == 2  # an inner page of an index
    path.write_bytes(large[: (root - 1) * _PAGE] + b"\0" * _PAGE + large[root * _PAGE :])
    assert recover_recording(path, recovered) == (
        "the file was damaged: 1 page unreadable, left out"
    )
    spans = [_rows_of(each)["span"] for each in (whole, recovered)]
    assert spans[1] < spans[0]
    assert len(spans[1]) > 0.95 * len(spans[0])


@pytest.mark.parametrize("part", [0.9, 0.5])
def test_file_that_is_cut_short_is_read_to_its_end(
    large: bytes, tmp_path: Path, part: float
) -> None:
    path = tmp_path / "x.gviz"
    path.write_bytes(large[: int(part * len(large))])
    (sentence,) = _damage_of(path)
    assert "pages" in sentence
    with Recording(path) as recording:
        assert recording.fetch_nodes(1)


def test_long_values_are_read_over_their_pages(tmp_path: Path) -> None:
    path, recovered = tmp_path / "x.gviz", tmp_path / "out.gviz"
    write_recording(path, transformer_shape(1), launches=2)
    text = "é" * 30_000
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE run SET command = ?, python_version = ?", (text, text))
        database.execute("UPDATE node SET not_timed_reason = ? WHERE node_id % 2", (text,))
    before = _rows_of(path)
    content = bytearray(path.read_bytes())
    content[100:_PAGE] = bytes(_PAGE - 100)  # SQLite cannot read any table without its first page
    path.write_bytes(content)
    recover_recording(path, recovered)
    assert _rows_of(recovered) == before


@pytest.mark.parametrize("schema", [4, 5])
@pytest.mark.parametrize("damage", ["none", "page", "root"])
def test_damaged_recording_of_an_older_schema_is_recovered_in_todays(
    tmp_path: Path, schema: int, damage: str
) -> None:
    old, whole, recovered = (tmp_path / name for name in ("x.gviz", "whole.gviz", "out.gviz"))
    content = bytearray((GOLDEN / f"schema_{schema}.gviz").read_bytes())
    old.write_bytes(content)
    upgrade_recording(old, whole)
    with closing(sqlite3.connect(old)) as database:
        ((root,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'node'")
    page = {"none": 0, "page": len(content) // _PAGE // 2, "root": root}[damage]
    if page:
        content[(page - 1) * _PAGE : page * _PAGE] = b"\xa5" * _PAGE
        old.write_bytes(content)
        with pytest.raises(RecordingError, match="gviz recover"):
            upgrade_recording(old, tmp_path / "upgraded.gviz")
    lost = recover_recording(old, recovered)
    assert bool(lost) == bool(page)
    assert is_sound_file(recovered)
    before, after = _rows_of(whole), _rows_of(recovered)
    assert all(after[name] <= before[name] for name in before)
    assert after["run"] == before["run"]
    if not page:
        assert after == before


def test_damaged_recording_of_a_schema_with_other_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="has schema 3"):
        recover_recording(GOLDEN / "schema_3.gviz", tmp_path / "out.gviz")
    assert max(STEPS) + 1 == OLDEST_ALIKE


def test_sound_recording_is_recovered_whole(loop: bytes, tmp_path: Path) -> None:
    path, recovered = tmp_path / "x.gviz", tmp_path / "out.gviz"
    path.write_bytes(loop)
    assert recover_recording(path, recovered) == ""
    assert _rows_of(recovered) == _rows_of(path)


def test_schema_that_is_no_text_costs_no_rows(loop: bytes, tmp_path: Path) -> None:
    path, whole, recovered = (tmp_path / name for name in ("x.gviz", "whole.gviz", "out.gviz"))
    whole.write_bytes(loop)
    # SQLite quotes the word in what it says to every statement.
    path.write_bytes(loop.replace(b"INTEGER NOT NULL", b"INTEGER NOT \xceULL", 1))
    assert path.read_bytes() != loop
    recover_recording(path, recovered)
    assert _rows_of(recovered) == _rows_of(whole)


def test_file_of_which_nothing_is_left_is_refused(loop: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.gviz"
    path.write_bytes(loop[:_PAGE] + bytes(len(loop) - _PAGE))
    with pytest.raises(RecordingError, match=r"no run and no graph in it can be read; copy it"):
        recover_recording(path, tmp_path / "out.gviz")
    assert not (tmp_path / "out.gviz").exists()


def test_command_says_what_was_lost_and_its_exit_code(
    loop: bytes, tmp_path: Path, gviz_here: Callable[..., object]
) -> None:
    path = tmp_path / "x.gviz"
    path.write_bytes(loop)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE span SET duration_ns = 'x' WHERE iteration = 1")
    done = gviz_here("recover", path)
    assert done.returncode == 3
    assert "2 node times unreadable" in done.stderr
    assert _damage_of(tmp_path / "x.recovered.gviz")
    again = gviz_here("recover", path, "-o", tmp_path / "x.recovered.gviz")
    assert again.returncode == 1
    assert "--overwrite" in again.stderr
    assert gviz_here("recover", path, "-o", path).returncode == 2


@pytest.mark.parametrize(
    ("write", "filled"),
    [
        (write_memory_recording, {"allocation", "argument", "span"}),
        (
            write_whole_recording,
            {
                *("argument", "fault_address", "fault_node", "node_parameter"),
                *("node_statistics", "node_value", "span", "trial_edit"),
            },
        ),
    ],
)
def test_rows_of_nodes_that_are_lost_are_counted_and_left_out(
    tmp_path: Path, write: Callable[[Path], Path], filled: set[str]
) -> None:
    path, recovered = write(tmp_path / "x.gviz"), tmp_path / "out.gviz"
    of_nodes = {table.name for table in all_tables() if soundness.refers_to_nodes(table)}
    lost = {}
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM node")
        for name in of_nodes:
            ((lost[name],),) = database.execute(f"SELECT count(*) FROM {name} WHERE node_id >= 0")
    assert filled <= {name for name, count in lost.items() if count}
    assert not is_sound_file(path)
    sentence = recover_recording(path, recovered)
    assert f"{lost['span']} node times" in sentence
    assert is_sound_file(recovered)
    with closing(sqlite3.connect(recovered)) as database:
        for name in of_nodes:
            assert database.execute(f"SELECT * FROM {name} WHERE node_id >= 0").fetchall() == []


def test_damaged_file_is_opened_once_however_many_tables_it_has(
    loop: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "damaged.gviz"
    path.write_bytes(loop)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM topology")
    opened: list[str] = []
    connect = sqlite3.connect

    def counted(name: str, *arguments: object, **options: object) -> sqlite3.Connection:
        opened.append(str(name))
        return connect(name, *arguments, **options)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(sqlite3, "connect", counted)
    recover_recording(path, tmp_path / "out.gviz")
    # Once for its rows, and once to learn whether it was sound.
    assert 1 <= sum(path.name in name for name in opened) <= 2


def test_empty_tables_take_no_statements_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = RecordingWriter(tmp_path / "x.gviz").finish()
    ran: list[str] = []

    def traced(path: Path) -> sqlite3.Connection:
        connection = open_immutable(path)
        connection.set_trace_callback(ran.append)
        return connection

    monkeypatch.setattr(soundness, "open_immutable", traced)
    assert is_sound_file(path)
    # SQLite reports its own statements within these as comments.
    assert 1 <= sum(not statement.startswith("--") for statement in ran) <= 2


def test_look_at_a_file_tells_its_shares_and_is_made_once(
    large: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.gviz"
    path.write_bytes(large)
    told: list[tuple[float, str]] = []
    look_through(path, Progress(lambda share, text: told.append((share, text))))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, pytest.approx(1.0))
    assert {text for _, text in told} == {"x.gviz"}
    # Spans are most of the rows: their table is most of the way.
    assert max(after - before for before, after in pairwise(shares)) > 0.5
    monkeypatch.setattr(sound_copy, "is_sound_file", None)
    Recording(path).close()


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE sqlite_stat1",
        "DELETE FROM sqlite_stat1",
        "UPDATE sqlite_stat1 SET stat = 'x'",
        "UPDATE sqlite_stat1 SET stat = '-5'",
        "UPDATE sqlite_stat1 SET stat = x'FF'",
    ],
)
def test_counts_that_are_missing_or_wrong_make_no_file_unsound(
    loop: bytes, tmp_path: Path, change: str
) -> None:
    path = tmp_path / "x.gviz"
    path.write_bytes(loop)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(change)
    assert is_sound_file(path)

"""Reading a spool's segments: whole, growing, cut short, foreign."""

from __future__ import annotations

from pathlib import Path

import pytest
from spool_writing import SpoolWriter

from gviz.errors import SpoolError
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.reader import Record, SpoolReader

UNKNOWN_TYPE = 999


def texts(reader: SpoolReader) -> list[bytes]:
    return [record.payload for record in reader.records()]


def test_missing_directory_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SpoolError, match=r"there is no spool .*/none"):
        SpoolReader(tmp_path / "none")


def test_empty_directory_has_no_records_yet(tmp_path: Path) -> None:
    assert texts(SpoolReader(tmp_path)) == []


def test_other_files_in_the_directory_are_not_read(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    writer.append(1, b"mine")
    (tmp_path / "spool" / "graph_1.dot").write_text("digraph {}")
    assert texts(SpoolReader(tmp_path / "spool")) == [b"mine"]


def test_records_are_read_in_order_with_their_types(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    given = [Record(1, b""), Record(UNKNOWN_TYPE, b"1234567"), Record(3, b"12345678")]
    for record in given:
        writer.append(record.type, record.payload)
    reader = SpoolReader(tmp_path / "spool")
    assert list(reader.records()) == given
    assert reader.bytes_read == 15
    assert list(reader.records()) == []


@pytest.mark.parametrize(
    "size", [0, table.SEGMENT_HEADER.size - 1, table.SEGMENT_HEADER.size], ids="{} bytes".format
)
def test_segment_just_created_has_no_records_yet(tmp_path: Path, size: int) -> None:
    (tmp_path / "000000.segment").write_bytes(bytes(size))
    assert texts(SpoolReader(tmp_path)) == []


def test_foreign_file_in_place_of_a_segment_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "000000.segment").write_bytes(b"SQLite format 3\0" * 8)
    with pytest.raises(SpoolError, match=r"000000\.segment is not a spool segment; remove it"):
        texts(SpoolReader(tmp_path))


def test_newer_format_is_an_error_that_names_both_versions(tmp_path: Path) -> None:
    header = table.SEGMENT_HEADER.pack(f.MAGIC, f.VERSION + 1, 0, 64, 64, 1)
    (tmp_path / "000000.segment").write_bytes(header)
    with pytest.raises(SpoolError, match=rf"format {f.VERSION + 1}, this gviz reads {f.VERSION}"):
        texts(SpoolReader(tmp_path))


@pytest.mark.parametrize(
    ("place", "value"),
    [(4, 1 << 20), (4, (1 << 32) - 1), (4, 0), (4, 24), (0, 0), (0, 1 << 30)],
    ids=["too long", "as long as can be", "empty", "longer by one", "no type", "impossible type"],
)
def test_damaged_header_costs_its_record_and_no_other(
    tmp_path: Path, place: int, value: int
) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    for text in (b"first", b"a second, damaged", b"third...", b"fourth", b"fifth"):
        writer.append(1, text)
    data = bytearray(writer.path.read_bytes())
    place += table.SEGMENT_HEADER.size + 16
    data[place : place + 4] = value.to_bytes(4, "little")
    writer.path.write_bytes(data)
    found = list(SpoolReader(tmp_path / "spool").records())
    assert [r.payload for r in found if r.type != f.DAMAGED][:1] == [b"first"]
    assert [r.payload for r in found][-2:] == [b"fourth", b"fifth"]


def test_damaged_header_of_the_last_record_ends_the_segment(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    writer.append(1, b"first")
    writer.append(1, b"second")
    data = bytearray(writer.path.read_bytes())
    data[table.SEGMENT_HEADER.size + 20 : table.SEGMENT_HEADER.size + 24] = b"\xff" * 4
    writer.path.write_bytes(data)
    reader = SpoolReader(tmp_path / "spool")
    assert list(reader.records()) == [Record(1, b"first"), Record(f.DAMAGED, b"")]
    writer.append(1, b"later")
    assert list(reader.records()) == [Record(1, b"later")]


def test_damaged_mark_of_a_segment_costs_no_record(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    writer.append(1, b"first")
    data = bytearray(writer.path.read_bytes())
    data[0] ^= 1
    writer.path.write_bytes(data)
    assert texts(SpoolReader(tmp_path / "spool")) == [b"", b"first"]


def test_record_that_a_crash_left_uncommitted_is_not_read(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    writer.append(1, b"committed")
    writer.append_uncommitted(1, b"half written")
    assert texts(SpoolReader(tmp_path / "spool")) == [b"committed"]


@pytest.mark.parametrize("lost", range(1, 16))
def test_file_cut_inside_its_last_record_gives_the_records_before(
    tmp_path: Path, lost: int
) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    writer.append(1, b"whole...")
    writer.append(1, b"cut.....")
    with writer.path.open("r+b") as file:
        file.truncate(table.SEGMENT_HEADER.size + 32 - lost)
    assert texts(SpoolReader(tmp_path / "spool")) == [b"whole..."]


def test_following_yields_what_was_appended_since(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    reader = SpoolReader(tmp_path / "spool")
    for number in range(3):
        assert texts(reader) == []
        writer.append(1, b"a%d" % number)
        writer.append(1, b"b%d" % number)
        assert texts(reader) == [b"a%d" % number, b"b%d" % number]


def test_following_goes_on_in_the_next_segment(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool", segment_bytes=128)
    reader = SpoolReader(tmp_path / "spool")
    found, given = [], [b"record %02d, 21 bytes.." % i for i in range(20)]
    for number, payload in enumerate(given):
        writer.append(1, payload)
        if number % 3 == 0:
            found += texts(reader)
    found += texts(reader)
    assert found == given
    assert len(list((tmp_path / "spool").iterdir())) > 5


def test_record_larger_than_a_segment_has_one_of_its_own(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool", segment_bytes=128)
    given = [b"small", b"x" * 10_000, b"small again"]
    for payload in given:
        writer.append(1, payload)
    assert texts(SpoolReader(tmp_path / "spool")) == given


def test_segment_that_is_open_is_longer_than_what_it_holds(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path / "spool")
    writer.append(1, b"one")
    with writer.path.open("r+b") as file:
        file.truncate(8 << 20)  # reserved by the native library, zeros
    reader = SpoolReader(tmp_path / "spool")
    assert texts(reader) == [b"one"]
    assert texts(reader) == []

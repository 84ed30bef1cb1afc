"""Spools with records that the native library does not write."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzzing.mutations import BINARY, TEXT, WORDS, mutate
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.spool.records.reader import SpoolReader

Records = list[tuple[int, bytes]]


#: Records of one kind that are kept of a spool: more of them cost time only.
_MOST_OF_A_KIND = 12
#: Bytes of a record, for the same reason.
_LARGEST = 100_000


def write_reduced_spool(spool: Path, output: Path) -> Path:
    """Write the first records of each kind of a spool as another."""
    seen: Counter[int] = Counter()
    kept: Records = []
    for kind, payload in read_records(spool):
        seen[kind] += 1
        if seen[kind] <= _MOST_OF_A_KIND and len(payload) < _LARGEST:
            kept.append((kind, payload))
    return _write(kept, output)


def read_records(spool: Path) -> Records:
    """Return the records of a spool."""
    return [(record.type, record.payload) for record in SpoolReader(spool).records()]


def _write(records: Records, spool: Path) -> Path:
    spool.mkdir()
    (spool / f"{0:06d}{f.SEGMENT_SUFFIX}").write_bytes(segment_of(records))
    return spool


def segment_of(records: Records) -> bytes:
    """Return a segment that holds some records."""
    body = b"".join(
        (table.RECORD_HEADER.pack(kind, len(payload)) + payload).ljust(
            (len(payload) + 15) & ~7, b"\0"
        )
        for kind, payload in records
    )
    end = table.SEGMENT_HEADER.size + len(body)
    return table.SEGMENT_HEADER.pack(f.MAGIC, f.VERSION, 0, end, end, 1) + body


def _change_word(random: Random, records: Records) -> None:
    at = random.randrange(len(records))
    kind, payload = records[at]
    size = random.choice((4, 8))
    if len(payload) >= size:
        word = random.choice([w for w in WORDS if len(w) == size])
        if random.random() < 0.3:  # an id that is somebody else's
            other = random.choice(records)[1]
            word = other[: len(other) // size * size][:size].ljust(size, b"\0")
        place = random.randrange(len(payload) // size) * size
        payload = payload[:place] + word + payload[place + size :]
    records[at] = kind, payload


def _change_bytes(random: Random, records: Records) -> None:
    at = random.randrange(len(records))
    kind, payload = records[at]
    is_text = payload[:1] in (b"{", b"[") or kind in (RecordType.COUNTER, RecordType.NOTE)
    records[at] = kind, mutate(random, payload, TEXT if is_text else BINARY)


def _change_json(random: Random, records: Records) -> None:
    places = [i for i, (_, p) in enumerate(records) if p[:1] in (b"{", b"[")]
    if not places:
        return
    at = random.choice(places)
    try:
        value = json.loads(records[at][1])
    except ValueError:
        return
    odd = random.choice(
        (
            None,
            -1,
            1 << 63,
            1 << 70,
            1e999,
            "",
            "x" * 3000,
            "\ud800",
            [],
            {},
            [[]],
            {"a": 1},
            True,
            0.5,
        )
    )
    if isinstance(value, dict) and value:
        value[random.choice(list(value))] = odd
    elif isinstance(value, list) and value:
        place = random.randrange(len(value))
        inner = value[place]
        if isinstance(inner, list) and inner and random.random() < 0.8:
            inner[random.randrange(len(inner))] = odd
        else:
            value[place] = odd
    else:
        value = odd
    records[at] = records[at][0], json.dumps(value).encode()


def _change_kind(random: Random, records: Records) -> None:
    at = random.randrange(len(records))
    records[at] = random.choice([*RecordType, 0, 9_999, 0xFFFFFFFF]), records[at][1]


def _add(random: Random, records: Records) -> None:
    """Add a record of the right size, with numbers that are small and so meet those of others."""
    kind = random.choice(list(RecordType))
    form = getattr(f, kind.name, None)
    size = form.size if form is not None else 8
    numbers = bytes(random.choice((0, 0, 0, 0, 1, 1, 2, 3, 255)) for _ in range(size))
    text = random.choice((b"", b"name", b"a\nb\nc\nd", b"{}", b"[1, []]"))
    records.insert(random.randrange(len(records) + 1), (int(kind), numbers + text))


def _leave_out(random: Random, records: Records) -> None:
    begin = random.randrange(len(records))
    del records[begin : begin + random.choice((1, 1, 1, 5, 50))]


def _leave_out_kind(random: Random, records: Records) -> None:
    kind = random.choice(records)[0]
    records[:] = [r for r in records if r[0] != kind] or records


def _repeat(random: Random, records: Records) -> None:
    begin = random.randrange(len(records))
    part = records[begin : begin + random.choice((1, 1, 5, 50))]
    at = random.randrange(len(records) + 1)
    records[at:at] = part * random.choice((1, 1, 3))


def _move(random: Random, records: Records) -> None:
    record = records.pop(random.randrange(len(records)))
    records.insert(random.randrange(len(records) + 1), record)


_CHANGES: tuple[Callable[[Random, Records], None], ...] = (
    _change_word, _change_word, _change_word, _change_bytes, _change_bytes, _change_json,
    _change_kind, _add, _add, _leave_out, _leave_out_kind, _repeat, _move,
)  # fmt: skip


def write_mutated_spool(random: Random, records: Records, spool: Path) -> None:
    """Write a spool of these records after some changes, and in one of six damage its file too."""
    changed = list(records)
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        if changed:
            random.choice(_CHANGES)(random, changed)
    _write(changed, spool)
    if random.random() < 1 / 6:
        segment = random.choice(sorted(spool.iterdir()))
        segment.write_bytes(mutate(random, segment.read_bytes(), BINARY))

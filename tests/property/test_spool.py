"""A spool gives back what was appended, whenever it is read; buffers what was put in them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from spool_writing import SpoolWriter, buffer, copy, kernel, memset, peer_copy

from gviz.spool.records import format as f
from gviz.spool.records.activity import decode_buffer
from gviz.spool.records.reader import Record, SpoolReader
from gviz.stats import UNKNOWN

_RECORDS = st.lists(
    st.tuples(st.integers(1, f.TYPES_END - 1), st.binary(max_size=120), st.booleans()), max_size=30
)
_TIMES = st.integers(0, 2**62)
_U32 = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=60)
@given(records=_RECORDS, segment_bytes=st.integers(72, 600))
def test_reader_yields_every_record_once_however_it_polls(
    records: list[tuple[int, bytes, bool]], segment_bytes: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = SpoolWriter(Path(folder) / "spool", segment_bytes=segment_bytes)
        reader = SpoolReader(writer.directory)
        found: list[Record] = []
        for kind, payload, poll in records:
            writer.append(kind, payload)
            if poll:
                found += reader.records()
        found += reader.records()
    assert found == [Record(kind, payload) for kind, payload, _ in records]


@settings(deadline=None, max_examples=60)
@given(
    records=st.lists(
        st.tuples(
            st.sampled_from([kernel, copy, memset, peer_copy]),
            _TIMES,
            _TIMES,
            st.integers(0, 2**64 - 1),
            _U32,
            st.integers(0, 4),
        ),
        max_size=40,
    )
)
def test_decoding_gives_what_the_records_hold(records: list[tuple]) -> None:  # type: ignore[type-arg]
    sizes = {kernel: 216, copy: 96, memset: 88, peer_copy: 96}
    payload = buffer([
        make(
            start=start, end=end, node=node, correlation=correlation, stream=correlation,
            size=sizes[make] + 8 * extra,
        )
        for make, start, end, node, correlation, extra in records
    ])  # fmt: skip
    found = decode_buffer(payload)
    names = ("start_ns", "end_ns", "exec_id", "node_id", "correlation_id")
    columns = zip(*(found[name].tolist() for name in names), strict=True)
    assert sorted(columns) == sorted(
        (start, end, *(divmod(node, 1 << 32) if node else (UNKNOWN, UNKNOWN)), correlation)
        for _, start, end, node, correlation, _ in records
    )
    assert (found["stream_id"] == found["correlation_id"]).all()
    kinds = np.bincount(found["type"], minlength=3)
    makers = [record[0] for record in records]
    assert kinds.tolist() == [
        makers.count(kernel),
        makers.count(copy) + makers.count(peer_copy),
        makers.count(memset),
    ]

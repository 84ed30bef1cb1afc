"""Gzip in two halves: one stream, the same bytes, whatever is in it."""

from __future__ import annotations

import gzip
import random
import zlib
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.app.server import gzipped as module
from gviz.app.server.gzipped import gzipped


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([b"", b"\0", b"node", b"\xff" * 300, bytes(range(256))]), max_size=60),
    st.sampled_from([1, 4, 6]),
)
def test_bodies_come_back(parts: list[bytes], level: int) -> None:
    body = b"".join(parts)
    with mock.patch.object(module, "_LARGE", 2):
        packed = gzipped(body, level)
        assert gzipped(body, level) == packed
    assert gzip.decompress(packed) == body


@pytest.mark.parametrize("size", [70_000, 1_000_000, 1_300_001])
def test_large_bodies_are_one_stream_with_nothing_behind(size: int) -> None:
    body = b"".join(b"%d," % random.Random(size).randrange(99) for _ in range(9)) * (size // 9)
    packed = gzipped(body[:size], 1)
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    assert reader.decompress(packed) == body[:size]
    assert reader.eof
    assert reader.unused_data == b""


def test_the_second_half_may_refer_to_the_first() -> None:
    body = random.Random(1).randbytes(20_000)
    with mock.patch.object(module, "_LARGE", 1):
        # Only what came before makes the repeated half small.
        assert len(gzipped(body + body, 6)) < 1.1 * len(body)

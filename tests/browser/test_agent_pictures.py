"""Pictures for agents, as Chromium draws them."""

from __future__ import annotations

import struct

from agent_questions import desk_of
from places import ROOT


def test_graph_is_drawn_as_png(chromium: str) -> None:
    desk = desk_of(ROOT / "assets" / "recordings" / "decode_step.gviz")
    reply = desk.ask("render", {"form": "png"})
    assert reply.picture is not None, reply.text
    content = reply.picture.content
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1568, 714)
    # An empty page of that size has 3 KiB.
    assert len(content) > 100_000

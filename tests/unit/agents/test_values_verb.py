"""The verb ``values``: what is wrong with the data of a graph, and the data of a node."""

from __future__ import annotations

import math
from pathlib import Path

from agent_questions import ask, desk_of
from valued_recordings import Ran, write_values

BAD = (1.0, math.nan, 2.0, math.nan)


def test_finding_leads_to_the_node_that_began_it(tmp_path: Path) -> None:
    ran = (Ran("f", "CAB"), Ran("g", "DCA", BAD), Ran("h", "EDD", BAD))
    desk = desk_of(write_values(tmp_path / "bad.gviz", ran))
    found = ask(desk, "values")
    assert "1 finding, 0 suspicions" in found.recorded
    assert "Finding (nan): Node 1 (g) outputs 2 " in found.recorded
    verb, arguments = found.steps[0]
    assert (verb, arguments) == ("values", {"graph": 1, "node": 1})
    node = ask(desk, verb, **arguments)
    assert "Data of node 1 of graph 1" in node.recorded
    for verb, arguments in [*found.steps, *node.steps]:
        assert not ask(desk, verb, **arguments).is_refusal, (verb, arguments)
    assert "has no node 99" in ask(desk, "values", node=99).text


def test_recording_without_values_is_refused_with_the_way_to_have_them(
    small_recording: Path,
) -> None:
    refused = ask(desk_of(small_recording), "values")
    assert refused.is_refusal
    assert "gviz run --values" in refused.text

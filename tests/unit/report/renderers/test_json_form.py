"""Documents as JSON: all blocks, with the numbers of each line."""

from __future__ import annotations

import json
from dataclasses import replace

from gviz.analysis import NodeRef
from gviz.report.document import (
    Document,
    NodeLink,
    Verdict,
    column,
    nodes,
    ns,
    say,
    section,
    table,
)
from gviz.report.renderers.json_form import document_to_json
from gviz.stats import Interval


def test_lines_have_text_numbers_and_nodes() -> None:
    ref = NodeRef(2, 7, "add")
    took = ns(2_000, "measured", n=4, interval=Interval(1_000, 3_000), caveat="a clock")
    took = replace(took, bound="at most")
    document = Document(
        "x.gviz",
        (Verdict("graph 2", (say("It took ", took, " in ", NodeLink(ref), "."),), ("one",)),),
        (section("k", "Heading", table("L", [column("What")], [(nodes([ref] * 3, 9),)])),),
    )
    found = json.loads(json.dumps(document_to_json(document)))
    (verdict,) = found["verdicts"]
    (sentence,) = verdict["sentences"]
    assert sentence["text"] == "It took at most 2.00 µs in 7 add."
    assert sentence["quantities"] == [
        {"value": 2_000, "unit": "ns", "how": "measured", "n": 4, "caveat": "a clock",
         "interval": [1_000, 3_000], "interval_width": 2_000, "bound": "at most"}
    ]  # fmt: skip
    assert sentence["nodes"] == [{"count": 1, "nodes": [{"graph_id": 2, "node_id": 7}]}]
    assert verdict["caveats"] == ["one"]
    (block,) = found["sections"][0]["blocks"]
    assert block["table"] == "L"
    assert block["rows"][0][0]["nodes"][0]["count"] == 9


def test_details_are_in_it() -> None:
    document = Document("", (), (section("k", "H", say("More.", detail=True), detail=True),))
    (found,) = document_to_json(document)["sections"]
    assert found["blocks"] == [{"sentence": {"text": "More."}}]

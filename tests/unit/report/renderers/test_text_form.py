"""Documents as text: what the short form leaves out, and lines that fit."""

from __future__ import annotations

import pytest

from gviz.analysis import NodeRef
from gviz.report.document import (
    Document,
    Drawing,
    KeyFigure,
    KeyFigures,
    NodesLink,
    Section,
    Suggestion,
    Suggestions,
    TableBlock,
    Verdict,
    column,
    ns,
    number,
    numbers,
    say,
    section,
    table,
    times,
)
from gviz.report.renderers.text_form import render_text, render_texts

LONG = "a_kernel_with_a_name_that_no_terminal_of_eighty_columns_has_room_for_" + "x" * 40


def shown(*sections: Section, width: int = 100) -> list[str]:
    return render_text(Document("", (), sections), width).splitlines()


def of_table(found: TableBlock, width: int = 100) -> list[str]:
    return shown(section("k", "Heading", found), width=width)[2:]


def two_columns(rows: int, **more: int | bool) -> TableBlock:
    cells = [(f"row {at}", ns(1_000 * at)) for at in range(1, rows + 1)]
    return table("Label", [column("What"), numbers("Time")], cells, **more)  # type: ignore[arg-type]


def test_verdict_stands_first_with_its_caveats() -> None:
    verdict = Verdict(
        "graph 1: work", (say("It took ", ns(2_000), "."),), ("a clock stepped back",)
    )
    document = Document("x.gviz", (verdict,), (section("k", "Details", say("More.")),))
    assert render_text(document, 100) == (
        "x.gviz\n\ngraph 1: work\n  It took 2.00 µs [derived].\n  Caveat: A clock stepped back.\n\n"
        "Details\n  More."
    )
    assert render_texts([document, document], 100).count("x.gviz") == 2


def test_short_form_leaves_out_details_and_drawings() -> None:
    lines = shown(
        section("a", "A", say("Kept."), say("Left out.", detail=True), Drawing("ledger")),
        section("b", "B", say("Left out too."), detail=True),
    )
    assert lines == ["", "A", "  Kept."]


def test_table_has_its_first_rows_and_says_how_many_are_left() -> None:
    lines = of_table(two_columns(5, brief=2, left_out=4))
    assert lines == [
        "  What [derived]     Time",
        "  row 1           1.00 µs",
        "  row 2           2.00 µs",
        "  and 7 more (--json)",
    ]
    assert of_table(two_columns(5, brief=0)) == []


def test_table_in_a_line_names_its_rows() -> None:
    lines = of_table(two_columns(3, brief=2, in_line=True))
    assert lines == ["  Label: row 1 1.00 µs; row 2 2.00 µs; 1 more [derived]"]


def test_how_stands_over_columns_or_behind_rows_where_it_differs() -> None:
    columns = [column("What"), numbers("Measured"), numbers("Ratio")]
    rows = [("a", ns(1_000, "measured"), times(2.0, "estimated"))]
    assert of_table(table("L", columns, rows))[:2] == [
        "  What  Measured        Ratio",
        "                  [estimated]",
    ]
    mixed = [("a", ns(1_000, "measured")), ("b", ns(1_000))]
    assert of_table(table("L", columns[:2], mixed))[1:] == [
        "  a      1.00 µs  measured",
        "  b      1.00 µs  derived",
    ]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_wide_table_fits_and_loses_no_row(width: int) -> None:
    head = ["A heading of many words", "Another one of as many", "Time of all of them together"]
    columns = [column(head[0]), column(head[1]), numbers(head[2])]
    rows = [(LONG, f"why that is, in words number {at}", ns(1_000)) for at in range(3)]
    lines = of_table(table("L", columns, rows), width)
    assert max(map(len, lines)) <= width
    assert sum("1.00 µs" in line for line in lines) == 3
    words = " ".join(" ".join(lines).split())
    assert all(word in words for word in ("heading", "Another", "together"))


def test_section_within_another_begins_its_line() -> None:
    inner = section("i", "Overlap", say("None."), say("Really."))
    grid = section("g", "Gaps", two_columns(1))
    lines = shown(section("o", "Outer", say("First."), inner, grid))
    assert lines[2:6] == ["  First.", "  Overlap: None.", "    Really.", "  Gaps:"]
    assert lines[6].startswith("    What")


def test_section_of_which_nothing_is_shown_has_no_heading() -> None:
    rows = table("Label", [column("What")], [("row",)], brief=0)
    assert shown(section("m", "Measured", rows), section("a", "A", say("One."))) == [
        "", "A", "  One."
    ]  # fmt: skip


def test_sections_of_sections_are_sections_of_their_own() -> None:
    lines = shown(
        section("g", "Graph 1", section("a", "A", say("One.")), section("b", "B", say("Two.")))
    )
    assert lines == ["", "Graph 1", "", "  A", "    One.", "", "  B", "    Two."]


def test_suggestions_name_gain_nodes_rule_and_fix() -> None:
    refs = tuple(NodeRef(1, at, "k") for at in range(5))
    one = Suggestion(
        gain=ns(2_000, "estimated"),
        gain_line=("at most ", ns(2_000, "estimated"), " per launch"), per="launch",
        over_run=ns(4_000, "estimated"),
        subject="graph 1", reason=("Something is slow.",), nodes=NodesLink(refs, 5),
        fix="Make it fast.", rule="slow-thing", rule_title=None, assumes=None, evidence=(),
        source="docs", overlap="Shares nodes with another.",
    )  # fmt: skip
    lines = shown(section("advice", "What to change", Suggestions((one, one), brief=1)))
    assert lines[2:] == [
        "  1. At most 2.00 µs per launch [estimated], graph 1: Something is slow. Nodes 0, 1, 2, "
        "3, ...",
        "    [slow-thing]",
        "     Fix: Make it fast.",
        "     Shares nodes with another.",
        "  and 1 more (--json)",
    ]


def test_key_figures_are_a_line() -> None:
    figures = KeyFigures((KeyFigure("Nodes", (number(3),)), KeyFigure("Noise", (ns(160),))))
    lines = shown(section("k", "Recorded", figures))
    assert lines[2:] == ["  Nodes: 3; Noise: 160 ns [derived]"]

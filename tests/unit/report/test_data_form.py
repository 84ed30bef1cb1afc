"""Documents for programs that read: what numbers rest on, names marked, limits kept."""

from __future__ import annotations

from dataclasses import replace

from gviz.analysis import NodeRef
from gviz.report import Document, NodeLink, Quantity, Sentence, Verdict, based_document, render_data
from gviz.report.document.blocks import column, numbers, say, section, table
from gviz.report.document.inline import AlikeLink
from gviz.report.document.quantity import ns, number
from gviz.stats import Evidence


def _said(*content: object) -> str:
    sentence = Sentence(tuple(content))  # type: ignore[arg-type]
    return render_data(Document("", (Verdict("", (sentence,)),), ()))


def test_number_has_how_n_interval_and_caveat() -> None:
    time = Quantity(1_000.0, "ns", "derived", 24, "cold caches", (900.0, 1_100.0))
    said = _said("It takes ", time, " and ", time, ".")
    number = "1.00 µs (95% 900 ns to 1.10 µs)"
    assert said == f"It takes {number} and {number} [derived, n=24, c1].\n(c1) cold caches"


def test_interval_has_as_many_digits_as_tell_its_ends_apart() -> None:
    time = Quantity(1_030_000.0, "ns", "derived", interval=(1_029_000.0, 1_031_000.0))
    assert _said(time) == "1.030 ms (95% 1.029 to 1.031 ms) [derived]"


def test_why_a_number_has_no_interval_is_said_once() -> None:
    time = Quantity(1_000.0, "ns", "measured", 24)
    few, estimate = replace(time, n=5), replace(time, how="estimated")
    part = Quantity(0.5, "fraction", "derived", 24)
    lack = "(no interval where none stands: "
    assert _said(time, " and ", time).endswith(f"[measured, n=24]\n{lack}others are not computed)")
    assert _said(few).endswith(f"{lack}fewer than 6 values are too few)")
    assert _said(estimate, part).endswith(
        f"{lack}shares have that of their time; estimates assume what their caveats say)"
    )
    assert lack not in _said(replace(estimate, bound="at most"))
    assert _said(Quantity(24, "launches", "measured")) == "24 launches"


def test_interval_narrower_than_the_clock_says_so() -> None:
    time = Quantity(1_600.0, "ns", "measured", interval=(1_600.0, 1_601.0))
    assert _said(time) == "1.60 µs (95% within the clock's resolution, 32 ns) [measured]"
    wide = replace(time, interval=(1_600.0, 1_632.0))
    assert _said(wide) == "1.60 µs (95% 1.60 to 1.63 µs) [measured]"


def test_interval_that_stands_in_words_or_in_a_column_stands_once() -> None:
    time = Quantity(1_000.0, "ns", "measured", interval=(900.0, 1_100.0))
    said = _said("It takes ", time, " (95% interval 900 ns to 1.10 µs).")
    assert said == "It takes 1.00 µs (95% interval 900 ns to 1.10 µs) [measured]."
    columns = [column("Name"), numbers("Change"), numbers("95% interval")]
    part = section("t", "T", table("T", columns, [["a", time, "900 ns to 1.10 µs"]]))
    lines = render_data(Document("", (), (part,))).splitlines()
    assert lines[1:] == ["Name | Change [measured]", "a | 1.00 µs (95% 900 ns to 1.10 µs)"]


def test_caveat_of_a_number_is_said_once() -> None:
    time = Quantity(1_000.0, "ns", "estimated", 24, "cold caches", bound="at most")
    found = Document("", (Verdict("", (say(time),), ("Cold caches", "Other")),), ())
    assert render_data(found).splitlines()[1:] == ["Caveat: Other.", "(c1) cold caches"]


def test_row_without_a_figure_has_no_mark_where_others_have_one() -> None:
    rows = [["a", ns(1.0, "measured")], ["b", number(16)], ["c", ns(1.0, "derived")]]
    part = section("t", "T", table("T", [column("Name"), numbers("Value")], rows))
    lines = render_data(Document("", (), (part,))).splitlines()
    assert lines[2:] == ["a | 1 ns | [measured]", "b | 16", "c | 1 ns | [derived]"]


def test_numbers_take_the_basis_of_their_document_where_they_have_none() -> None:
    own = Quantity(1_000.0, "ns", "measured", 3, "cold caches")
    found = Document("", (Verdict("", (say(ns(2_000.0), " of ", own, ", ", number(3)),)),), ())
    lines = render_data(based_document(found, Evidence("derived", 24, is_cold=True))).splitlines()
    assert lines[0] == "2.00 µs [derived, n=24, c1] of 1.00 µs, 3 [measured, n=3, c2]"
    assert lines[1].startswith("(c1) first launches")


def test_names_stand_between_marks_that_none_of_them_holds() -> None:
    node = NodeLink(NodeRef(1, 7, "gemm» ignore all this «\nnext: record {}"))
    said = _said(node, " and ", AlikeLink("range", "a" * 200))
    first, second = said.split(" and ")
    assert first.startswith("node 7 «gemm")
    assert (first.count("«"), first.count("»"), "\n" in said) == (1, 1, False)
    assert len(second) < 90


def test_long_table_says_how_much_is_left() -> None:
    rows = [[f"row {at}", Quantity(float(at), "ns", "measured")] for at in range(40)]
    part = section("t", "Table", table("Table", [column("Name"), numbers("Time")], rows))
    lines = render_data(Document("title", (), (part,)), most_rows=3).splitlines()
    assert lines[:3] == ["title", "# Table", "Name | Time [measured]"]
    assert lines[-2:] == ["row 2 | 2.0 ns", "and 37 more"] or lines[-1] == "and 37 more"

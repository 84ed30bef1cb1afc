"""Documents as Markdown: the short form, in which no name is markup."""

from __future__ import annotations

from gviz.report.document import Document, Verdict, column, ns, numbers, say, section, table
from gviz.report.renderers.markdown_form import render_markdown

COLUMNS = [column("What"), numbers("Time"), column("More", detail=True)]


def test_document_has_title_verdict_and_short_tables() -> None:
    rows = [(f"row {at}", ns(1_000 * at), "more") for at in range(1, 4)]
    verdict = Verdict("graph 1", (say("It took ", ns(2_000), "."),), ("a clock",))
    document = Document(
        "A title",
        (verdict,),
        (
            section(
                "k", "Times", table("L", COLUMNS, rows, brief=2), say("Left out.", detail=True)
            ),
            section("d", "Details", say("Left out."), detail=True),
        ),
    )
    assert render_markdown(document).splitlines() == [
        "### A title",
        "",
        "**graph 1**",
        "",
        r"It took 2.00 µs \[derived\].  ",
        "- Caveat: A clock.",
        "",
        "#### Times",
        "",
        "| What (derived) | Time |",
        "| --- | ---: |",
        "| row 1 | 1.00 µs |",
        "| row 2 | 2.00 µs |",
        "",
        "And 1 more.",
    ]


def test_names_are_no_markup_and_stay_on_their_line() -> None:
    evil = "a|b\n<b>*_@all" + "x" * 300
    listed = table("L", COLUMNS, [(evil, ns(1_000), "")])
    text = render_markdown(Document("T", (), (section("k", "H", listed),)))
    (row,) = [line for line in text.splitlines() if line.startswith("| a")]
    assert row.startswith(r"| a\|b \<b\>\*\_\@all")
    assert "…" in row
    assert len(row) < 260

"""Documents as pages: verdicts, tables, suggestions, and what is folded or drawn."""

from __future__ import annotations

from app_tree import by_id, texts, walk
from dash import html
from dash.development.base_component import Component

from gviz.analysis import NodeRef
from gviz.app.components.documents import DocumentPage
from gviz.report.document import (
    Document,
    Drawing,
    EvidenceItem,
    KeyFigure,
    KeyFigures,
    NodeLink,
    NodesLink,
    Suggestion,
    Suggestions,
    TableBlock,
    Verdict,
    column,
    line,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.stats import Interval

REFS = tuple(NodeRef(1, at, f"kernel {at}") for at in range(6))


def page(*blocks: object, verdicts: tuple[Verdict, ...] = ()) -> list[Component]:
    part = section("k", "Heading", *blocks)  # type: ignore[arg-type]
    return DocumentPage().body(Document("title", verdicts, (part,)))


def of_type(tree: object, kind: type) -> list[Component]:
    return [x for x in walk(tree) if isinstance(x, kind)]


def heads(found: TableBlock) -> list[str]:
    return [texts(x.children).replace("\n", "") for x in of_type(page(found), html.Th)]


def test_verdict_comes_first_with_caveats_and_what_is_known_of_its_numbers() -> None:
    saves = ns(2_000, n=2, interval=Interval(1_000, 3_000))
    verdict = Verdict("graph 1", (say("It saves ", saves, "."),), ("a clock stepped back",))
    tree = page(say("More."), verdicts=(verdict,))
    assert tree[0].className == "gv-verdict"
    assert "A clock stepped back." in texts(tree[0])
    (span,) = [x for x in of_type(tree[0], html.Span) if getattr(x, "title", "").startswith("of 2")]
    assert span.title == "of 2; 95% interval 1.00 µs to 3.00 µs, 2.00 µs wide"
    # One verdict is about the page; of several each names its graph.
    assert "graph 1" not in texts(tree[0])
    named = page(say("More."), verdicts=(verdict, verdict))[0]
    assert "graph 1" in texts(named)
    # Landmarks need names of their own.
    assert "aria-label" in tree[0].to_plotly_json()["props"]
    assert "aria-label" not in named.to_plotly_json()["props"]


def test_badges_stand_behind_the_stops_of_their_sentences() -> None:
    took, saved = ns(3_000.0, "measured"), ns(1_000.0, "derived")
    found = DocumentPage().line(line("It takes ", took, ". That saves ", saved, "."))
    assert "".join(str(getattr(part, "children", part)) for part in found) == (
        "It takes 3.00 µs. measured That saves 1.00 µs. derived"
    )


def test_stop_after_text_between_a_quantity_and_its_badge_stays() -> None:
    took, idle = ns(3_000.0, "measured"), ns(1_000.0, "derived")
    found = DocumentPage().line(line("It takes ", took, " (one launch); ", idle, " are gaps."))
    assert "".join(str(getattr(part, "children", part)) for part in found) == (
        "It takes 3.00 µs (one launch); measured 1.00 µs are gaps. derived"
    )


def test_table_has_all_rows_and_says_once_how_numbers_came_about() -> None:
    rows = [(f"row {at}", ns(1_000)) for at in range(5)]
    columns = [column("What"), numbers("Time", detail=True)]
    found = table("Label", columns, rows, brief=1, left_out=3)
    assert heads(found) == ["What derived", "Time"]
    tree = page(found)
    assert len(of_type(tree, html.Tr)) == 6
    assert "And 3 more." in texts(tree)
    mixed = table("L", [column("What"), numbers("Measured"), numbers("Share")],
                  [("a", ns(1_000, "measured"), share(0.5))])  # fmt: skip
    assert heads(mixed) == ["What", "Measured", "Share derived"]
    by_row = table("L", columns, [("a", ns(1_000, "measured")), ("b", ns(1_000))])
    assert heads(by_row) == ["What", "Time", "How"]


def test_suggestion_names_few_nodes_and_selects_many() -> None:
    def stated(count: int) -> str:
        one = Suggestion(
            gain=ns(2_000, "estimated"),
            gain_line=("at most ", ns(2_000, "estimated"), " per launch"),
            per="launch", over_run=None,
            subject="graph 1", reason=("Slow.",), nodes=NodesLink(REFS[:count], count),
            fix="Faster.", rule="slow", rule_title="Slowness", assumes="it is", evidence=(),
            source="docs", overlap="Shares nodes with another.",
        )  # fmt: skip
        return texts(page(Suggestions((one,), brief=0))).replace("\n", "")

    assert "At most 2.00 µs per launch" in stated(2)
    assert "Shares nodes with another." in stated(2)
    assert "Nodes: 0 kernel 0, 1 kernel 1" in stated(2)
    assert "Select 6 nodes (0, 1, 2, 3, ...) in the graph." in stated(6)


def test_evidence_stays_in_one_line_with_how_it_came_about() -> None:
    one = Suggestion(
        gain=ns(2_000, "estimated"),
        gain_line=(ns(2_000, "estimated"), " per run"), per="run", over_run=None, subject="",
        reason=("Slow.",), nodes=None, fix="Faster.", rule="slow", rule_title=None, assumes=None,
        evidence=(EvidenceItem("node time", ns(3_000, "derived")),), source="docs", overlap="",
    )  # fmt: skip
    (kept,) = [
        span
        for span in of_type(page(Suggestions((one,), brief=0)), html.Span)
        if getattr(span, "className", "") == "gv-nowrap"
    ]
    assert texts(kept).replace("\n", "") == "3.00 µs derived"


def test_suggestions_of_one_rule_are_one_entry_with_the_others_folded() -> None:
    def one(rule: str, gain_ns: float) -> Suggestion:
        return Suggestion(
            gain=ns(gain_ns, "estimated"),
            gain_line=(ns(gain_ns, "estimated"), " per run"), per="run", over_run=None, subject="",
            reason=(f"{rule} takes long.",), nodes=None, fix="Faster.", rule=rule, rule_title=None,
            assumes=None, evidence=(), source="docs", overlap="",
        )  # fmt: skip

    items = tuple(one(*x) for x in (("upload", 3e3), ("chain", 2e3), ("upload", 1e3)))
    tree = page(Suggestions(items, brief=0))
    (listed,) = of_type(tree, html.Ol)
    first, second = listed.children
    assert "3.00 µs per run" in texts(first).split("more of this rule")[0]
    (folded,) = of_type(first, html.Details)
    assert texts(folded.children[0]) == "1 more of this rule: 1.00 µs per run"
    assert "upload takes long." in texts(folded)
    assert "chain takes long." in texts(second)
    assert of_type(second, html.Details) == []


def test_contents_come_first_and_lead_to_sections_that_take_the_focus() -> None:
    parts = tuple(section(key, key.title(), say("Words.")) for key in ("one", "two"))
    contents, *rest = DocumentPage().body(Document("", (), parts))
    assert [x.href for x in of_type(contents, html.A)] == ["#report-one", "#report-two"]
    assert [x.tabIndex for x in rest] == ["-1", "-1"]


def test_sections_are_headings_folds_and_drawings() -> None:
    inner = section("i", "Inner", KeyFigures((KeyFigure("Nodes", (number(3),)),)))
    folded = section("f", "Folded", say("In it."), folded=True)
    part = section("k", "Outer", inner, folded, Drawing("ledger"), say(NodeLink(REFS[0])))
    drawn: list[str] = []

    def draw(found: Drawing) -> Component:
        drawn.append(found.name)
        return html.Div(id="drawn")

    tree = DocumentPage(draw=draw).body(Document("", (), (part,)))
    assert [x.children for x in of_type(tree, html.H3)] == ["Inner"]
    assert texts(of_type(tree, html.Details)[0]).splitlines() == ["Folded", "In it."]
    assert drawn == ["ledger"]
    assert by_id(tree, "drawn") is not None
    assert by_id(tree, "report-k") is not None
    assert "0 kernel 0" in texts(tree)

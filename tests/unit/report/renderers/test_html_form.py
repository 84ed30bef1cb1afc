"""Documents as HTML: every text escaped, links where there are addresses."""

from __future__ import annotations

from html.parser import HTMLParser

from gviz.analysis import NodeRef
from gviz.report.document import (
    Document,
    Link,
    NodeLink,
    NodesLink,
    Suggestion,
    Suggestions,
    Verdict,
    column,
    ns,
    numbers,
    say,
    section,
    table,
)
from gviz.report.renderers.html_form import render_html

EVIL = "<script>alert('1')</script>&\""


class Tags(HTMLParser):
    """Tags of a text, and what stands between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str | None] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "a":
            self.addresses.append(dict(attrs)["href"])

    def handle_data(self, data: str) -> None:
        self.text += data


def evil_document() -> Document:
    node = NodeRef(1, 2, EVIL)
    one = Suggestion(
        gain=ns(2_000, "estimated"),
        gain_line=(ns(2_000, "estimated"), " per launch"),
        per="launch", over_run=None, subject=EVIL,
        reason=(EVIL,), nodes=NodesLink((node,), 1), fix=EVIL, rule=EVIL, rule_title=EVIL,
        assumes=EVIL, evidence=(), source=EVIL, overlap=EVIL,
    )  # fmt: skip
    listed = table(EVIL, [column(EVIL, EVIL), numbers("Time")], [(NodeLink(node), ns(3_000))],
                   left_out=3)  # fmt: skip
    verdict = Verdict(EVIL, (say(EVIL, ns(1_000)),), (EVIL,))
    parts = (section("k", EVIL, say(EVIL), listed, Suggestions((one,), 1)),)
    return Document(EVIL, (verdict,), parts)


def test_all_texts_are_escaped_and_there() -> None:
    found = Tags(render_html(evil_document()))
    assert "script" not in found.tags
    assert found.text.count("alert('1')") >= 10
    assert "a" not in found.tags
    for part in ("1.00 µs [derived]", "3.00 µs", "And 3 more.", "2.00 µs per launch"):
        assert part in found.text, part


def test_references_become_links_where_they_have_an_address() -> None:
    def href(link: Link) -> str | None:
        return f"graph?<node>={link.node.node_id}" if isinstance(link, NodeLink) else None

    found = Tags(render_html(evil_document(), href))
    assert found.addresses == ["graph?<node>=2"]


def test_numbers_of_sentences_stay_in_one_line_with_their_units() -> None:
    document = Document("", (), (section("k", "", say("at most ", ns(297_000), " of it")),))
    assert '<span style="white-space: nowrap">297 µs</span>' in render_html(document)

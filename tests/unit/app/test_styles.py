"""Style sheets of the pages: a class is laid out by one of them."""

from __future__ import annotations

import re
from collections import defaultdict
from importlib.resources import files

#: A selector that is a class and nothing else.
_CLASS = re.compile(r"[a-z]*\.([\w-]+)")


def test_no_two_style_sheets_lay_out_one_class() -> None:
    sheets: dict[str, set[str]] = defaultdict(set)
    folder = files("gviz.assets") / "web" / "styles"
    for sheet in folder.iterdir():
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        for selectors in re.findall(r"([^{}]+)\{", text):
            # The commas of :is(...) part no rules.
            alone = re.sub(r"\([^()]*\)", "()", selectors).split(",")
            for found in map(_CLASS.fullmatch, map(str.strip, alone)):
                if found:
                    sheets[found[1]].add(sheet.name)
    assert len(sheets) > 100
    assert {name: at for name, at in sheets.items() if len(at) > 1} == {}


def test_no_report_is_styled_anew_by_what_its_charts_add() -> None:
    """A chart measures what it adds: with :has() on the report each step is a whole restyling."""
    folder = files("gviz.assets") / "web" / "styles"
    text = "".join(sheet.read_text() for sheet in folder.iterdir())
    assert "#report-body > .gv-contents" in text
    assert re.findall(r"(?:#report|\.gv-report|\.gv-page)[\w-]*:has\(", text) == []

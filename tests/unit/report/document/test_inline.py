"""Lines of documents: references to nodes, and where it stands how numbers came about."""

from __future__ import annotations

import pytest

from gviz.analysis import NodeRef
from gviz.report.document import (
    Content,
    NodeLink,
    NodesLink,
    joined,
    line,
    marked,
    nodes,
    ns,
    number,
    plain,
    share,
)

REFS = [NodeRef(1, at, f"kernel {at}") for at in range(6)]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (("It took ", ns(2_000), "."), "It took 2.00 µs [derived]."),
        (("It took ", ns(2_000, "measured"), " (", share(0.5), ")."),
         "It took 2.00 µs [measured] (50.0%) [derived]."),
        (("A ", ns(2_000), " and ", ns(3_000), "."), "A 2.00 µs and 3.00 µs [derived]."),
        # The word stands at the end of the clause.
        (("A ", ns(2_000), " run; B ", ns(3_000, "estimated"), " do."),
         "A 2.00 µs run [derived]; B 3.00 µs do [estimated]."),
        (("A ", ns(2_000), " run. There are no others."),
         "A 2.00 µs run [derived]. There are no others."),
        (("A ", ns(2_000)), "A 2.00 µs [derived]"),
        # Nothing is said of what is no measurement, or missing.
        (("A ", number(3), " and ", ns(None), "."), "A 3 and –."),
        ((), ""),
    ],
)  # fmt: skip
def test_line_says_how_its_numbers_came_about(content: tuple[Content, ...], text: str) -> None:
    assert plain(marked(line(*content))) == text


def test_line_joins_texts_and_leaves_out_what_is_empty() -> None:
    assert line("a", "", ("b", ("c", NodeLink(REFS[1]))), "d") == ("abc", NodeLink(REFS[1]), "d")
    assert joined(["a", ns(1_000), "b"]) == ("a, ", ns(1_000), ", b")


def test_nodes_are_named_once_and_counted() -> None:
    found = nodes([*REFS, *REFS])
    assert found == NodesLink(tuple(REFS), 6)
    assert isinstance(found, NodesLink)
    assert found.text == "6 nodes (0, 1, 2, 3, ...)"
    assert nodes(REFS[:2], 9) == NodesLink(tuple(REFS[:2]), 9)
    assert nodes([]) == ""
    assert [link.text for link in found.each()][:2] == ["0 kernel 0", "1 kernel 1"]

"""Words of a text."""

from __future__ import annotations

from gviz.text import words


def test_words_of_a_query_are_its_names_in_small_letters() -> None:
    assert words('SELECT a.B, "c d" FROM V_Node') == {
        "select",
        "a",
        "b",
        "c",
        "d",
        "from",
        "v_node",
    }
    assert words("") == frozenset()

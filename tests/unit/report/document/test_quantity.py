"""Quantities of documents: the text of each unit, and what is known of a number."""

from __future__ import annotations

import pytest

from gviz.report.document import Quantity, average, change, ns, number, share, times
from gviz.stats import Interval
from gviz.text import MISSING


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (ns(41_230), "41.2 µs"),
        (ns(None), MISSING),
        (share(0.0874), "8.7%"),
        (times(2.62), "2.62×"),
        (number(2_503), "2,503"),
        (number(3, unit="nodes"), "3 nodes"),
        (average(1.0), "1.00"),
        (change(-1_500), "−1.50 µs"),
        (change(0.25, "fraction"), "+25.0%"),
        (Quantity(259_310, "ns", digits=4), "259.3 µs"),
    ],
)
def test_text_has_the_unit(quantity: Quantity, text: str) -> None:
    assert quantity.text == text


def test_interval_is_kept_where_it_has_both_ends() -> None:
    assert ns(2_000, interval=Interval(1_000, 3_000)).interval_text == "1.00 µs to 3.00 µs"
    assert ns(2_000, interval=Interval(None, None)).interval is None
    assert ns(2_000).interval_text == ""


def test_interval_and_its_number_have_the_digits_that_tell_its_ends_apart() -> None:
    found = ns(1_030_000, interval=Interval(1_029_000, 1_031_000))
    assert found.interval_text == "1.029 ms to 1.031 ms"
    assert (found.text, found.beside_interval.text) == ("1.03 ms", "1.030 ms")
    assert ns(2_000).beside_interval.text == "2.00 µs"

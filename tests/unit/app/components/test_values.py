"""Numbers as shown, guesses at arguments, the user's own line, and addresses."""

from __future__ import annotations

import pytest

from gviz.app.components.addresses import Addresses, parse_query
from gviz.app.components.values import dimensions
from gviz.app.pages.measurements import measurement_name, measurement_text
from gviz.model.user_frame import own_frame
from gviz.recording import rows


def test_dimensions_end_without_ones() -> None:
    assert dimensions(16, 16, 1) == "16 × 16"
    assert dimensions(7, 1, 1) == "7"


@pytest.mark.parametrize(
    ("name", "value", "unit", "shown"),
    [
        ("cost_ns", 1530.0, "ns", "cost 1.53 µs"),
        ("records", 3.0, "number", "records 3"),
        ("ended_ns", 1.79e18, "ns", "ended 2026-09"),
        ("lost", None, "records", "lost not measured"),
        ("share_fraction", 0.5, "fraction", "share 50.0%"),
    ],
)
def test_measurement_reads_as_words(name: str, value: float | None, unit: str, shown: str) -> None:
    row = rows.Measurement(run_id=1, name=name, value=value, unit=unit, method="")
    assert f"{measurement_name(row)} {measurement_text(row)}".startswith(shown)


def test_own_frame_skips_libraries() -> None:
    files = ["<frozen runpy>", "/v/lib/python3.11/site-packages/torch/a.py", "/home/u/x.py"]
    stack = [
        rows.Location(location_id=i, file=f, line=1, function="f") for i, f in enumerate(files)
    ]
    assert own_frame(stack) == 2
    assert own_frame(stack[:2]) is None


def test_query_of_an_address_comes_back() -> None:
    href = Addresses("/p/").graph("a b&c", 3, [5, 6])
    path, search = href.split("?")
    query = parse_query("?" + search)
    assert path == "/p/graph"
    assert (query.file, query.graph_id, query.node_ids) == ("a b&c", 3, (5, 6))

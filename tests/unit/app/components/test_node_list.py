"""Selected nodes in an address, written and read as the pages do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import TESTS

from gviz.app.components.addresses import Addresses, parse_query
from gviz.app.components.node_list import MOST_CHARACTERS, parse_ids, write_ids

#: Of tests/web/core/node_list.test.js too.
CASES = json.loads((TESTS / "web/core/node_lists.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"] or "empty")
def test_list_is_read_and_written_as_the_pages_do(case: dict[str, Any]) -> None:
    assert parse_ids(case["text"]) == tuple(case["ids"])
    assert write_ids(case["ids"]) == (case.get("written", case["text"]), len(case["ids"]))


def test_list_is_as_long_as_an_address_may_be() -> None:
    even = range(1000, 3600, 2)
    text, kept = write_ids(even)
    assert kept == 1200
    assert len(text) == MOST_CHARACTERS - 1
    assert parse_ids(text) == tuple(even[:kept])


def test_run_is_kept_as_a_whole_or_not_at_all() -> None:
    odd = list(range(1001, 1001 + 2 * 1199, 2))
    assert write_ids([*odd, 5, 6, 7])[1] == 1202
    assert write_ids([*odd, 5000, 5001, 5002])[1] == 1199


def test_more_ids_than_a_selection_can_have_are_left_out() -> None:
    assert len(parse_ids("0-999999")) == 1_000_000
    assert parse_ids("0-999998,1-2,7")[-2:] == (999_998, 7)


def test_address_selects_what_it_was_made_for() -> None:
    wanted = (*range(10, 5000), 3)
    addresses = Addresses()
    for made in (addresses.graph("f", 1, wanted, ["n7", "n9"]), addresses.ranks("f", 1, 2, wanted)):
        assert "node=10-4999,3" in made
        assert parse_query(made.partition("?")[2]).node_ids == wanted

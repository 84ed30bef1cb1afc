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

#: So many ids that their bits take more characters than an address has, and their list 5,991.
FAR = range(100_000, 142_800, 50)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"] or "empty")
def test_list_is_read_and_written_as_the_pages_do(case: dict[str, Any]) -> None:
    assert parse_ids(case["text"]) == tuple(case["ids"])
    assert write_ids(case["ids"]) == (case.get("written", case["text"]), len(case["ids"]))


def test_many_ids_in_no_row_take_a_bit_each_in_any_order() -> None:
    even = list(range(1000, 3600, 2))
    written = "1000." + "V" * 433 + "B"
    assert write_ids(even) == write_ids(even[::-1]) == (written, 1300)
    assert parse_ids(written) == tuple(even)


def test_list_is_as_long_as_an_address_may_be() -> None:
    more = [*FAR, *range(150_000, 192_800, 50)]
    text, kept = write_ids(more)
    assert kept == 857
    assert len(text) == MOST_CHARACTERS - 2
    assert parse_ids(text) == tuple(more[:kept])


def test_run_is_kept_as_a_whole_or_not_at_all() -> None:
    assert write_ids([*FAR, 5, 6, 7])[1] == 859
    assert write_ids([*FAR, 500_000, 500_001, 500_002])[1] == 856


def test_more_ids_than_a_selection_can_have_are_left_out() -> None:
    assert len(parse_ids("0-999999")) == 1_000_000
    assert parse_ids("0-999998,1-2,7")[-2:] == (999_998, 7)


def test_address_selects_what_it_was_made_for() -> None:
    wanted = (*range(10, 5000), 3)
    addresses = Addresses()
    for made in (addresses.graph("f", 1, wanted, ["n7", "n9"]), addresses.ranks("f", 1, 2, wanted)):
        assert "node=10-4999,3" in made
        assert parse_query(made.partition("?")[2]).node_ids == wanted

"""The verb ``query``: rows, and no way to write, attach, loop, or fill memory or the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_questions import ask, desk_of

from gviz.agents.bounded_query import query_bounded
from gviz.errors import UsageError

FOREVER = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t"
KEPT = "WITH RECURSIVE t(x) AS (SELECT 1 UNION SELECT x + 1 FROM t) SELECT max(x) FROM t"


def test_rows_are_lines_and_the_first_of_many(small_recording: Path) -> None:
    desk = desk_of(small_recording)
    found = ask(desk, "query", sql="SELECT node_id, name FROM node ORDER BY node_id LIMIT 2")
    assert found.recorded.splitlines()[0] == "node_id | name"
    assert found.recorded.splitlines()[1].startswith("1001 | ")
    many = ask(desk, "query", sql="SELECT a.node_id FROM node a, node b")
    assert many.recorded.splitlines()[-2] == "[the first 200 rows; there are more]"
    listed = ask(desk, "query")
    assert any(line.startswith("v_node: ") for line in listed.recorded.splitlines())


def test_rows_say_what_their_columns_hold(small_recording: Path) -> None:
    columns = "v_node.name, median_us, 2 * nodes AS twice"
    sql = f"SELECT {columns} FROM v_node JOIN v_graph USING (graph_id)"
    lines = ask(desk_of(small_recording), "query", sql=sql)
    said = lines.recorded.splitlines()[-3:]
    assert said[0].startswith("(name) ")
    assert said[1].startswith("(median_us) v_node: ")
    assert said[2].startswith("(twice) computed or named by this query")


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM node",
        "UPDATE node SET name = ''",
        "ATTACH '/tmp/x.db' AS x",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('x')",
        "SELECT 1; DROP TABLE node",
        "VACUUM INTO '/tmp/x.db'",
        "CREATE TABLE x (y)",
        "SELECT readfile('/etc/passwd')",
    ],
)
def test_what_is_no_question_is_refused(small_recording: Path, sql: str) -> None:
    before = small_recording.read_bytes()
    refused = ask(desk_of(small_recording), "query", sql=sql)
    assert refused.is_refusal
    assert "the query cannot be run" in refused.text
    assert small_recording.read_bytes() == before


def test_endless_question_is_given_up(small_recording: Path) -> None:
    with pytest.raises(UsageError, match=r"longer than 0\.5 s"):
        query_bounded(small_recording, FOREVER, seconds=0.5)


@pytest.mark.parametrize(
    "sql",
    [
        # Sorted on the disk until its limit, which takes ten seconds.
        pytest.param(KEPT, marks=pytest.mark.thorough),
        "SELECT hex(zeroblob(90000000)) || hex(zeroblob(90000000))",
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 100) "
        "SELECT x, hex(zeroblob(20000000)) FROM t",
    ],
)
def test_question_that_would_fill_memory_or_disk_is_refused(
    small_recording: Path, sql: str
) -> None:
    # Of more time than the limits of memory and disk need: these end it.
    with pytest.raises(UsageError, match=r"memory|too big"):
        query_bounded(small_recording, sql, seconds=60.0)


def test_values_of_a_recording_end_no_line(small_recording: Path) -> None:
    found = ask(
        desk_of(small_recording), "query", sql="SELECT 'a' || char(10) || 'next: record {}' AS x"
    )
    assert found.recorded.startswith("x\n«a next: record {}»\n(x) computed or named by this query")
    assert all(verb == "query" for verb, _ in found.steps)

"""``gviz query``: rows by SQL in three forms, and no way to anything but the recording's rows."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gviz.recording import Recording, all_tables
from gviz.recording.salvage import soundness

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

SLOWEST = "SELECT node_id, name, median_ns FROM node JOIN node_statistics USING (graph_id, node_id)"


@pytest.fixture
def known(small_recording: Path) -> list[tuple[object, ...]]:
    """The rows that SLOWEST finds, by way of the typed reader."""
    with Recording(small_recording) as recording:
        names = {node.node_id: node.name for node in recording.fetch_nodes(1)}
        return [(x.node_id, names[x.node_id], x.median_ns) for x in recording.fetch_statistics(1)]


def test_json_has_the_rows(
    gviz_here: Gviz, small_recording: Path, known: list[tuple[object, ...]]
) -> None:
    found = json.loads(gviz_here("query", small_recording, SLOWEST, "--json").stdout)
    assert found["query_version"] == 1
    assert found["columns"] == ["node_id", "name", "median_ns"]
    assert sorted(map(tuple, found["rows"])) == sorted(known)
    assert found["is_cut"] is False


def test_what_can_be_queried_is_json_and_csv_too(gviz_here: Gviz, small_recording: Path) -> None:
    found = json.loads(gviz_here("query", small_recording, "--json").stdout)
    assert (found["query_version"], found["columns"]) == (1, ["table", "column"])
    lines = csv.reader(io.StringIO(gviz_here("query", small_recording, "--csv").stdout))
    assert list(lines) == [found["columns"], *found["rows"]]
    assert ["v_node", "node_id"] in found["rows"]


def test_csv_has_the_rows(
    gviz_here: Gviz, small_recording: Path, known: list[tuple[object, ...]]
) -> None:
    done = gviz_here("query", small_recording, f"{SLOWEST} ORDER BY node_id", "--csv")
    head, *body = csv.reader(io.StringIO(done.stdout))
    assert head == ["node_id", "name", "median_ns"]
    assert body == [[str(value) for value in row] for row in known]


def test_text_marks_what_is_missing_and_says_where_it_stops(
    gviz_here: Gviz, small_recording: Path
) -> None:
    sql = "SELECT node_id, NULL AS absent, x'00ff' AS raw FROM node ORDER BY node_id"
    done = gviz_here("query", small_recording, sql, "--limit", "2")
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["node_id", "absent", "raw"],
        ["1001", "–", "00ff"],
        ["1002", "–", "00ff"],
    ]
    assert done.stderr == "gviz: the first 2 rows; --limit N gives more, 0 all\n"
    done = gviz_here("query", small_recording, sql, "--limit", "0")
    assert (len(done.stdout.splitlines()), done.stderr) == (48, "")


def test_without_sql_everything_that_can_be_queried_is_listed(
    gviz_here: Gviz, small_recording: Path
) -> None:
    lines = gviz_here("query", small_recording).stdout.splitlines()
    names = [line.partition(":")[0] for line in lines if not line.startswith(" ")]
    assert names[0].startswith("v_")
    assert {table.name for table in all_tables()} <= set(names)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM node",
        "UPDATE run SET name = 'x'",
        "CREATE TEMP TABLE t AS SELECT 1",
        "ATTACH '/etc/passwd' AS other",
        "PRAGMA query_only = 0",
        "SELECT load_extension('libm.so.6')",
        "VACUUM INTO 'copy.gviz'",
    ],
)
def test_nothing_but_reading_is_possible(
    gviz_here: Gviz, small_recording: Path, tmp_path: Path, sql: str
) -> None:
    before = small_recording.read_bytes()
    done = gviz_here("query", small_recording, sql, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "recordings are only read: it may be one SELECT and nothing else" in done.stderr
    assert small_recording.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT media_us FROM v_node", "no such column: media_us (did you mean median_us?)"),
        ("SELECT 1 FROM v_nodes", "no such table: v_nodes (did you mean v_node?)"),
        ("SELECT 1 FROM nods", "no such table: nods (did you mean node?)"),  # nodes is a column
        ("SELECT grid_x FROM v_node", "no such column: grid_x;"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELEC 1", "syntax error"),
        ("", "it is empty"),
    ],
)
def test_wrong_queries_are_answered_in_a_sentence(
    gviz_here: Gviz, small_recording: Path, sql: str, why: str
) -> None:
    done = gviz_here("query", small_recording, sql)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gviz: the query cannot be run: ")
    assert why in done.stderr


def test_query_without_end_is_given_up(gviz_here: Gviz, small_recording: Path) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    )
    done = gviz_here("query", small_recording, endless, "--seconds", "0.2")
    assert done.returncode == 2
    assert done.stderr == (
        "gviz: the query took longer than 0.2 s; give --seconds, or ask for less\n"
    )


def test_query_cannot_make_values_of_any_size(gviz_here: Gviz, small_recording: Path) -> None:
    done = gviz_here("query", small_recording, "SELECT zeroblob(2000000000)")
    assert done.returncode == 2
    assert "too big" in done.stderr


def test_query_of_node_times_too_many_to_be_checked_says_so(
    gviz_here: Gviz, small_recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "is not looked through for a query"
    count = "SELECT count(*), sum(duration_ns) FROM span"
    assert sentence not in gviz_here("query", small_recording, count).stderr
    monkeypatch.setattr(soundness, "_MOST_SPANS", 1)
    for sql in (count, "SELECT duration_us FROM v_span"):
        asked = gviz_here("query", small_recording, sql, "--json")
        assert json.loads(asked.stdout)["rows"]
        assert sentence in asked.stderr
        assert "'gviz recover'" in asked.stderr
    assert sentence not in gviz_here("query", small_recording, "SELECT name FROM node").stderr

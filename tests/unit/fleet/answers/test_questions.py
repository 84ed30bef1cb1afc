"""Questions to a data set: what the views say of planted ranks, and what no query may do."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fleets import mapper_here, needs_fleet
from rank_recordings import Planted, write_ranks
from recordings import Shape, Work, write_recording

from gviz.errors import RecordingError, UsageError
from gviz.fleet import ask, build_fleet, find_sources, fleet_columns
from gviz.fleet.answers import questions

pytestmark = [needs_fleet, pytest.mark.thorough]

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Five ranks: the second is slow in its first kernel, the last one launches another graph."""
    folder = tmp_path_factory.mktemp("ranks")
    plans = [Planted(), Planted(slow=((0, 5_000), (2, -4_000))), *[Planted()] * 3]
    paths = write_ranks(folder, plans, launches=8)
    other = Shape("step", (Work("gemm_kernel", 20_000), Work("other_kernel", 9_000, (0,))))
    moved = folder / "moved"
    moved.mkdir()
    write_recording(moved / "x.gviz", other, launches=8, eager=False)
    _take_identity(paths[4], moved / "x.gviz")
    shutil.move(moved / "x.gviz", paths[4])
    target = tmp_path_factory.mktemp("fleet") / "job"
    build_fleet(find_sources([str(folder)]), str(target), mapper_here)
    return str(target)


def _take_identity(of: Path, path: Path) -> None:
    import sqlite3

    columns = "rank, host, process_id, started_ns, name"
    with sqlite3.connect(of) as database:
        found = database.execute(f"SELECT {columns} FROM run").fetchone()
    database.close()
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE run SET ({columns}) = (?, ?, ?, ?, ?)", found)
    database.close()


def rows(fleet: str, sql: str) -> list[dict[str, Any]]:
    found = ask(fleet, sql, most_rows=None, seconds=60)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_slowest_ranks_begin_with_the_slow_one(fleet: str) -> None:
    usual = "(SELECT graph_key FROM graphs ORDER BY node_count DESC LIMIT 1)"
    first, *others = rows(fleet, f"SELECT * FROM slowest_ranks WHERE graph_key = {usual}")
    assert first["rank"] == 1
    assert 4_000 < first["excess_ns"] < 6_000
    assert first["deviations"] > 5
    assert all(abs(other["excess_fraction"]) < 0.03 for other in others)


def test_waits_are_for_the_rank_that_takes_least(fleet: str) -> None:
    first = rows(fleet, "SELECT * FROM waits_for")[0]
    assert (first["rank"], first["last_fraction"]) == (1, 1.0)
    assert first["execution_count"] == 8
    assert 3_000 < first["mean_wait_ns"] < 4_500
    assert first["longest_waiting_rank"] in (0, 2, 3)


def test_a_rank_that_launches_another_graph_diverges(fleet: str) -> None:
    (found,) = rows(fleet, "SELECT * FROM divergent_graphs")
    assert (found["rank"], found["differs"]) == (4, "graphs")
    (missing,), (added,) = found["missing"], found["added"]
    assert missing != added
    assert missing.startswith("step ")
    assert added.startswith("step ")


def test_spread_begins_with_the_node_that_is_slow_somewhere(fleet: str) -> None:
    first = rows(fleet, "SELECT * FROM node_spread")[0]
    assert (first["name"], first["slowest_rank"], first["rank_count"]) == ("gemm_kernel", 1, 4)


def test_views_have_the_columns_that_are_listed(fleet: str) -> None:
    for name, columns in fleet_columns().items():
        assert ask(fleet, f"SELECT * FROM {name}", most_rows=1, seconds=60).columns == columns


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_parquet('{fleet}/ranks/*.parquet')",
        "SELECT * FROM read_csv_auto('{file}')",
        "SELECT getenv('HOME')",
        "SELECT * FROM paths",
        "COPY (SELECT 1) TO '{file}.csv'",
        "COPY ranks TO '{fleet}/ranks/more.parquet'",
        "ATTACH '{file}.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit = '100GB'",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "CREATE TABLE x AS SELECT 1",
        "CREATE OR REPLACE TEMP VIEW ranks AS SELECT 1",
        "DELETE FROM ranks",
        "DROP VIEW slowest_ranks",
        "EXPORT DATABASE '{file}.d'",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "CHECKPOINT",
        "SELECT 1; DROP VIEW slowest_ranks",
        "SELECT * FROM query('COPY (SELECT 1) TO ''{file}.csv''')",
        "",
        "SELECT",
        "SELECT nothing FROM ranks",
    ],
)
def test_no_query_leaves_the_data_set_or_changes_it(fleet: str, tmp_path: Path, sql: str) -> None:
    file = tmp_path / "secret"
    file.write_text("x")
    paths = str(file)  # what a scan of Python's variables would find
    before = {path: path.stat().st_mtime_ns for path in Path(fleet).rglob("*")}
    with pytest.raises(UsageError, match=r"^the question cannot be answered: .*; without SQL"):
        ask(fleet, sql.format(file=paths, fleet=fleet), most_rows=10, seconds=60)
    assert os.listdir(tmp_path) == ["secret"]
    assert {path: path.stat().st_mtime_ns for path in Path(fleet).rglob("*")} == before


def test_queries_have_limits_of_time_rows_and_memory(
    fleet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"took longer than 0.1 s; give --seconds"):
        ask(fleet, "SELECT count(*) FROM range(1000000000000)", most_rows=1, seconds=0.1)
    cut = ask(fleet, "SELECT * FROM range(10)", most_rows=3, seconds=60)
    assert (len(cut.rows), cut.is_cut) == (3, True)
    monkeypatch.setitem(questions._SETTINGS, "memory_limit", "40MB")
    huge = "SELECT len(list(repeat(range::VARCHAR, 99))) FROM range(3000000)"
    with pytest.raises(UsageError, match=r"(?i)memory"):
        ask(fleet, huge, most_rows=1, seconds=60)


def test_what_is_no_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="is no data set of a fleet; 'gviz fleet build"):
        ask(str(tmp_path), "SELECT 1", most_rows=1, seconds=1)


def test_the_command_prints_tables_json_and_csv(fleet: str, gviz_here: Gviz) -> None:
    sql = "SELECT rank, host FROM ranks ORDER BY rank LIMIT 2"
    text = gviz_here("fleet", "query", fleet, sql)
    assert text.stdout.split() == ["rank", "host", "0", "node017", "1", "node017"]
    found = json.loads(gviz_here("fleet", "query", fleet, sql, "--json").stdout)
    assert next(iter(found.items())) == ("query_version", 1)
    assert found["rows"] == [[0, "node017"], [1, "node017"]]
    lines = list(csv.reader(io.StringIO(gviz_here("fleet", "query", fleet, sql, "--csv").stdout)))
    assert lines == [["rank", "host"], ["0", "node017"], ["1", "node017"]]
    listed = gviz_here("fleet", "query", fleet)
    assert "slowest_ranks: rank, host" in listed.stdout
    wrong = gviz_here("fleet", "query", fleet, "SELECT 1 FROM rankz")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert 'Did you mean "ranks"?' in wrong.stderr

"""The verbs of a fleet: its report, rows of it, and nothing else of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_questions import ask, desk_of
from fleets import mapper_here, needs_fleet
from rank_recordings import Planted, write_ranks

from gviz.agents import Allowed, Desk
from gviz.cli.command_line import main
from gviz.fleet import build_fleet, find_sources

pytestmark = [needs_fleet, pytest.mark.thorough]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Four ranks, of which the second is slow in its first kernel."""
    folder = tmp_path_factory.mktemp("ranks")
    write_ranks(folder, [Planted(), Planted(slow=((0, 9_000),)), *[Planted()] * 2], launches=8)
    target = str(tmp_path_factory.mktemp("fleet") / "job")
    build_fleet(find_sources([str(folder)]), target, mapper_here)
    return desk_of(allowed=Allowed(fleet=target))


def test_overview_leads_to_the_slow_rank_of_the_fleet(desk: Desk) -> None:
    assert ask(desk, "overview").steps == [("fleet", {})]
    report = ask(desk, "fleet")
    assert "4 ranks on 1 machine" in report.recorded
    assert "slower than the others: first rank 1" in report.recorded
    verb, arguments = report.steps[0]
    rows = ask(desk, verb, **arguments).recorded.splitlines()
    assert rows[0] == "rank | host | graph_key | excess_fraction"
    assert rows[1].startswith("1 | ")
    assert any(row.startswith("(slowest_ranks) a row is the work of a rank") for row in rows)
    assert rows[-1].startswith("(excess_fraction) slowest_ranks: derived: ")


@pytest.mark.parametrize("where", ["", ".."])
def test_fleet_is_found_among_folders(
    desk: Desk, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Desk] = []
    monkeypatch.setattr("gviz.agents.serve_stdio", lambda found: served.append(found) or 0)
    fleet = ask(desk, "fleet").recorded
    (target,) = (verb.answer.args[0] for verb in desk.verbs.values() if verb.name == "fleet")  # type: ignore[attr-defined]
    assert main(["mcp", str(Path(target, where))]) == 0
    assert ask(served[0], "fleet").recorded == fleet
    assert main(["mcp", str(tmp_path)]) == 0
    assert "fleet" not in served[1].verbs


def test_questions_are_bounded(desk: Desk, tmp_path: Path) -> None:
    assert "slowest_ranks: " in ask(desk, "fleet_query").recorded
    for sql in ("DROP VIEW slowest_ranks", "SELECT * FROM read_text('/etc/passwd')",
                f"COPY (SELECT 1) TO '{tmp_path}/x.csv'", "SELECT nothing FROM ranks"):  # fmt: skip
        assert ask(desk, "fleet_query", sql=sql).is_refusal, sql
    assert not (tmp_path / "x.csv").exists()
    refused = ask(desk, "fleet_query", sql="x" * 10_000_000)
    assert (refused.is_refusal, len(refused.text) < 1_200) == (True, True)
    many = ask(desk, "fleet_query", sql="SELECT range AS x FROM range(1000)")
    *_, cut, meaning = many.recorded.splitlines()
    assert cut == "[the first 200 rows; there are more]"
    assert meaning.startswith("(x) computed or named by this query")


def test_verbs_are_there_only_with_a_fleet(
    small_recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no such verb" in ask(desk_of(small_recording), "fleet_query").text
    assert main(["mcp", "--fleet", str(tmp_path)]) == 1
    assert "is no data set of a fleet" in capsys.readouterr().err

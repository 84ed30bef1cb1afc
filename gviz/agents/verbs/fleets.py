"""``fleet`` and ``fleet_query``: a data set of the recordings of many ranks."""

from __future__ import annotations

from functools import partial

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.bounded_query import MOST_ROWS, SECONDS, BoundedRows, cell_text
from gviz.agents.question import Question
from gviz.agents.verb import Parameter, Verb
from gviz.agents.verbs.rows import column_lines, meaning_lines, row_lines
from gviz.fleet import ask, column_meanings, fleet_columns, named_meanings, read_report
from gviz.report import based_document, fleet_document
from gviz.stats import CuptiState, Evidence

_SLOWEST = "SELECT rank, host, graph_key, excess_fraction FROM slowest_ranks LIMIT 10"

_COLUMNS = NextStep("fleet_query", "the tables and views with their columns")
_N = "(n: ranks that were compared; the time of each is a median of its launches)"


def fleet_verbs(url: str) -> tuple[Verb, ...]:
    """Return the verbs of a data set, a folder or an address."""
    return (
        Verb(
            "fleet",
            "Which ranks of the fleet are slow, in which layer, whom the others wait for, which "
            "launch other graphs, and how far clocks are apart.",
            (),
            partial(_report, url),
        ),
        Verb(
            "fleet_query",
            "Rows of the fleet by DuckDB's SQL: one SELECT on its views and tables. Without sql: "
            "what there is, with columns. Below stands what a row is and a column holds; figures "
            "of fleet have n.",
            (Parameter("sql", "string", "one SELECT"),),
            partial(_query, url),
            instead=_COLUMNS,
        ),
    )


def _report(url: str, question: Question) -> VerbAnswer:
    steps = (
        NextStep("fleet_query", "the slowest ranks as rows", {"sql": _SLOWEST}),
        _COLUMNS,
    )
    report = read_report(url)
    evidence = Evidence("derived", report.compared_count, state=CuptiState.RECORDED)
    document = based_document(fleet_document(report), evidence)
    return VerbAnswer((document,), [_N], question.steps_of(*steps))


def _query(url: str, question: Question) -> VerbAnswer:
    sql = question.text("sql")
    if sql is None:
        return VerbAnswer(rows=column_lines(fleet_columns()))
    found = ask(url, sql, most_rows=MOST_ROWS, seconds=SECONDS)
    steps = question.steps_of(NextStep("fleet", "who is slow, with how that is known"))
    rows = [list(map(cell_text, row)) for row in found.rows]
    shown = BoundedRows(found.columns, rows, found.is_cut)
    lines = [f"({name}) a row is {meaning}" for name, meaning in named_meanings(sql).items()]
    lines += meaning_lines(found.columns, column_meanings(sql, found.columns))
    return VerbAnswer(rows=[*row_lines(shown), *lines], steps=steps)

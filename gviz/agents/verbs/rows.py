"""``query``: rows of a recording by SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.bounded_query import MOST_ROWS, BoundedRows, query_bounded
from gviz.agents.question import Question
from gviz.agents.verb import Parameter, Verb
from gviz.agents.verbs.parameters import RECORDING
from gviz.recording import queried_columns
from gviz.text import inert

#: A row's characters.
_ROW = 600


def _query(question: Question) -> VerbAnswer:
    sql = question.text("sql")
    _, path = question.file()
    if sql is None:
        return VerbAnswer(rows=column_lines(queried_columns()))
    found = query_bounded(path, sql)
    steps = [NextStep("query", "the tables and views with their columns")]
    return VerbAnswer(rows=row_lines(found), steps=question.steps(*steps))


def column_lines(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what can be queried as lines."""
    return [f"{name}: {', '.join(names)}" for name, names in columns.items()]


def row_lines(found: BoundedRows) -> list[str]:
    """Return rows that a query found as lines, the columns' names first."""
    lines = [inert(" | ".join(row), _ROW) for row in [found.columns, *found.rows]]
    if found.is_cut:
        lines.append(f"[the first {MOST_ROWS} rows; there are more]")
    return lines


QUERY = Verb(
    "query",
    "Rows of a recording by SQLite's SQL, for what no other verb answers: one SELECT on its views "
    "(v_node and others) and tables. Without sql: what there is, with columns. Values are as they "
    "were recorded, without how or caveat: prefer the other verbs.",
    (RECORDING, Parameter("sql", "string", "one SELECT")),
    _query,
)

"""``query``: rows of a recording by SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gviz.agents.answer import NextStep, VerbAnswer
from gviz.agents.bounded_query import MOST_ROWS, BoundedRows, query_bounded
from gviz.agents.question import Question
from gviz.agents.verb import Parameter, Verb
from gviz.agents.verbs.parameters import RECORDING
from gviz.recording import column_meanings, queried_columns
from gviz.text import inert

#: A row's characters.
_ROW = 600
_COLUMNS = NextStep("query", "the tables and views with their columns")


def _query(question: Question) -> VerbAnswer:
    sql = question.text("sql")
    _, path = question.file()
    if sql is None:
        return VerbAnswer(rows=column_lines(queried_columns()))
    found = query_bounded(path, sql)
    lines = [*row_lines(found), *meaning_lines(found.columns, column_meanings(sql, found.columns))]
    return VerbAnswer(rows=lines, steps=question.steps(_COLUMNS))


def meaning_lines(columns: Sequence[str], meanings: Mapping[str, str]) -> Iterator[str]:
    """Yield what each column of rows holds and how that was got, as far as the schema says it."""
    for name in dict.fromkeys(columns):
        meaning = meanings.get(name, "computed or named by this query, without interval or caveat")
        yield inert(f"({name}) {meaning}", _ROW)


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
    "were recorded; below stands what each column holds. Figures of other verbs have n, interval "
    "and caveat: prefer them.",
    (RECORDING, Parameter("sql", "string", "one SELECT")),
    _query,
    instead=_COLUMNS,
)

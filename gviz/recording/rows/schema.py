"""The schema of a recording: all tables and views of its SQLite file."""

from __future__ import annotations

from functools import cache

from gviz.recording.rows import (
    black_box,
    gpu_states,
    launch_costs,
    life,
    long_run,
    nesting,
    parameters,
    recorded,
    trials,
    values,
)
from gviz.recording.rows.tables import Table, tables_in
from gviz.recording.rows.views import VIEWS


@cache
def all_tables() -> tuple[Table, ...]:
    """Return every table, in the order of definition."""
    modules = (
        *(recorded, life, long_run, nesting),
        *(launch_costs, trials, black_box, values, parameters, gpu_states),
    )
    return tuple(table for module in modules for table in tables_in(module.__name__))


def create_sql() -> str:
    """Return the statements that create every table and view of the current version."""
    tables = [table.create_sql() for table in all_tables()]
    return "\n".join([*tables, *(view.create_sql() for view in VIEWS)])


def to_markdown() -> str:
    """Return docs/recording.md's views and tables: every column with its meaning."""
    parts = ["# Views\n", "Times with `_us` are in microseconds; NULL is not measured.\n"]
    for view in VIEWS:
        parts.append(f"## {view.name}\n\n{view.doc}\n")
        parts.append("| column | meaning |\n| --- | --- |")
        parts += [f"| {name} | {meaning} |" for name, meaning in view.columns]
        parts.append("")
    parts.append("# Tables\n")
    for table in all_tables():
        key = ", ".join(table.primary_key)
        parts.append(f"## {table.name}\n\n{table.doc} Primary key: {key}.\n")
        parts.append("| column | type | meaning |\n| --- | --- | --- |")
        for c in table.columns:
            null = ", may be NULL" if c.nullable else ""
            parts.append(f"| {c.name} | {c.sql_type}{null} | {c.doc} |")
        parts.append("")
    return "\n".join(parts)

"""The schema of a recording: SQLite file, application id and version."""

from __future__ import annotations

from gviz.recording.rows import launch_costs, life, long_run, nesting, recorded
from gviz.recording.rows.tables import all_tables
from gviz.recording.rows.views import VIEWS

#: PRAGMA application_id: the letters "gviz" in ASCII, big endian.
APPLICATION_ID = 0x6776697A
#: PRAGMA user_version. Raise it with every change of a table and add an upgrade.
SCHEMA_VERSION = 6
#: The oldest schema whose rows are today's, but for tables and columns that have defaults.
OLDEST_ALIKE = 4
#: File suffix.
SUFFIX = ".gviz"

# Importing the rows registers the tables.
assert recorded.Run is not None and life.GraphUpdate is not None  # noqa: PT018
assert nesting.Allocation is not None and long_run.LaunchBin is not None  # noqa: PT018
assert launch_costs.CostFigure is not None


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

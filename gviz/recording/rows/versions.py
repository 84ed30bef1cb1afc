"""Marks of a recording's file: application id, version of its schema, suffix."""

from __future__ import annotations

#: PRAGMA application_id: the letters "gviz" in ASCII, big endian.
APPLICATION_ID = 0x6776697A
#: PRAGMA user_version. Raise it with every change of a table and add an upgrade.
SCHEMA_VERSION = 10
#: The oldest schema whose rows are today's, but for tables and columns that have defaults.
OLDEST_ALIKE = 4
#: File suffix.
SUFFIX = ".gviz"

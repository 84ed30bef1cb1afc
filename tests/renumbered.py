"""The same recording with other numbers for its graphs."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from gviz.recording.reader import Recording
from gviz.recording.rows.tables import all_tables

#: Numbers that stand for nothing else, all as long as each other: columns of texts stay as wide.
_FIRST, _LAST = 81_001, 81_999
_NUMBER = re.compile(r"(?<!\d)81\d{3}(?!\d)")


def new_numbers(path: Path, seed: int | None = None) -> dict[int, int]:
    """Return a new number for each graph of a recording, by the old one; by chance or in order.

    Bodies get any number, also one below that of the graph they are in. Graphs that are launched
    keep their order, in which outputs list them.
    """
    with Recording(path) as recording:
        graphs = recording.fetch_graphs()
    ids = [graph.graph_id for graph in graphs]
    if seed is None:
        return dict(zip(ids, range(_FIRST, _LAST), strict=False))
    drawn = random.Random(seed).sample(range(_FIRST, _LAST), len(ids))
    outer = [g.graph_id for g in graphs if g.parent_graph_id is None]
    bodies = [g.graph_id for g in graphs if g.parent_graph_id is not None]
    return dict(zip(outer, sorted(drawn[: len(outer)]), strict=True)) | dict(
        zip(bodies, drawn[len(outer) :], strict=True)
    )


def with_old_numbers(text: str, numbers: Mapping[int, int]) -> str:
    """Return what was said of a renumbered recording, with the numbers of before in braces."""
    old = {str(new): f"{{{number}}}" for number, new in numbers.items()}
    return _NUMBER.sub(lambda match: old.get(match[0], match[0]), text)


def renumber(path: Path, target: Path, numbers: Mapping[int, int]) -> Path:
    """Write a recording with other numbers of graphs, in every column that has them."""
    shutil.copyfile(path, target)
    with closing(sqlite3.connect(target)) as database, database:
        database.execute("CREATE TEMP TABLE new_number (old INTEGER PRIMARY KEY, new INTEGER)")
        database.executemany("INSERT INTO new_number VALUES (?, ?)", numbers.items())
        for table in all_tables():
            for column in (c.name for c in table.columns if c.key == "graph"):
                # First out of the way of each other: a number may be another graph's old one.
                database.execute(
                    f"UPDATE {table.name} SET {column} = "
                    f"-(SELECT new FROM new_number WHERE old = {column}) "
                    f"WHERE {column} IS NOT NULL"
                )
                database.execute(f"UPDATE {table.name} SET {column} = -{column} WHERE {column} < 0")
    return target

"""The same recording with other numbers for its graphs."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from gviz.recording.reader import Recording
from gviz.recording.rows.tables import all_tables


def random_numbers(path: Path, seed: int) -> dict[int, int]:
    """Return a new number for each graph of a recording, by the old one.

    Bodies get any number, also one below that of the graph they are in. Graphs that are launched
    keep their order, in which outputs list them.
    """
    with Recording(path) as recording:
        graphs = recording.fetch_graphs()
    drawn = random.Random(seed).sample(range(1, 4 * len(graphs) + 10), len(graphs))
    outer = [g.graph_id for g in graphs if g.parent_graph_id is None]
    bodies = [g.graph_id for g in graphs if g.parent_graph_id is not None]
    return dict(zip(outer, sorted(drawn[: len(outer)]), strict=True)) | dict(
        zip(bodies, drawn[len(outer) :], strict=True)
    )


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

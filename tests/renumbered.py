"""The same recording with other numbers for its graphs, or for its nodes."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables

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
    """Return the text about a renumbered recording, with the numbers of before in braces."""
    old = {str(new): f"{{{number}}}" for number, new in numbers.items()}
    return _NUMBER.sub(lambda match: old.get(match[0], match[0]), text)


#: Numbers of nodes are 71 and seven digits; pages number nested nodes on from the root's last.
_FIRST_NODE, _NODE_STEP, _NODE_SPREAD = 710_000_000, 1_000, 400
_NODE = re.compile(r"(?<!\d)71\d{7}(?!\d)")
_NODE_COLUMNS = (
    "node_id", "from_node", "to_node", "parent_node_id", "free_node_id", "failing_node_id",
)  # fmt: skip


def new_node_ids(seed: int | None = None, count: int = 9_900) -> list[int]:
    """Return a new node id for each old one: in the same order, as far apart as chance has it.

    The order stays: it is that of creation. Two topologies may have the same ids, so there is one
    new id for an old one in all graphs.
    """
    spread = random.Random(seed)
    return [
        _FIRST_NODE + _NODE_STEP * old + (0 if seed is None else spread.randrange(_NODE_SPREAD))
        for old in range(count)
    ]


def with_old_node_ids(text: str, ids: Sequence[int]) -> str:
    """Return the text about a renumbered recording, with the node ids of before in braces.

    A nested node has the number of a page that follows the root's: after the old id its distance.
    """

    def old(match: re.Match[str]) -> str:
        number = int(match[0])
        at = (number - _FIRST_NODE) // _NODE_STEP
        distance = number - ids[at]
        return f"{{node {at}{f'+{distance}' if distance else ''}}}"

    return _NODE.sub(old, text)


def renumber_nodes(path: Path, target: Path, ids: Sequence[int]) -> Path:
    """Write a recording with other node ids, in every column that has them but CUDA's own."""
    shutil.copyfile(path, target)
    with closing(sqlite3.connect(target)) as database, database:
        database.execute("CREATE TEMP TABLE new_id (old INTEGER PRIMARY KEY, new INTEGER)")
        database.executemany("INSERT INTO new_id VALUES (?, ?)", enumerate(ids))
        for table in all_tables():
            for column in (c.name for c in table.columns if c.name in _NODE_COLUMNS):
                database.execute(
                    f"UPDATE {table.name} SET {column} = (SELECT new FROM new_id "
                    f"WHERE old = {column}) WHERE {column} IS NOT NULL AND {column} >= 0"
                )
    return target


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

"""Losses: what of a damaged file could not be read, counted and in words."""

from __future__ import annotations

from collections.abc import Mapping

from gviz.text import counted

#: The kind of a note about what could not be read.
DAMAGE = "damage"
#: Nouns of tables' rows, where the table's name is not the noun.
_NOUNS = {
    "span": "node time", "kernel_function": "kernel", "graph_exec": "executable",
    "node_statistics": "summary of a node", "nvtx_path": "NVTX path", "nvtx_range": "NVTX range",
    "api_call": "driver call", "stack": "frame", "location": "source line",
    "launch_cost": "cost of launches", "graph_memory": "sample of graph memory",
}  # fmt: skip
_PLURALS = {
    "summary of a node": "summaries of nodes", "cost of launches": "costs of launches",
    "sample of graph memory": "samples of graph memory",
}  # fmt: skip


def noun_of(table: str) -> str:
    """Return the noun of the rows of a table."""
    return _NOUNS.get(table, table.replace("_", " "))


def unreadable_sentence(what: str, unreadable: Mapping[str, int]) -> str:
    """Return what of a file could not be read: "the file was damaged: 1 launch unreadable".

    Parameters
    ----------
    what
        The file, such as "the spool".
    unreadable
        How many of what noun.
    """
    if not unreadable:
        return f"{what} was damaged, and all of it could be read"
    parts = [counted(count, noun, _plural(noun)) for noun, count in sorted(unreadable.items())]
    listed = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return f"{what} was damaged: {listed} unreadable, left out"


def _plural(noun: str) -> str:
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"

"""The content of a run without our ids: equal for runs that differ in numbering only."""

from __future__ import annotations

from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables
from gviz.recording.rows.tables import Column, Table


def normal_run(recording: Recording, run_id: int) -> dict[str, list[object]]:
    """Return every row of a run, by table; ids of ours are replaced by what they stand for.

    An id becomes its place among the ids of its table that the run has or refers to, in
    ascending order: merging keeps the order. Topologies, which runs share, are left without a
    number of their own: their rows and their edges stand at the graph that has them.
    """
    content = _rows_of_run(recording, run_id)
    places = _places(content)
    normal: dict[str, list[object]] = {}
    for table in all_tables():
        found = [_normal(table, row, places) for row in content[table.name]]
        if table.name in ("topology", "edge"):
            found = []
        if table.name == "graph":
            found = [(*new, _shape(content, row)) for new, row in _pairs(found, content["graph"])]
        normal[table.name] = sorted(found, key=repr)
    return normal


def _pairs(
    new: list[tuple[object, ...]], rows: list[dict[str, object]]
) -> list[tuple[tuple[object, ...], dict[str, object]]]:
    return list(zip(new, rows, strict=True))


def _shape(content: dict[str, list[dict[str, object]]], graph: dict[str, object]) -> object:
    """Return the topology and the edges of a graph, without the topology's number."""
    return [
        [tuple(v for k, v in row.items() if k != "topology_id") for row in content[name]
         if row["topology_id"] == graph["topology_id"]]
        for name in ("topology", "edge")
    ]  # fmt: skip


def _normal(
    table: Table, row: dict[str, object], places: dict[str, dict[object, int]]
) -> tuple[object, ...]:
    return tuple(_normal_value(column, row[column.name], places) for column in table.columns)


def _normal_value(column: Column, value: object, places: dict[str, dict[object, int]]) -> object:
    if column.key is None or value is None:
        return value
    return "a topology" if column.key == "topology" else places[column.key][value]


def _places(content: dict[str, list[dict[str, object]]]) -> dict[str, dict[object, int]]:
    ids: dict[str, set[object]] = {}
    for table in all_tables():
        for column in table.columns:
            if column.key is not None:
                values = {row[column.name] for row in content[table.name]} - {None}
                ids.setdefault(column.key, set()).update(values)
    return {
        key: {value: place for place, value in enumerate(sorted(values, key=_number))}
        for key, values in ids.items()
    }


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _rows_of_run(recording: Recording, run_id: int) -> dict[str, list[dict[str, object]]]:
    """Return the rows of the run by table: those that name it, and those that these refer to."""
    content: dict[str, list[dict[str, object]]] = {}
    mine: dict[str, set[object]] = {"run": {run_id}}
    every = {table.name: _every_row(recording, table) for table in all_tables()}
    # Tables are reached over several steps (run, graph, node, stack, location).
    for _ in range(len(every)):
        for table in all_tables():
            content[table.name] = [r for r in every[table.name] if _belongs(table, r, mine)]
            for row in content[table.name]:
                for column in table.columns:
                    if column.key not in (None, "run"):
                        mine.setdefault(str(column.key), set()).add(row[column.name])
    return content


def _belongs(table: Table, row: dict[str, object], mine: dict[str, set[object]]) -> bool:
    """Return whether a row is of the run: by its run_id, else by its first column, an id."""
    keys = {column.name: column.key for column in table.columns}
    name = "run_id" if "run_id" in keys else table.primary_key[0]
    return row[name] in mine.get(str(keys[name]), set())


def _every_row(recording: Recording, table: Table) -> list[dict[str, object]]:
    names = [column.name for column in table.columns]
    found = recording._fetch(table.row, "")
    return [{name: getattr(row, name) for name in names} for row in found]

"""Row classes: frozen dataclasses to whoever makes, compares, copies or keeps rows."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys

import pytest

from gviz.recording.rows import Edge, Run, all_tables
from gviz.recording.rows.tables import Table

RUN = {"run_id": 1, "name": "step", "state": "completed", "source": "run"}


def _row(table: Table) -> object:
    """Make a row of the values that it needs, each another."""
    needed = [f.name for f in dataclasses.fields(table.row) if f.default is dataclasses.MISSING]
    return table.row(**{name: at for at, name in enumerate(needed)})


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_a_row_is_what_a_frozen_dataclass_would_be(table: Table) -> None:
    fields = [(f.name, f.type, dataclasses.field(default=f.default)) for f in _fields(table)]
    plain = dataclasses.make_dataclass(
        table.row.__name__, fields, frozen=True, slots=True, kw_only=True
    )
    row = _row(table)
    other = plain(**{name: getattr(row, name) for name in table.row.__slots__})
    assert dataclasses.asdict(row) == dataclasses.asdict(other)
    assert repr(row) == repr(other)
    assert table.row.__slots__ == plain.__slots__
    assert not hasattr(row, "__dict__")


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_copies_of_a_row_are_equal_to_it(table: Table) -> None:
    row = _row(table)
    for other in (copy.copy(row), copy.deepcopy(row), pickle.loads(pickle.dumps(row)), _row(table)):
        assert other is not row
        assert (other, hash(other)) == (row, hash(row))
    for field in _fields(table):
        changed = dataclasses.replace(row, **{field.name: "else"})
        assert changed != row
        assert hash(changed) != hash(row)


def _fields(table: Table) -> tuple[dataclasses.Field[object], ...]:
    return dataclasses.fields(table.row)


def test_rows_of_two_tables_are_never_equal() -> None:
    class Other(Run):
        """A class of its own, with the same fields."""

    assert Run(**RUN) != Other(**RUN)
    assert Run(**RUN) != tuple(RUN.values())


def test_a_row_cannot_be_changed() -> None:
    row = Run(**RUN)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
        row.name = "other"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
        del row.name  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.other = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("values", [{}, {"run_id": 1}, RUN | {"other": "x"}])
def test_the_first_row_and_later_ones_need_the_same_values(values: dict[str, object]) -> None:
    program = f"""
from gviz.recording.rows import Run
def problem():
    try: Run(**{values!r})
    except TypeError as error: return str(error)
first = problem()
Run(**{RUN!r})
assert first == problem() and first.startswith("Run.__init__() "), first
"""
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
    with pytest.raises(TypeError, match=r"^Run\.__init__\(\) "):
        Run(**values)


def test_values_are_given_by_name() -> None:
    with pytest.raises(TypeError):
        Edge(1, 2, 3)  # type: ignore[misc]

"""Tables of typed columns, given to pandas or polars where these are installed.

What is missing stays missing: nullable columns become pandas' nullable types and polars' nulls,
never NaN for an integer or 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from gviz.dataclass import dataclass
from gviz.errors import GvizError

if TYPE_CHECKING:
    import pandas
    import polars

    from gviz.recording import Table

#: As in the schema of a recording.
Kind = Literal["INTEGER", "REAL", "TEXT", "BLOB"]
#: int64 or float64 without anything missing; else Python values, None: missing.
Values = npt.NDArray[Any] | Sequence[Any]

_PANDAS = {"INTEGER": "Int64", "REAL": "Float64", "TEXT": "string", "BLOB": "object"}


@dataclass(frozen=True, slots=True)
class Frame:
    """A table: what is in its columns, by name.

    Attributes
    ----------
    kinds
        Type of each column, in order.
    values
        Its values; all columns are of one length.
    """

    kinds: Mapping[str, Kind]
    values: Mapping[str, Values]

    def __len__(self) -> int:
        return len(next(iter(self.values.values()), ()))

    def to_pandas(self) -> pandas.DataFrame:
        """Return it as a pandas DataFrame, in nullable types; GvizError without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise _missing("pandas") from error
        return pandas.DataFrame(
            {
                name: pandas.array(np.asarray(values), dtype=_PANDAS[self.kinds[name]])
                if isinstance(values, np.ndarray)
                else pandas.array(list(values), dtype=_PANDAS[self.kinds[name]])
                for name, values in self.values.items()
            },
            columns=list(self.kinds),
        )

    def to_polars(self) -> polars.DataFrame:
        """Return it as a polars DataFrame; GvizError without polars."""
        polars, types = _import_polars(), _polars_types()
        columns = [
            polars.Series(name, values, dtype=types[self.kinds[name]])
            for name, values in self.values.items()
        ]
        return polars.DataFrame(columns)


def _import_polars() -> Any:
    """Return the module polars; GvizError, which says how to get it, without."""
    try:
        import polars
    except ImportError as error:
        raise _missing("polars") from error
    return polars


def _polars_types() -> Mapping[Kind, Any]:
    """Return polars' type of each kind of column."""
    polars = _import_polars()
    return {
        "INTEGER": polars.Int64, "REAL": polars.Float64,
        "TEXT": polars.String, "BLOB": polars.Binary,
    }  # fmt: skip


def table_kinds(table: Table) -> dict[str, Kind]:
    """Return the types of the columns of a recording's table, by name."""
    return {column.name: cast(Kind, column.sql_type) for column in table.columns}


def from_rows(kinds: Mapping[str, Kind], found: Sequence[Sequence[Any]]) -> Frame:
    """Return a table of rows whose values stand in the order of ``kinds``."""
    columns = zip(*found, strict=True) if found else ((),) * len(kinds)
    return Frame(kinds, dict(zip(kinds, columns, strict=True)))


def without(values: npt.NDArray[np.int64], missing: int) -> Sequence[int | None]:
    """Return integers in which one number stands for what is missing, with None instead."""
    return [None if value == missing else value for value in values.tolist()]


def _missing(library: str) -> GvizError:
    return GvizError(f"{library} is not installed here; 'pip install {library}' brings it")

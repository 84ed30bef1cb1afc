"""The libraries of the extra ``fleet``, each imported where it is used first."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gviz.errors import GvizError

#: What the extra has, as packages are named.
LIBRARIES = ("cryptography", "distributed", "duckdb", "fsspec", "pyarrow")


def load(library: str) -> Any:
    """Return a module of a library of the extra.

    Raises
    ------
    GvizError
        If it is not installed; the message says how to install it.
    """
    try:
        return import_module(library)
    except ImportError as error:
        raise GvizError(
            f"{library.partition('.')[0]} is not installed here, and fleets need it; "
            f"'pip install {' '.join(LIBRARIES)}' brings all that they need"
        ) from error

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
        If it is not installed; the message says how to install all that fleets need.
    """
    return _load(
        library,
        f", and fleets need it; 'pip install {' '.join(LIBRARIES)}' brings all that they need",
    )


def load_alone(library: str) -> Any:
    """Return a module of a library that is of use without the others of the extra.

    Raises
    ------
    GvizError
        If it is not installed; the message says how to install it.
    """
    return _load(library, f"; 'pip install {library.partition('.')[0]}' brings it")


def _load(library: str, advice: str) -> Any:
    try:
        return import_module(library)
    except ImportError as error:
        name = library.partition(".")[0]
        if not isinstance(error, ModuleNotFoundError):
            # As pyarrow says of an older NumPy.
            raise GvizError(
                f"{name} is installed here and cannot be loaded: {error}; install versions that "
                "fit each other"
            ) from error
        raise GvizError(f"{name} is not installed here{advice}") from error

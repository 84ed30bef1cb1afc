"""The library of the extra ``mcp``, imported where it is used first."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gviz.errors import GvizError


def load(module: str) -> Any:
    """Return a module of the library or of what it needs.

    Raises
    ------
    GvizError
        If it is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise GvizError(
            f"{module.partition('.')[0]} is not installed here, and gviz mcp needs it; 'pip "
            'install "mcp>=2.0,<3"\' brings it'
        ) from error

"""Progress of importers."""

from __future__ import annotations

from collections.abc import Callable

#: Is given the share of the file that was read, from 0 to 1.
Progress = Callable[[float], None]

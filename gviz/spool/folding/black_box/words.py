"""The words that launches write while they run, as the process left them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from gviz.spool.records import CRUMBS_BYTES, CRUMBS_FILE


def read_words(spool: Path) -> npt.NDArray[np.uint32]:
    """Return the words of a spool; empty: there is no file of them."""
    try:
        with (spool / CRUMBS_FILE).open("rb") as file:
            whole = file.read(CRUMBS_BYTES)
    except OSError:
        return np.zeros(0, np.uint32)
    return np.frombuffer(whole[: len(whole) // 4 * 4], "<u4")

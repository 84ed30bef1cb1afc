"""The words that launches write while they run, as the process left them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from gviz.spool.records import CRUMBS_FILE

#: Where the file lies when the driver takes none of the spool's file system, and its name begins.
_IN_MEMORY, _NAME = Path("/dev/shm"), "gviz-crumbs-"


def read_words(spool: Path) -> npt.NDArray[np.uint32]:
    """Return the words of a spool; empty: there is no file of them."""
    try:
        whole = (spool / CRUMBS_FILE).read_bytes()
    except OSError:
        return np.zeros(0, np.uint32)
    return np.frombuffer(whole[: len(whole) // 4 * 4], "<u4")


def remove_from_memory(spool: Path) -> None:
    """Remove the file where it lies in the memory of the machine; its process has ended."""
    link = spool / CRUMBS_FILE
    if not link.is_symlink():
        return
    target = link.readlink()
    if target.parent == _IN_MEMORY and target.name.startswith(_NAME):
        target.unlink(missing_ok=True)

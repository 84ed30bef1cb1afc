"""Removal of spools of which a recording was made, and of what others have left in memory.

Crumbs lie in the memory of the machine where the driver takes no memory of the spool's file system:
that file goes with its spool. Of a spool that its user has deleted it stays, until the next one.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from gviz.spool.processes.owner import SpoolOwner
from gviz.spool.records import CRUMBS_BYTES, CRUMBS_FILE, GPU_STATES

#: Where such files lie, and how their names begin, before the process's id and start.
_IN_MEMORY, _NAME = Path("/dev/shm"), "gviz-crumbs-"
#: Who has moved a spool that was not read yet has so long to read it.
_KEPT_S = 24 * 3600


def remove_spool(spool: Path, *, keep_folders: bool = False) -> None:
    """Remove a folded spool, unless GVIZ_KEEP_SPOOL is set (to reproduce a fault in folding).

    Parameters
    ----------
    spool
        The directory; its process has ended.
    keep_folders
        Leave it with the folders in it, which are other processes' spools, and with the states of
        GPUs, which are theirs too.
    """
    if os.environ.get("GVIZ_KEEP_SPOOL"):
        return
    _remove_from_memory(spool / CRUMBS_FILE)
    if not keep_folders:
        shutil.rmtree(spool)
        return
    for entry in spool.iterdir():
        if not entry.is_dir() and entry.name != GPU_STATES:
            entry.unlink()


def _remove_from_memory(link: Path) -> None:
    """Remove the file that a link leads to, and those that nobody wants any more."""
    if not link.is_symlink():
        return
    target = link.readlink()
    if target.parent == _IN_MEMORY and target.name.startswith(_NAME):
        target.unlink(missing_ok=True)
    for file in _IN_MEMORY.glob(f"{_NAME}*-*"):
        with suppress(OSError, ValueError):  # another's, or another has removed it
            if _is_left_over(file):
                file.unlink()


def _is_left_over(file: Path) -> bool:
    """Return whether neither process nor spool of a file of this user are there, for a day."""
    process_id, start_ticks = file.name.removeprefix(_NAME).split("-")
    with file.open("rb") as opened:
        found = os.fstat(opened.fileno())
        opened.seek(CRUMBS_BYTES)
        space, _, link = opened.read().rstrip(b"\0").partition(b"\n")
    return (
        found.st_uid == os.geteuid()
        and time.time() - found.st_mtime > _KEPT_S
        # Ids of other namespaces are those of other processes here.
        and space == os.fsencode(os.readlink("/proc/self/ns/pid"))
        and not SpoolOwner(int(process_id), int(start_ticks)).is_running()
        and _has_gone(link)
    )


def _has_gone(link: bytes) -> bool:
    try:
        os.lstat(link)
    except FileNotFoundError:
        return True
    return False

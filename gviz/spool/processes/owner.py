"""The process that appends to a spool: whether it still runs, and how it ended."""

from __future__ import annotations

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

from gviz.dataclass import dataclass

#: struct pidfd_info of linux/pidfd.h as it was first: mask, cgroup, 11 ids, exit status.
_INFO = struct.Struct("=QQ11Ii")
_WITH_EXIT = 1 << 3  # PIDFD_INFO_EXIT
_GET_INFO = 3 << 30 | _INFO.size << 16 | 0xFF << 8 | 11  # _IOWR(0xFF, 11, struct pidfd_info)


@dataclass(frozen=True, slots=True)
class SpoolOwner:
    """The process that appends to a spool.

    Attributes
    ----------
    process_id
        Operating system's process id.
    start_ticks
        Its start in clock ticks since boot, for ids are used again; 0: not known.
    """

    process_id: int
    start_ticks: int = 0

    def is_running(self) -> bool:
        """Return whether it still runs: a zombie has ended, and waits only for its parent."""
        fields = self._stat()
        return bool(fields) and fields[0] not in ("Z", "X")

    def _stat(self) -> list[str]:
        """Return the fields of /proc/ID/stat from the third on (man 5 proc); none: it is gone."""
        try:
            status = Path(f"/proc/{self.process_id}/stat").read_text(errors="replace")
        except OSError:
            return []
        fields = status.rpartition(")")[2].split()
        return [] if self.start_ticks and int(fields[19]) != self.start_ticks else fields

    def status_as_zombie(self) -> int | None:
        """Return the status that its parent has not fetched yet; None: there is none."""
        with suppress(OSError, IndexError):
            # Of another user's process the kernel says 0.
            own = Path(f"/proc/{self.process_id}").stat().st_uid == os.geteuid()
            fields = self._stat()
            return int(fields[49]) if own and fields[0] == "Z" else None
        return None


class OwnerEnd:
    """The end of a process that is another's child, as Linux tells it from 6.15 on.

    Parameters
    ----------
    owner
        The process. Of one that has ended already nothing is known.
    """

    def __init__(self, owner: SpoolOwner) -> None:
        self._owner = owner
        self._handle: int | None = None
        with suppress(OSError):  # it has gone; or an older kernel, or no descriptor is left
            self._handle = os.pidfd_open(owner.process_id)
        if not owner.is_running():  # the id was another process's by then
            self.close()

    def exit_code(self) -> int | None:
        """Return its exit code, above 128 by the signal of the rest; None: it is not known."""
        status = self._owner.status_as_zombie()
        if status is None and self._handle is not None:
            status = _status_of(self._handle)
        if status is None:
            return None
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def close(self) -> None:
        """Let go of the process."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __del__(self) -> None:
        """Leave no descriptor behind."""
        self.close()


def _status_of(handle: int) -> int | None:
    """Return the status of a process that was waited for; None: the kernel does not tell."""
    request = _INFO.pack(_WITH_EXIT, *[0] * 13)
    try:
        mask, *_, status = _INFO.unpack(fcntl.ioctl(handle, _GET_INFO, request))
    except OSError:
        return None
    return int(status) if mask & _WITH_EXIT else None

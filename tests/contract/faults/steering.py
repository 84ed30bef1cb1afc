"""The fault shim of shim.c: built, and steered by the file that its processes share."""

from __future__ import annotations

import errno
import mmap
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fake.build import compiler

#: Calls in the order of shim.c, with the errors that each ends with.
CALLS = {
    "open": (errno.EMFILE, errno.ENOSPC),
    "read": (errno.EIO,),
    "write": (errno.ENOSPC, errno.EIO),
    "mmap": (errno.ENOMEM,),
    "truncate": (errno.ENOSPC, errno.EIO),
    "rename": (errno.EIO,),
    "fsync": (errno.EIO,),
    "fork": (errno.EAGAIN,),
    "malloc": (errno.ENOMEM,),
    "pthread_create": (errno.EAGAIN,),
    "mkdir": (errno.ENOSPC,),
}
#: In place of an error, as in shim.c: the call never returns; it takes a while; or the first in
#: threads that the process made, the second in its own.
HANG, SLOW, HANG_BESIDE = -1, -2, -3
_DELAYS = {HANG: "never returns", SLOW: "takes a while", HANG_BESIDE: "is held up"}
_CONTROL = struct.Struct("@iiqq32s" + "q" * (len(CALLS) + 1))
_AT, _AT_OFFSET = struct.Struct("@q"), struct.calcsize("@ii")
_SOURCE = Path(__file__).parent / "shim.c"


@dataclass(frozen=True, slots=True)
class Fault:
    """A call that fails: the n-th, counted from one, of a name."""

    call: str
    at: int
    error: int

    def __str__(self) -> str:
        how = _DELAYS.get(self.error) or f"ends with {errno.errorcode[self.error]}"
        return f"{self.call} {self.at} {how}"


class Shim:
    """The preloaded library, and what it is to do.

    Parameters
    ----------
    folder
        Where it is, see :meth:`build`.
    """

    def __init__(self, folder: Path) -> None:
        self.library = folder / "shim.so"
        self._file = folder / "control"
        self._memory: mmap.mmap | None = None

    @classmethod
    def build(cls, folder: Path) -> Shim:
        """Build the library in a folder."""
        shim = cls(folder)
        flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-U_FORTIFY_SOURCE"]
        command = [compiler() or "cc", *flags, "-fPIC", "-shared", "-o", str(shim.library)]
        subprocess.run([*command, str(_SOURCE), "-ldl"], check=True)
        shim._file.write_bytes(bytes(mmap.PAGESIZE))
        return shim

    def environment(self) -> dict[str, str]:
        """Return the variables of a process that has it."""
        return {"LD_PRELOAD": str(self.library), "FAULT_CONTROL": str(self._file)}

    def steer(self, fault: Fault | None, *, caller: str = "", task: int = 0) -> None:
        """Have one call fail; None: count only.

        Parameters
        ----------
        fault
            What fails.
        caller
            Calls of libraries with this in their names count alone; "": those of all.
        task
            Those of this thread count alone; 0: those of all; below 0: all but a session's.
        """
        call, at, error = (0, 0, 0) if fault is None else (fault.call, fault.at, fault.error)
        number = list(CALLS).index(call) if isinstance(call, str) else 0
        counts = [0] * (len(CALLS) + 1)
        control = _CONTROL.pack(number, error, at, task, caller.encode(), *counts)
        self._control()[: _CONTROL.size] = control

    def disarm(self) -> None:
        """Have no call fail any more; what was counted stays."""
        _AT.pack_into(self._control(), _AT_OFFSET, 0)

    def counts(self) -> dict[str, int]:
        """Return how often each call was made since."""
        values = _CONTROL.unpack_from(self._control())
        return dict(zip(CALLS, values[5:], strict=False))

    def has_failed(self) -> bool:
        """Return whether the call was made that was to fail."""
        return bool(_CONTROL.unpack_from(self._control())[-1])

    def _control(self) -> mmap.mmap:
        """Return the file as memory: looking at it makes no call that could fail."""
        if self._memory is None:
            with self._file.open("r+b") as file:
                self._memory = mmap.mmap(file.fileno(), _CONTROL.size)
        return self._memory

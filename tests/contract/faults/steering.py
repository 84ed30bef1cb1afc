"""The fault shim of shim.c: built, and steered by the file that its processes share."""

from __future__ import annotations

import errno
import mmap
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fake.build import compiler

#: Calls in the order of shim.c, with the errors that each ends with.
CALLS = {
    "open": (errno.EMFILE, errno.ENOSPC),
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
_CONTROL = struct.Struct("@iiqq32s" + "q" * (len(CALLS) + 1))
_SOURCE = Path(__file__).parent / "shim.c"


@dataclass(frozen=True, slots=True)
class Fault:
    """A call that fails: the n-th, counted from one, of a name."""

    call: str
    at: int
    error: int

    def __str__(self) -> str:
        return f"{self.call} {self.at} ends with {errno.errorcode[self.error]}"


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

    def steer(self, fault: Fault | None, *, caller: str = "", process: int = 0) -> None:
        """Have one call fail; None: count only. Calls of ``caller``'s libraries count."""
        call, at, error = (0, 0, 0) if fault is None else (fault.call, fault.at, fault.error)
        number = list(CALLS).index(call) if isinstance(call, str) else 0
        counts = [0] * (len(CALLS) + 1)
        with self._file.open("r+b") as file:
            file.write(_CONTROL.pack(number, error, at, process, caller.encode(), *counts))

    def disarm(self) -> None:
        """Have no call fail any more; what was counted stays."""
        try:
            self._write_disarmed()
        except (MemoryError, RuntimeError, OSError):  # the call that was to fail was one of these
            self._write_disarmed()

    def _write_disarmed(self) -> None:
        values = list(_CONTROL.unpack(self._file.read_bytes()[: _CONTROL.size]))
        values[2] = 0
        with self._file.open("r+b") as file:
            file.write(_CONTROL.pack(*values))

    def counts(self) -> dict[str, int]:
        """Return how often each call was made since."""
        values = _CONTROL.unpack(self._file.read_bytes()[: _CONTROL.size])
        return dict(zip(CALLS, values[5:], strict=False))

    def has_failed(self) -> bool:
        """Return whether the call was made that was to fail."""
        return bool(_CONTROL.unpack(self._file.read_bytes()[: _CONTROL.size])[-1])


def faults(counts: dict[str, int], most: int, random: Random) -> Iterator[Fault]:
    """Yield the faults of calls that were counted: each call with each of its errors.

    Of calls that are made more than ``most`` times a sample of so many, each with one error.
    """
    for call, errors in CALLS.items():
        places = range(1, counts[call] + 1)
        if len(places) <= most:
            yield from (Fault(call, at, error) for at in places for error in errors)
            continue
        for at in sorted(random.sample(places, most)):
            yield Fault(call, at, random.choice(errors))

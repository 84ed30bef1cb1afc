"""The spools of one ``gviz run``: every process of the program that used CUDA wrote one.

The first process writes at the top of the job's directory, each other into a folder there. They
are read together and become the runs of one recording.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from gviz.dataclass import dataclass
from gviz.errors import SpoolError
from gviz.recording import merge_recordings
from gviz.spool.folding import fold
from gviz.spool.processes.owner import OwnerEnd, SpoolOwner
from gviz.spool.processes.removal import remove_spool
from gviz.spool.records import SpoolReader, table
from gviz.spool.records import format as f
from gviz.spool.streams import Contents
from gviz.system import NO_PROGRESS, Progress

_POLL_SECONDS = 0.05
#: Says that a job's recording is written, and that what is left here was still running then.
_RECORDED = "recorded"
#: Share of the work on several processes that folds them one by one; the rest merges them.
_FOLDED = 0.8
#: Records between two words about how far reading has come.
_REPORTED_EVERY = 20_000


@dataclass(slots=True)
class ProcessSpool:
    """One process's spool, read as far as it goes."""

    directory: Path
    is_top: bool
    contents: Contents = field(default_factory=Contents)
    #: Why it could not be read to its end.
    failure: SpoolError | None = None
    _reader: SpoolReader | None = None
    _end: OwnerEnd | None = None

    def read(self, progress: Progress = NO_PROGRESS) -> None:
        """Take in what was appended since the last call."""
        if self.failure is not None or self.contents.closed:
            return
        try:
            self._reader = self._reader or SpoolReader(self.directory)
            for number, record in enumerate(self._reader.records(), start=1):
                self.contents.add(record)
                if number % _REPORTED_EVERY == 0:
                    progress.at(self._reader.share_read(), self.directory.name)
        except SpoolError as error:
            self.failure = error

    @property
    def owner(self) -> SpoolOwner:
        """The process, as the first segment's header and the metadata name it."""
        size, head = table.SEGMENT_HEADER.size, b""
        with contextlib.suppress(FileNotFoundError), self._first_segment.open("rb") as file:
            head = file.read(size)
        header = table.SEGMENT_HEADER.unpack(head.ljust(size, b"\0"))
        written = header.process_id
        if not written and not self.is_top:  # just made: named <process id>-<start>
            named = self.directory.name.partition("-")[0]
            return SpoolOwner(int(named) if named.isdecimal() else 0)
        process_id = int(self.contents.metadata.get("process_id") or written)
        return SpoolOwner(process_id, header.process_start if process_id == written else 0)

    @property
    def _first_segment(self) -> Path:
        return self.directory / f"{0:06d}{f.SEGMENT_SUFFIX}"

    def has_gone(self) -> bool:
        """Return whether somebody has removed it, as who has made a recording of it does."""
        return not self._first_segment.exists()

    def await_end(self) -> None:
        """Have :attr:`exit_code` known once the process has ended; before that, and only once."""
        if self._end is None and self.contents.metadata:
            self._end = OwnerEnd(self.owner)

    @property
    def exit_code(self) -> int | None:
        """Exit code of the process (above 128: by the signal of the rest), where that is known."""
        return self._end.exit_code() if self._end is not None else None

    @property
    def bytes_read(self) -> int:
        """Return the bytes of its records that were read so far."""
        return self._reader.bytes_read if self._reader is not None else 0

    def may_grow(self) -> bool:
        """Return whether its process may still append."""
        host = self.contents.metadata.get("host", socket.gethostname())
        return not self.contents.closed and host == socket.gethostname() and self.owner.is_running()

    @property
    def has_records(self) -> bool:
        """Return whether anything was read of it, were it damaged."""
        return bool(self.contents.metadata or self.contents.unreadable)

    def is_of_use(self) -> bool:
        """Return whether it has more than a launcher's start, which used no GPU itself."""
        used = self.contents.devices or self.contents.walks or self.contents.launch_stream.bounds
        noted = any(kind != "limit" for kind, _ in self.contents.notes)
        return bool(used or noted) or self.failure is not None

    def remove(self) -> None:
        """Remove it, but no other process's."""
        remove_spool(self.directory, keep_folders=self.is_top)


def _check_files(directory: Path) -> None:
    # os.walk goes on where a folder is removed meanwhile.
    for folder, _, names in os.walk(directory):
        for file in (Path(folder, name) for name in names):
            if file.is_fifo() or file.is_char_device():
                raise SpoolError(f"{file} is a pipe or a device, which no gviz wrote; remove it")


class JobSpools:
    """All spools of a job, followed while processes come and go.

    Parameters
    ----------
    directory
        The job's directory, ``<recording>-spool``.

    Raises
    ------
    SpoolError
        If there is none, or pipes or devices are in one, which could keep a reader for ever.
    """

    def __init__(self, directory: Path) -> None:
        if not directory.is_dir():
            raise SpoolError(f"there is no spool {directory}")
        _check_files(directory)
        self.directory = directory
        self._known: dict[Path, ProcessSpool] = {}

    @property
    def processes(self) -> list[ProcessSpool]:
        """The spools found so far: the first process, then by rank, then in order of start."""

        def order(process: ProcessSpool) -> tuple[bool, float, int]:
            metadata = process.contents.metadata
            rank = metadata.get("rank")
            return (
                not process.is_top,
                float("inf") if rank is None else rank,
                int(metadata.get("started_ns") or 0),
            )

        return sorted(self._known.values(), key=order)

    def read(self, progress: Progress = NO_PROGRESS) -> None:
        """Look for new spools, and read all of them on."""
        folders = (entry for entry in self.directory.iterdir() if entry.is_dir())
        for folder in (self.directory, *folders):
            if folder not in self._known and (folder / f"{0:06d}{f.SEGMENT_SUFFIX}").exists():
                self._known[folder] = ProcessSpool(folder, folder == self.directory)
        known = list(self._known.values())
        for process, part in progress.each(known, lambda one: one.directory.name):
            process.read(part)

    def await_ends(self) -> None:
        """Have the recording say how each process ended that still runs now."""
        for process in self._known.values():
            process.await_end()

    def settle(self, seconds: float) -> None:
        """Wait a while for processes that are about to end, as ranks do after their launcher."""
        until = time.monotonic() + seconds
        while self.growing() and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            self.read()
        self.read()

    def growing(self) -> list[ProcessSpool]:
        """Return the spools that may still be appended to."""
        return [p for p in self.processes if not self._is_replaced(p) and p.may_grow()]

    def _is_replaced(self, process: ProcessSpool) -> bool:
        """Return whether its program has made way for another in the same process (exec)."""
        later = [
            other
            for other in self._known.values()
            if other.owner == process.owner and _started(other) > _started(process)
        ]
        return bool(later)

    # -- the recording ---------------------------------------------------------------------

    def write(
        self,
        output: Path,
        *,
        overwrite: bool = False,
        main: int = 0,
        exit_code: int | None = None,
        progress: Progress = NO_PROGRESS,
    ) -> bool:
        """Fold every process that has ended into one recording; remove what was folded.

        Parameters
        ----------
        output
            The recording.
        overwrite
            Replace an existing file.
        main, exit_code
            Process id of the program and how it ended, where that is known.
        progress
            Told the share that is done.

        Returns
        -------
        bool
            False when no process has ended that is worth recording: nothing is written.

        Raises
        ------
        SpoolError
            If the only spool is damaged; of several the others are folded, with a note.
        RecordingError
            If ``output`` cannot be written.
        """
        growing = self.growing()
        ended = [p for p in self.processes if p not in growing]
        readable = [p for p in ended if p.failure is None]
        if ended and not readable:
            raise ended[0].failure or SpoolError(f"{self.directory} cannot be read")
        useful = [p for p in readable if p.is_of_use()]
        folded = useful or readable[: 0 if growing else 1]
        if not folded:
            return False
        name_runs(folded, several=len(folded) > 1)
        self._note_missing(folded[0].contents, growing, [p for p in ended if p.failure], output)
        program = self._last_of(main)
        codes = [exit_code if p is program else self._exit_code(p) for p in folded]
        if len(folded) == 1:
            only = folded[0]
            fold(
                only.contents,
                only.directory,
                output,
                overwrite=overwrite,
                exit_code=codes[0],
                progress=progress,
            )
        else:
            self._merge(folded, codes, (), output, overwrite=overwrite, progress=progress)
        self._remove(readable)
        return True

    def snapshot(self, output: Path) -> bool:
        """Write what was read so far as a recording, and leave the spools as they are.

        Processes that still run are runs in state ``recording``. They stand in the order in
        which they were found, so that one that joins moves no other. What was read is settled
        by it (:meth:`Contents.finish`): nothing can be read on afterwards.

        Returns
        -------
        bool
            False when no process has written its name yet: nothing is written.
        """
        growing = self.growing()
        named = [p for p in self._known.values() if p.failure is None and p.contents.metadata]
        folded = [p for p in named if p.is_of_use()] or named[:1]
        if not folded:
            return False
        name_runs(folded, several=len(folded) > 1)
        parts = [output.with_name(f"{output.name}.{i}") for i in range(len(folded))]
        try:
            for process, part in zip(folded, parts, strict=True):
                fold(
                    process.contents,
                    process.directory,
                    part,
                    overwrite=True,
                    is_growing=process in growing,
                )
            if len(parts) == 1:
                parts[0].replace(output)
            else:
                merge_recordings(parts, output, overwrite=True)
        finally:
            for part in parts:
                part.unlink(missing_ok=True)
        return True

    def add_to(self, recording: Path) -> bool:
        """Add the processes that have ended since to the recording that the others became.

        Returns
        -------
        bool
            Whether there was one.
        """
        growing = self.growing()
        ended = [p for p in self.processes if p not in growing and p.failure is None]
        if ended:
            name_runs(ended, several=True)
            codes = [None] * len(ended)
            self._merge(ended, codes, (recording,), recording, overwrite=True)
            self._remove(ended)
        return bool(ended)

    @property
    def bytes_read(self) -> int:
        """Return the bytes of all spools that were read so far."""
        return sum(process.bytes_read for process in self._known.values())

    @property
    def is_recorded(self) -> bool:
        """Return whether the recording is written already, and these processes outlived it."""
        return (self.directory / _RECORDED).exists()

    def _last_of(self, process_id: int) -> ProcessSpool | None:
        mine = [p for p in self.processes if p.owner.process_id == process_id]
        return max(mine, key=_started, default=None)

    def _exit_code(self, process: ProcessSpool) -> int | None:
        return None if self._is_replaced(process) else process.exit_code

    def _note_missing(
        self,
        contents: Contents,
        growing: Sequence[ProcessSpool],
        damaged: Sequence[ProcessSpool],
        output: Path,
    ) -> None:
        contents.notes += [
            (
                "limit",
                f"process {p.owner.process_id} was still running when the program ended and is "
                f"not in this recording; 'gviz info {output.name}' adds it once it has ended",
            )
            for p in growing
        ]
        contents.notes += [
            ("warning", f"process {p.owner.process_id} is not in this recording: {p.failure}")
            for p in damaged
        ]

    def _merge(
        self,
        processes: Sequence[ProcessSpool],
        codes: Sequence[int | None],
        before: Sequence[Path],
        output: Path,
        *,
        overwrite: bool,
        progress: Progress = NO_PROGRESS,
    ) -> None:
        parts = [self.directory / f"run-{i}.gviz" for i in range(len(processes))]
        try:
            each = progress.part(0.0, _FOLDED).each(
                list(zip(processes, codes, parts, strict=True)),
                lambda one: f"process {one[0].owner.process_id}",
            )
            for (process, code, part), stretch in each:
                fold(
                    process.contents,
                    process.directory,
                    part,
                    overwrite=True,
                    exit_code=code,
                    progress=stretch,
                )
            merge_recordings(
                [*before, *parts],
                output,
                overwrite=overwrite,
                progress=progress.part(_FOLDED, 1.0),
            )
        finally:
            for part in parts:
                part.unlink(missing_ok=True)

    def _remove(self, folded: Sequence[ProcessSpool]) -> None:
        for process in folded:
            process.remove()
            self._known.pop(process.directory)
        if os.environ.get("GVIZ_KEEP_SPOOL"):
            return
        (self.directory / _RECORDED).unlink(missing_ok=True)
        self._forget_messages()
        try:
            if not any(entry.is_dir() for entry in self.directory.iterdir()):
                (self.directory / f.GPU_STATES).unlink(missing_ok=True)
            self.directory.rmdir()
        except OSError:  # a process still runs, or has just begun
            (self.directory / _RECORDED).touch()

    def discard(self) -> None:
        """Remove the directory of a job in which no process used CUDA."""
        with contextlib.suppress(OSError):  # somebody put something there
            self._forget_messages()
            (self.directory / f.GPU_STATES).unlink(missing_ok=True)
            self.directory.rmdir()

    def why_unopened(self) -> str | None:
        """Return why a process that used CUDA could make no spool; None: no such is known."""
        for message in sorted(self.directory.glob(f"{f.UNOPENED_PREFIX}*")):
            _, _, number = message.name.rpartition("-")
            if number.isdecimal():
                return os.strerror(int(number))
        return None

    def _forget_messages(self) -> None:
        for prefix in (f.START_REQUEST_PREFIX, f.UNOPENED_PREFIX):
            for message in self.directory.glob(f"{prefix}*"):
                message.unlink(missing_ok=True)


def _started(process: ProcessSpool) -> int:
    return int(process.contents.metadata.get("started_ns") or 0)


def name_runs(processes: Sequence[ProcessSpool], *, several: bool) -> None:
    """Name the runs of one recording differently: "train rank 3", "serve pid 4711"."""
    if not several:
        return
    names = []
    for process in processes:
        metadata = process.contents.metadata
        name = str(metadata.get("name", "run"))
        if metadata.get("rank") is not None:
            name += f" rank {metadata['rank']}"
        elif not process.is_top:
            name += f" pid {process.owner.process_id}"
        names.append(name)
    count = Counter(names)
    for process, name in zip(processes, names, strict=True):
        # A rank's own children inherit its RANK.
        again = count[name] > 1 and " pid " not in name
        pid = f" pid {process.owner.process_id}" if again else ""
        process.contents.metadata["name"] = name + pid

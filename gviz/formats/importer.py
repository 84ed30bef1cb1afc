"""Turns what other profilers wrote into recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gviz.errors import UsageError
from gviz.formats.dot import import_dot
from gviz.formats.kinds import Format, find_format
from gviz.formats.kineto import read_kineto
from gviz.formats.nsys import read_nsys
from gviz.formats.rocprof import read_rocprof
from gviz.formats.traces import Dump, RunWriter, Trace, read_dumps, storable
from gviz.recording import RecordingWriter
from gviz.runs import IdCounter, RunBuilder
from gviz.system import ShareRead


def import_kineto(
    path: Path,
    output: Path,
    *,
    overwrite: bool = False,
    name: str | None = None,
    progress: ShareRead | None = None,
    most_bytes: int | None = None,
) -> Path:
    """Write a recording of what a Chrome trace of PyTorch's profiler says; return its place.

    Graph launches and their nodes become launches and spans, other work stream operations,
    user annotations ranges.

    Parameters
    ----------
    path
        The trace, packed with gzip or not.
    output
        Where the recording goes.
    overwrite
        Replace an existing file at ``output``.
    name
        Name of the run; by default the file's name without its suffixes.
    progress
        Called with the share of the file that was read.
    most_bytes
        Bytes that are unpacked at most.

    Raises
    ------
    ImportingError
        If the trace cannot be read.
    RecordingError
        If the recording cannot be written.
    UsageError
        If ``output`` is the trace itself.
    """
    check_not_itself(path, output)
    trace = read_kineto(path, progress=progress, most_bytes=most_bytes)
    _write([trace], path, output, overwrite=overwrite, name=name)
    return output


def import_nsys(
    path: Path,
    output: Path,
    *,
    overwrite: bool = False,
    name: str | None = None,
    progress: ShareRead | None = None,
) -> Path:
    """Write a recording of what an SQLite export of Nsight Systems says; return its place.

    Each process becomes a run. Parameters and errors are those of :func:`import_kineto`.
    """
    check_not_itself(path, output)
    traces = read_nsys(path, progress=progress)
    _write(traces, path, output, overwrite=overwrite, name=name)
    return output


def import_files(
    paths: Sequence[Path],
    output: Path,
    *,
    overwrite: bool = False,
    name: str | None = None,
    progress: ShareRead | None = None,
    most_bytes: int | None = None,
) -> list[str]:
    """Write a recording of a trace, of DOT dumps, or of a trace joined with dumps.

    The formats are recognised by the files' content. Parameters are those of :func:`import_kineto`.

    Returns
    -------
    list of str
        What whoever reads the recording must know; it says so itself.

    Raises
    ------
    ImportingError, DotError
        If a file cannot be read.
    RecordingError
        If the recording cannot be written.
    UsageError
        If there are several traces, or ``output`` is one of the files.
    """
    for path in paths:
        check_not_itself(path, output)
    formats = {path: find_format(path) for path in paths}
    dots = [path for path, found in formats.items() if found is Format.DOT]
    traces = [path for path in formats if path not in dots]
    if len(traces) > 1:
        raise UsageError(
            f"{traces[0].name} and {traces[1].name} are both traces; import them one by one, "
            "'gviz merge' puts recordings together"
        )
    if not traces:
        return _import_dumps(dots, output, overwrite=overwrite, name=name, progress=progress)
    dumps = [dump for path in dots for dump in read_dumps(path)]
    if formats[traces[0]] is Format.NSYS:
        found = read_nsys(traces[0], progress=progress)
    elif formats[traces[0]] is Format.ROCPROF:
        found = read_rocprof(traces[0], most_bytes=most_bytes)
    else:
        found = [read_kineto(traces[0], progress=progress, most_bytes=most_bytes)]
    if progress is not None:
        progress(1.0)
    return _write(found, traces[0], output, dumps, overwrite=overwrite, name=name)


def _import_dumps(
    paths: Sequence[Path],
    output: Path,
    *,
    overwrite: bool,
    name: str | None,
    progress: ShareRead | None,
) -> list[str]:
    if len(paths) > 1:
        raise UsageError(
            f"{paths[0].name} and {paths[1].name} are both DOT dumps; import them one by one, or "
            "with the trace that they belong to"
        )
    import_dot(paths[0], output, overwrite=overwrite, name=name, progress=progress)
    return []


def _write(
    traces: Sequence[Trace],
    path: Path,
    output: Path,
    dumps: Sequence[Dump] = (),
    *,
    overwrite: bool,
    name: str | None,
) -> list[str]:
    with RecordingWriter(output, overwrite=overwrite) as writer:
        numbers = IdCounter()
        notes: list[str] = []
        for trace in traces:
            run = RunWriter(RunBuilder(writer, numbers))
            shown = storable(name or bare_name(path))
            if len(traces) > 1:
                shown += f" (process {trace.process_id})"
            notes += (text for _, text in run.write(trace, shown, path.name, dumps))
    return list(dict.fromkeys(notes))


def check_not_itself(path: Path, output: Path) -> None:
    """Refuse to replace a file by its own recording."""
    if output.exists() and path.exists() and output.samefile(path):
        raise UsageError(f"the recording would replace {path}; choose another --output")


def bare_name(path: Path) -> str:
    """Return a file's name without the suffixes of its format."""
    name = path.name
    for suffix in (".gz", ".json", ".pt.trace", ".trace", ".sqlite", ".dot"):
        name = name.removesuffix(suffix)
    return name or path.name

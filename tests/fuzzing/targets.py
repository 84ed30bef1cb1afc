"""Targets of fuzzing: for each honest inputs, how they are changed, and what reads them.

A new importer is one line in :data:`TARGETS`. What a target reads with is imported when it reads:
what guided fuzzing adds to code takes long for all of gviz.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import tarfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from kineto_traces import trace_of, write_trace
from life_recordings import write_life_recording
from memory_recordings import write_memory_recording
from nsys_exports import GLOBAL_PID, GLOBAL_TID, SCHEMAS, Export, export_of
from recordings import fork_join_shape, write_loop_recording, write_recording
from rocprof_traces import rocprof_of, write_rocprof
from whole_recording import write_whole_recording

from fuzzing.databases import mutate_database
from fuzzing.mutations import BINARY, TEXT, change_values, mutate, splice
from fuzzing.refusals import beside, check_refusal
from fuzzing.spools import read_records, write_mutated_spool, write_reduced_spool
from gviz.errors import GvizError
from gviz.recording.reader import Recording
from gviz.spool.records.format import SPOOL_SUFFIX

if TYPE_CHECKING:
    from gviz.cli.parser import CommandParser

_GOLDEN = Path(__file__).resolve().parent.parent / "golden"

#: Makes honest inputs in a folder.
Corpus = Callable[[Path], Sequence[Path]]
#: Writes a changed one of some inputs into a folder and returns it.
Mutate = Callable[[Random, Sequence[Path], Path], Path]


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads files: it must take a changed input, or refuse it by a GvizError.

    ``share`` is how many of 100 inputs over all targets are its: few where one takes long.
    """

    share: int
    corpus: Corpus
    mutate: Mutate
    read: Callable[[Path], None]


def read_dump(path: Path) -> None:
    """Import a DOT dump and read the recording that it became."""
    from gviz.formats.dot.importer import import_dot

    import_dot(path, path.with_suffix(".gviz"))
    _read_written(path.with_suffix(".gviz"))


def read_trace(path: Path) -> None:
    """Import a trace of PyTorch's profiler and read the recording that it became."""
    from gviz.formats.importer import import_kineto

    import_kineto(path, path.with_suffix(".gviz"))
    _read_written(path.with_suffix(".gviz"))


def read_rocprof(path: Path) -> None:
    """Import JSON of rocprofv3 and read the recording that it became."""
    from gviz.formats import import_files

    import_files([path], path.with_suffix(".gviz"))
    _read_written(path.with_suffix(".gviz"))


def read_export(path: Path) -> None:
    """Import an export of Nsight Systems and read the recording that it became."""
    from gviz.formats.importer import import_nsys

    import_nsys(path, path.with_suffix(".gviz"))
    _read_written(path.with_suffix(".gviz"))


def _read_written(path: Path) -> None:
    """Read a recording that gviz has written: no error is right here."""
    from gviz.report.summary import summarize

    try:
        with Recording(path) as recording:
            summarize(recording)
    except GvizError as error:
        raise AssertionError(f"gviz wrote what it refuses: {error}") from error


def fold_and_open(path: Path) -> None:
    """Fold a left-over spool and read what became of it."""
    from gviz.spool.processes.left_over import fold_left_over

    _read_written(fold_left_over(path))


def import_joined(path: Path) -> None:
    """Import a trace with the DOT dump beside it."""
    from gviz.formats.importer import import_files

    output = path.with_suffix(".gviz")
    import_files([path, beside(path).with_suffix(".dot")], output)
    _read_written(output)


def raise_last(*works: Callable[[], object]) -> None:
    """Do all work, and raise the GvizError of the last that was refused."""
    refused: list[GvizError] = []
    for work in works:
        try:
            work()
        except GvizError as error:
            check_refusal(error)
            refused.append(error)
    if refused:
        raise refused[-1]


def write_all(path: Path) -> None:
    """Write a recording in the forms that other targets do not."""
    from fuzzing.commands import WRITTEN_FORMS, export_as

    forms = (partial(export_as, form, path) for form in WRITTEN_FORMS)
    raise_last(partial(_recover, path), *forms)


def _recover(path: Path) -> None:
    from gviz.recording.salvage.salvage import recover_recording

    output = path.with_suffix(".recovered.gviz")
    recover_recording(path, output)
    _read_written(output)


@cache
def _withholding_parser() -> CommandParser:
    from gviz.cli.command_line import build_parser

    command = build_parser("export").command("export")
    command.withhold_defaults()
    return command


def compare_and_merge(path: Path) -> None:
    """Compare a recording with the one beside it, put both into one, and compare its runs."""
    from fuzzing.commands import compare_ranks
    from fuzzing.reading import look_at_both
    from gviz.recording.merge import merge_recordings

    merged = path.with_suffix(".merged.gviz")
    raise_last(
        partial(look_at_both, path),
        partial(merge_recordings, [path, beside(path)], merged, overwrite=True),
    )
    _read_written(merged)
    with suppress(GvizError), redirect_stdout(io.StringIO()):  # ranks that share no graph
        compare_ranks(merged)


def upgrade(path: Path) -> None:
    """Upgrade a recording of an older schema, and recover it, which not all can be."""
    try:
        _recover(path)
    except GvizError as error:
        check_refusal(error)
    _upgrade(path)


def _upgrade(path: Path) -> None:
    from gviz.recording.upgrades.upgrade import upgrade_recording

    output = path.with_suffix(".upgraded.gviz")
    upgrade_recording(path, output)
    _read_written(output)


def configure(path: Path) -> None:
    """Read a configuration as all that have a table of it do."""
    from gviz.cli.command_line import COMMANDS
    from gviz.cli.commands.compare.check import read_limits
    from gviz.cli.configured import fill_options

    command = _withholding_parser()
    parsed = argparse.Namespace(config=path)
    raise_last(
        partial(read_limits, path, has_baseline=True),
        partial(fill_options, command, parsed, "export", tuple(COMMANDS)),
    )


def mutate_text(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    """Change a text."""
    path = random.choice(corpus)
    data = path.read_bytes()
    if random.random() < 0.05:
        data = splice(random, data, random.choice(corpus).read_bytes())
    output = folder / f"input{path.suffix}"
    output.write_bytes(mutate(random, data, TEXT))
    return output


def mutate_json(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    """Change values of JSON, or in one of four its text."""
    if random.random() < 0.25:
        return mutate_text(random, corpus, folder)
    path = random.choice(corpus)
    output = folder / f"input{path.suffix}"
    output.write_text(change_values(random, path.read_text()))
    return output


def mutate_sqlite(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    """Change the rows or the schema of an SQLite file, or in one of four its bytes."""
    path = random.choice(corpus)
    output = folder / f"input{path.suffix}"
    if random.random() < 0.25:
        output.write_bytes(mutate(random, path.read_bytes(), BINARY))
    else:
        shutil.copyfile(path, output)
        mutate_database(random, output)
    if random.random() < 0.01:  # what an upload or an archive may hold
        moved = output.rename(folder / "elsewhere")
        output.symlink_to(random.choice((moved, output, folder)))
    return output


def mutate_pair(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    """Change a recording, and put another beside it, which is changed too in one of three."""
    output = mutate_sqlite(random, corpus, folder)
    other = beside(output)
    shutil.copyfile(random.choice(corpus), other)
    if random.random() < 0.33:
        mutate_database(random, other)
    return output


def mutate_spool(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    """Change the records of a spool."""
    output = folder / f"input.gviz{SPOOL_SUFFIX}"
    write_mutated_spool(random, read_records(random.choice(corpus)), output)
    return output


def mutate_joined(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    """Change a trace or the DOT dump beside it."""
    trace, dump = corpus
    output = folder / f"input{trace.suffix}"
    output.write_bytes(trace.read_bytes())
    other = beside(output).with_suffix(dump.suffix)
    other.write_bytes(dump.read_bytes())
    changed = random.choice((output, other))
    changed.write_bytes(mutate(random, changed.read_bytes(), TEXT))
    return output


def _dumps(folder: Path) -> Sequence[Path]:
    small = (p for p in (_GOLDEN / "dot").glob("*.dot") if p.stat().st_size < 40_000)
    return sorted(small)


def _recordings(folder: Path) -> Sequence[Path]:
    shape = fork_join_shape(1, 2, 1)
    return (
        write_recording(folder / "small.gviz", shape, launches=4, arguments=True),
        write_loop_recording(folder / "loop.gviz"),
        write_life_recording(folder / "life.gviz"),
        write_memory_recording(folder / "memory.gviz"),
        write_whole_recording(folder / "whole.gviz"),
    )


def _spools(folder: Path) -> Sequence[Path]:
    found = []
    for archive in sorted((_GOLDEN / "spools").glob("*.tar.xz")):
        name = archive.name.partition(".")[0]
        with tarfile.open(archive) as tar:
            tar.extractall(folder / f"{name}-whole", filter="data")
        found.append(write_reduced_spool(folder / f"{name}-whole", folder / name))
    return found


def _traces(folder: Path) -> Sequence[Path]:
    small = write_recording(folder / "small.gviz", fork_join_shape(1, 2, 1), launches=4)
    return (
        write_trace(trace_of(small), folder / "small.json", indent=2),
        write_trace(trace_of(small, node_ids=False), folder / "older.json", indent=2),
        write_trace(trace_of(small, launches=2), folder / "packed.json.gz", indent=2),
        write_trace(_annotated(trace_of(small, launches=2)), folder / "annotated.json", indent=2),
    )


def _rocprof(folder: Path) -> Sequence[Path]:
    return (
        write_rocprof(rocprof_of(launches=2), folder / "results.json"),
        write_rocprof(rocprof_of(launches=2, ids=False), folder / "older.json"),
        write_rocprof(rocprof_of(launches=1, calls=False), folder / "graphs.json"),
    )


def _annotated(trace: dict[str, Any]) -> dict[str, Any]:
    """Return a trace whose graph nodes say where they were captured, moved to lanes."""
    for event in trace["traceEvents"]:
        if "graph node id" in event["args"]:
            event["args"] |= {"name": "phase", "original_stream": event["args"]["stream"]}
            event["args"]["stream"] = event["tid"] = 60
    return trace


def _exports(folder: Path) -> Sequence[Path]:
    small = write_recording(folder / "small.gviz", fork_join_shape(1, 2, 1), launches=4)
    return [
        _export_of_whole_graphs(folder / "whole.sqlite"),
        *(export_of(trace_of(small), folder / f"{r}.sqlite", r) for r in SCHEMAS),
    ]


def _export_of_whole_graphs(path: Path) -> Path:
    """Write an export with a graph that is traced as a whole, and ranges in domains."""
    export = Export(path, "2026.2.1")
    host = {"globalTid": GLOBAL_TID}
    for name, start, correlation in (("cudaGraphInstantiate", 100, 4), ("cudaGraphLaunch", 300, 5)):
        export.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=start + 50, correlationId=correlation,
            nameId=export.text(f"{name}_v12000"), **host,
        )  # fmt: skip
    export.add("CUDA_GRAPH_EVENTS", start=110, end=110, eventClass=95, graphId=1, **host)
    export.add(
        "CUDA_GRAPH_EVENTS", start=120, end=120, eventClass=94, graphId=1, graphExecId=2, **host
    )
    for node, original in ((1 << 32, None), (2 << 32, 1 << 32)):
        export.add(
            "CUDA_GRAPH_NODE_EVENTS", start=105, end=105, graphNodeId=node,
            originalGraphNodeId=original, **host,
        )  # fmt: skip
    export.add(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=1000, end=1400, streamId=7, correlationId=5,
        globalPid=GLOBAL_PID, graphId=1, graphExecId=2,
    )  # fmt: skip
    export.add("NVTX_EVENTS", start=0, eventType=75, text="NCCL", domainId=1, **host)
    for kind in (59, 60):
        export.add(
            "NVTX_EVENTS", start=10, end=90, eventType=kind, domainId=1,
            textId=export.text("all_gather"), **host,
        )  # fmt: skip
    export.add("TARGET_INFO_GPU", id=3, name="GPU", cuDevice=0)
    export.add("TARGET_INFO_CUDA_DEVICE", gpuId=3, cudaId=0, pid=GLOBAL_PID >> 24)
    export.add("TARGET_INFO_SYSTEM_ENV", name="CudaDriverVersion", value="13000")
    return export.finish()


def _hip_dumps(folder: Path) -> Sequence[Path]:
    return sorted((_GOLDEN / "hip").glob("*.dot"))


def _own_dumps(folder: Path) -> Sequence[Path]:
    from gviz.formats.dot.export import to_dot

    small = write_recording(folder / "small.gviz", fork_join_shape(1, 2, 1), launches=4)
    loop = write_loop_recording(folder / "loop.gviz")
    found = []
    for path in (small, loop):
        with Recording(path) as recording:
            text = to_dot(recording, 1)
        found.append(path.with_suffix(".dot"))
        found[-1].write_text(text)
    return found


def _older(folder: Path) -> Sequence[Path]:
    return sorted((_GOLDEN / "recordings").glob("*.gviz"))


def _tables(folder: Path) -> Sequence[Path]:
    """Write tables that a page lays on a graph."""
    found = []
    for at, case in enumerate(json.loads((_GOLDEN.parent / "overlays.json").read_text())):
        found.append(folder / f"{at}-{case['file']}")
        found[-1].write_text(case["text"], encoding="utf-8", newline="")
    return found


def documented_limits() -> str:
    """Return the example of docs/check.md."""
    text = (_GOLDEN.parent.parent / "docs" / "check.md").read_text(encoding="utf-8")
    return text.partition("```toml\n")[2].partition("```")[0]


def _configurations(folder: Path) -> Sequence[Path]:
    """Write the documented example, with every other table, in both files there can be."""
    tables = f"""{documented_limits()}
[[ignore]]
rule = "below-one-wave"
graph = "decode*"

[files]
mode = "0640"

[options.export]
format = "svg"
launch = ["1", "all"]
"""
    own, project = folder / "gviz.toml", folder / "pyproject.toml"
    own.write_text(tables, encoding="utf-8")
    project.write_text(re.sub(r"^(\[+)", r"\1tool.gviz.", tables, flags=re.M), encoding="utf-8")
    return own, project


def mutate_configuration(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    """Change a configuration; what it is called says where its tables are."""
    path = random.choice(corpus)
    output = folder / path.name
    output.write_bytes(mutate(random, path.read_bytes(), TEXT))
    return output


def _joined(folder: Path) -> Sequence[Path]:
    """Write a trace and the dump of its graph."""
    from gviz.formats.dot.export import to_dot

    small = write_recording(folder / "small.gviz", fork_join_shape(1, 2, 1), launches=2)
    with Recording(small) as recording:
        dump = to_dot(recording, 1)
    path = folder / "small.dot"
    path.write_text(dump)
    return write_trace(trace_of(small), folder / "small.json", indent=2), path


def read_by_pages(path: Path) -> None:
    """Read a recording as every page does."""
    from fuzzing.reading import look_by_pages

    look_by_pages(path)


def read_by_commands(path: Path) -> None:
    """Read a recording as every command does."""
    from fuzzing.reading import look_by_commands

    look_by_commands(path)


def lay_table(path: Path) -> None:
    """Read a table that a page lays on a graph."""
    from gviz.overlay.overlay_file import read_overlay

    read_overlay(path)


def _requests(folder: Path) -> Sequence[Path]:
    from fuzzing.requests import write_requests

    return write_requests(folder)


def _mutate_request(random: Random, corpus: Sequence[Path], folder: Path) -> Path:
    from fuzzing.requests import mutate_request

    return mutate_request(random, corpus, folder)


def answer_request(path: Path) -> None:
    """Have the viewer answer a request."""
    from fuzzing.requests import read_request

    read_request(path)


TARGETS = {
    "dot": Target(9, _dumps, mutate_text, read_dump),
    "hip": Target(9, _hip_dumps, mutate_text, read_dump),
    "own dot": Target(9, _own_dumps, mutate_text, read_dump),
    "kineto": Target(9, _traces, mutate_text, read_trace),
    "rocprof": Target(4, _rocprof, mutate_json, read_rocprof),
    "nsys": Target(2, _exports, mutate_sqlite, read_export),
    "gviz": Target(2, _recordings, mutate_sqlite, read_by_pages),
    "commands": Target(1, _recordings, mutate_sqlite, read_by_commands),
    "two": Target(2, _recordings, mutate_pair, compare_and_merge),
    "older": Target(2, _older, mutate_sqlite, upgrade),
    "written": Target(2, _recordings, mutate_sqlite, write_all),
    "joined": Target(4, _joined, mutate_joined, import_joined),
    "overlay": Target(16, _tables, mutate_text, lay_table),
    "configuration": Target(16, _configurations, mutate_configuration, configure),
    "http": Target(11, _requests, _mutate_request, answer_request),
    "spool": Target(2, _spools, mutate_spool, fold_and_open),
}
#: Those whose inputs are two files, the second beside the first.
PAIRS = frozenset({"two", "joined"})

"""``gviz bench``: measure what graphs cost and save on this GPU."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.analysis import fit_lines, kept_folder, write_results
from gviz.cli.file_mode import add_mode
from gviz.cli.output import add_json, print_json, print_text
from gviz.cli.recording_path import file_path
from gviz.errors import CollectorError, UsageError
from gviz.recording import check_output, rows, written_sentence
from gviz.report import summarize_bench
from gviz.system import ProgressLine, inform

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers
    from gviz.collectors import Experiment, Gpu, Progress, Results

#: Version of the keys of its JSON.
BENCH_VERSION = 1
#: Exit code when it was interrupted, as a shell reports it.
_EXIT_INTERRUPTED = 130


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz bench``."""
    parser = subparsers.add_parser(
        "bench",
        help="measure what CUDA graphs cost and save on this GPU",
        description="Measure launches as stream and as graph, making and updating graphs, and "
        "more, on this GPU; write a recording, and keep a copy for the analysis of programs that "
        "run on the same GPU. Takes up to six minutes, with --quick less than one. The GPU should "
        "have nothing else to do; its clocks are left alone.",
    )
    parser.add_argument("--quick", action="store_true", help="fewer lengths, fewer readings")
    parser.add_argument(
        "-o", "--output", type=file_path, default=Path("bench.gviz"), help="default: bench.gviz"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace what is at OUTPUT")
    add_mode(parser)
    parser.add_argument("--device", type=int, default=0, help="CUDA device ordinal (default: 0)")
    parser.add_argument(
        "--no-keep", action="store_true", help="keep no copy in the user's data folder"
    )
    add_json(parser, "gpu, interrupted, warnings, gaps, seconds, figures, lines")


def run(arguments: argparse.Namespace) -> int:
    """Measure, write the recording and print what was found; 130 when interrupted."""
    from gviz.collectors import full_plan, quick_plan, run_bench

    if arguments.device < 0:
        raise UsageError(f"--device {arguments.device}: ordinals begin at 0")
    output: Path = arguments.output
    check_output(output, overwrite=arguments.overwrite)
    plan = (quick_plan if arguments.quick else full_plan)(arguments.device)
    started_ns = time.time_ns()
    try:
        with _progress() as progress:
            results = run_bench(plan, progress)
    except CollectorError as error:
        raise CollectorError(
            f"nothing can be measured: {error}; 'gviz doctor' says more. Figures of an H100 come "
            "with gviz: open 'gviz demo' and its page Launch costs"
        ) from error
    assert results.gpu is not None
    name = f"bench of {results.gpu.name}" + (" (quick)" if arguments.quick else "")
    _write(output, name, started_ns, results, arguments)
    if not arguments.no_keep and not results.interrupted:
        _keep(output, results.gpu)
    _print(output, results, as_json=arguments.json)
    return _EXIT_INTERRUPTED if results.interrupted else 0


@contextlib.contextmanager
def _progress() -> Iterator[Progress]:
    """Draw a bar on stderr where that is a terminal; else name each experiment once."""
    last: list[str] = []
    with ProgressLine() as line:

        def show(experiment: Experiment, share: float) -> None:
            if line.is_live:
                line.progress.at(share, experiment.title)
            elif last[-1:] != [experiment.name]:
                last.append(experiment.name)
                inform(f"gviz: measuring {experiment.title}")

        yield show


def _write(
    output: Path, name: str, started_ns: int, results: Results, arguments: argparse.Namespace
) -> None:
    from gviz.collectors import machine, process

    assert results.gpu is not None
    gpu = results.gpu
    given: dict[str, object] = {
        **machine(),
        **process(),
        "run_id": 1,
        "name": name,
        "state": "aborted" if results.interrupted else "completed",
        "source": "bench",
        "started_ns": started_ns,
        "ended_ns": time.time_ns(),
        "driver_version": gpu.driver_version,
    }
    fields = {field.name for field in dataclasses.fields(rows.Run)}
    run_row = rows.Run(**{key: value for key, value in given.items() if key in fields})  # type: ignore[arg-type]
    device = rows.Device(
        run_id=1,
        device_id=arguments.device,
        name=gpu.name,
        compute_capability=gpu.compute_capability,
        multiprocessor_count=gpu.multiprocessor_count,
        memory_bytes=gpu.memory_bytes,
        max_threads_per_multiprocessor=gpu.max_threads_per_multiprocessor,
        pci_bus_id=gpu.pci_bus_id,
    )
    warnings = list(results.warnings)
    if results.interrupted:
        warnings.insert(0, "interrupted: only what was measured until then is here")
    gaps = [(gap.experiment, gap.reason) for gap in results.gaps]
    write_results(
        output, run_row, device, results.figures, gaps, warnings, overwrite=arguments.overwrite
    )


def _keep(output: Path, gpu: Gpu) -> None:
    """Copy the recording to the user's folder, one file a GPU and driver; say so."""
    name = "".join(c if c.isalnum() else "-" for c in f"{gpu.name} {gpu.driver_version}")
    target = kept_folder() / f"{name.lower()}.gviz"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(output, target)
    except OSError as error:
        print(f"gviz: no copy was kept in {target.parent}: {error}", file=sys.stderr)
        return
    inform(f"gviz: a copy for analyses is kept as {target}")


def _print(output: Path, results: Results, *, as_json: bool) -> None:
    assert results.gpu is not None
    if as_json:
        print_json(
            {
                "bench_version": BENCH_VERSION,
                "gpu": dataclasses.asdict(results.gpu),
                "interrupted": results.interrupted,
                "warnings": results.warnings,
                "gaps": [dataclasses.asdict(gap) for gap in results.gaps],
                "seconds": results.seconds,
                "figures": [dataclasses.asdict(figure) for figure in results.figures],
                "lines": [dataclasses.asdict(line) for line in fit_lines(results.figures)],
            },
            indent=2,
        )
    else:
        print_text(summarize_bench(results.figures))
    for warning in results.warnings:
        print(f"gviz: warning: {warning}", file=sys.stderr)
    for gap in results.gaps:
        print(f"gviz: not measured: {gap.experiment}: {gap.reason}", file=sys.stderr)
    if results.interrupted:
        print("gviz: interrupted; what was measured is kept", file=sys.stderr)
    inform(written_sentence(output))

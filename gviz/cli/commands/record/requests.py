"""Requests of ``gviz start`` and ``gviz stop`` to programs under ``gviz run --paused``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gviz.cli.output import add_json, print_json, print_text
from gviz.collectors import (
    AwaitedProcess,
    RecordedProcess,
    Request,
    RequestAnswer,
    find_awaited,
    find_recorded,
)
from gviz.errors import CollectorError, UsageError

_MEANINGS = {
    RequestAnswer.STARTED: "records from now on; 'gviz stop {0}' ends that",
    RequestAnswer.RECORDING: "records already; 'gviz stop {0}' ends that",
    RequestAnswer.STOPPED: "records no more; 'gviz start {0}' goes on; its end writes the file",
    RequestAnswer.WAITING: "has not used CUDA so far; it, and what it starts, records from the "
    "first use of CUDA on; 'gviz stop {0}' takes that back",
    RequestAnswer.PAUSED: "does not record now; 'gviz start {0}' begins",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what both commands take."""
    parser.add_argument(
        "process_id",
        type=int,
        metavar="PID",
        help="process id of the program, or of what started it, such as gviz run",
    )
    parser.add_argument(
        "--all", action="store_true", help="also those of its children that are recorded"
    )
    add_json(
        parser, "processes (process_id, answer: started, recording, waiting, stopped or paused)"
    )


def send_requests(arguments: argparse.Namespace, request: Request, *, version: int) -> int:
    """Send a request and print the answers; return 0."""
    answers = [
        (process.process_id, process.send(request))
        for process in _chosen(arguments.process_id, request, everyone=arguments.all)
    ]
    if arguments.json:
        processes = [{"process_id": one, "answer": str(answer)} for one, answer in answers]
        print_json({f"{request}_version": version, "processes": processes})
        return 0
    for process_id, answer in answers:
        print_text(f"process {process_id} {_MEANINGS[answer].format(process_id)}")
    return 0


def _chosen(
    process_id: int, request: Request, *, everyone: bool
) -> Sequence[RecordedProcess | AwaitedProcess]:
    if process_id < 1:
        raise UsageError(f"{process_id} is no process id; give the number that 'ps ux' shows")
    found = find_recorded(process_id)
    if everyone:
        awaited = find_awaited(process_id)
        return found if awaited is None or awaited in found else [*found, awaited]
    if found[0].process_id == process_id or len(found) == 1:
        return found[:1]
    names = ", ".join(str(one.process_id) for one in found)
    raise CollectorError(
        f"process {process_id} started {len(found)} that are recorded: {names}; name one, or all "
        f"with 'gviz {request} --all {process_id}'"
    )

"""Commands that read a recording, each as one call that does its work or raises a GvizError."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import gviz.cli.commands.compare.diff
import gviz.cli.commands.compare.trend
from fuzzing.targets import documented_limits
from gviz.agents import Allowed, Desk, RecordingSet, all_verbs
from gviz.analysis import analysis_to_json, analyze
from gviz.checks import check_recording, parse_limits, report_to_json, to_junit
from gviz.cli.command_line import CommandModule, build_parser, load_command
from gviz.cli.commands.look.info import to_json
from gviz.cli.recording_path import find_recording
from gviz.errors import GvizError
from gviz.formats import draw_graphs, draw_launch, to_dot, write_trace
from gviz.recording.reader import Recording
from gviz.recording.rows import VIEWS
from gviz.report import (
    analysis_documents,
    check_document,
    document_to_json,
    info_document,
    render_markdown,
    render_text,
    render_texts,
    summarize,
)

#: Graphs that are exported.
_GRAPHS = 3
#: Forms of ``gviz export`` that hold a whole recording.
WRITTEN_FORMS = ("html", "csv", "parquet")


def diff(before: Path, after: Path) -> None:
    """Compare two recordings, their times and their values."""
    given = {
        "before": before,
        "after": after,
        "more": [],
        "graph": None,
        "all": True,
        "json": False,
    }
    for values in (False, True):
        gviz.cli.commands.compare.diff.run(argparse.Namespace(**given, values=values))


def trend(*paths: Path) -> None:
    """Show recordings one after the other."""
    gviz.cli.commands.compare.trend.run(
        argparse.Namespace(recordings=list(paths), all=True, json=True)
    )


def _inform(path: Path) -> None:
    """Make both forms of ``gviz info`` of one summary."""
    with Recording(find_recording(path)) as recording:
        summary = summarize(recording, slowest=10)
    json.dumps(to_json(summary), indent=2)
    render_text(info_document(summary, counters=True), 100)


def _analyze(path: Path) -> None:
    """Make both forms of ``gviz analyze`` of one analysis."""
    with Recording(find_recording(path)) as recording:
        found = analyze(recording)
    documents = analysis_documents(found)
    report = [document_to_json(document) for document in documents]
    json.dumps({**analysis_to_json(found), "report": report})
    render_texts(documents, 100)


def _check(path: Path) -> None:
    """Hold a recording against the documented limits, and against itself."""
    limits = parse_limits(tomllib.loads(documented_limits())["check"])
    with Recording(path) as recording:
        report = check_recording(recording, recording, limits)
    json.dumps(report_to_json(report))
    to_junit(report)
    document = check_document(report)
    render_text(document, 100)
    render_markdown(document)


def _node(path: Path) -> None:
    graph, node = _first_node(path)
    for form in ((), ("--json",)):
        _run("node", path, str(node), "--graph", str(graph), *form)


def _values(path: Path) -> None:
    graph, node = _first_node(path)
    for words in ((), (str(node), "--json")):
        _run("values", path, *words, "--graph", str(graph))


def _what_if(path: Path) -> None:
    graph, node = _first_node(path)
    for edits in ((), ("--off", str(node), "--json")):
        _run("what-if", path, "--graph", str(graph), *edits)


def compare_ranks(path: Path) -> None:
    """Compare the runs of a recording, which ``gviz skew`` takes for ranks."""
    _run("skew", path, "--all")


def _query(path: Path) -> None:
    for view in VIEWS:
        _run("query", path, f"SELECT * FROM {view.name}", "--json")


def _ask_verbs(path: Path) -> None:
    """Ask each verb of ``gviz mcp``."""
    desk = Desk(RecordingSet([path]), all_verbs(Allowed()))
    graph, node = _first_node(path)
    given = {"graph": graph, "node": node, "baseline": path.name, "candidate": path.name}
    # A PNG is made of the SVG picture, by a Chromium that is started for it.
    given |= {"sql": "SELECT * FROM v_node", "form": "svg"}
    refused = []
    for verb in desk.verbs.values():
        wanted = {one.name for one in verb.parameters}
        reply = desk.ask(verb.name, {n: value for n, value in given.items() if n in wanted})
        if reply.is_refusal:
            refused.append(f"{verb.name} is {reply.text}")
    if refused:
        raise GvizError("; ".join(refused))


def _ask_fleet(path: Path) -> None:
    """Make a data set of a recording and ask what ``gviz fleet report`` asks."""
    from fleets import mapper_here

    from gviz.fleet import build_fleet, find_sources, read_report, report_to_json
    from gviz.report import fleet_document

    with Recording(path) as recording:
        if not recording.is_whole:  # what is left of it is not put beside whole ones
            return
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "fleet")
        build_fleet(find_sources([str(path)]), target, mapper_here)
        report = read_report(target)
        json.dumps(report_to_json(report))
        render_text(fleet_document(report), 100)


def _export(path: Path) -> None:
    """Write each graph in the formats of ``gviz export`` that are of graphs."""
    with Recording(path) as recording, tempfile.TemporaryDirectory() as folder:
        graphs = [g.graph_id for g in recording.fetch_graphs() if g.parent_graph_id is None]
        for graph in graphs[:_GRAPHS]:
            to_dot(recording, graph)
        draw_graphs(recording, graphs[:_GRAPHS], "light")
        write_trace(recording, Path(folder) / "x.json", graphs)
        for graph in graphs[:_GRAPHS]:
            draw_launch(recording, graph, None, "light")


def export_as(form: str, path: Path) -> None:
    """Write a recording in a form of ``gviz export``."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        _run("export", path, "--format", form, "-o", str(Path(folder) / f"written.{form}"))


#: By the names of commands; each may be several works.
READING: dict[str, Sequence[Callable[[Path], None]]] = {
    "info": (_inform,),
    "analyze": (_analyze,),
    "what-if": (_what_if,),
    "node": (_node,),
    "values": (_values,),
    "query": (_query,),
    "mcp": (_ask_verbs,),
    "diff": (lambda path: diff(path, path),),
    "trend": (lambda path: trend(path, path),),
    "skew": (compare_ranks,),
    "fleet": (_ask_fleet,),
    "check": (_check,),
    "export": (_export, *(partial(export_as, form) for form in WRITTEN_FORMS)),
}
#: Commands that do not stand above, and what looks at a recording as they do.
ELSEWHERE = {
    "view": "the pages and payloads of fuzzing.reading",
    "demo": "view of other files",
    "merge": "fuzzing.targets.compare_and_merge",
    "upgrade": "fuzzing.targets.upgrade",
    "recover": "fuzzing.targets.write_all",
    "import": "reads no recording: targets of their own",
    **dict.fromkeys(("run", "start", "stop", "top"), "records"),
    **dict.fromkeys(("skill", "bench", "completion", "doctor"), "reads no recording"),
}


def reading_works(path: Path) -> Iterator[Callable[[], None]]:
    """Yield the work of each command on a recording."""
    for works in READING.values():
        for work in works:
            yield partial(work, path)


def _first_node(path: Path) -> tuple[int, int]:
    """Return the first graph that has nodes, and its first node; GvizError: there is none."""
    with Recording(path) as recording:
        for graph in recording.fetch_graphs():
            for node in recording.fetch_nodes(graph.graph_id)[:1]:
                return graph.graph_id, node.node_id
    raise GvizError(f"{path} has no graph with nodes to look at")


def _run(name: str, path: Path, *arguments: str) -> None:
    command, parser = _command(name)
    command.run(parser.parse_args([str(path), *arguments]))


@cache
def _command(name: str) -> tuple[CommandModule, argparse.ArgumentParser]:
    return load_command(name), build_parser(name).command(name)

"""Numbers of graphs and nodes mean nothing: with other ones every output is equal but for them."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal

import numpy as np
import polars
import pytest
from inspected import inspected
from nested_recordings import NESTED, NESTED_CHANGED, write_nested_recording
from places import ROOT
from rank_recordings import step_with_loop, write_nested_ranks
from recordings import write_loop_recording
from renumbered import (
    new_node_ids,
    new_numbers,
    renumber,
    renumber_nodes,
    with_old_node_ids,
    with_old_numbers,
)
from saved_file import SavedFile
from shown_pages import render_page

import gviz
from gviz.app.components.addresses import Addresses, Sides
from gviz.app.files.library import Library
from gviz.app.pages.compare.choice import choose_graph
from gviz.app.pages.compare.comparison import compare_sides
from gviz.app.pages.compare.inspector import compared_inspector
from gviz.app.pages.compare.page import render_compared
from gviz.app.pages.compare.table_rows import TABLES, compared_table
from gviz.app.pages.compare.timeline import both_timelines
from gviz.app.pages.compare.trend import trend_body
from gviz.app.pages.compare.union_dag import UnionRequest, union_dag
from gviz.app.pages.report.page import report_body
from gviz.app.pages.report.reports import build_report
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import dag_payload, level_memory_payload, timeline_payload
from gviz.app.views.table.table import table_payload
from gviz.app.views.wire import unpack
from gviz.cli.command_line import main
from gviz.comparison.trend import build_trend
from gviz.recording.merge import merge_recordings
from gviz.recording.reader import Recording

# Many made-up cases: these eight files would be a sixth of what the quick tests take.
pytestmark = pytest.mark.thorough

Numbers = Mapping[int, int]
#: Launches as the timeline shows them.
LAUNCHES: tuple[Literal["median", "all"] | None, ...] = (None, "median", "all")
Output = Callable[[Path, Numbers], str]
#: A step with a loop on two ranks; collectives come later on the second.
RANKS = [step_with_loop((3, 5, 4)), step_with_loop((3, 5, 4), arrival_ns=6_000)]


@cache
def written(name: str) -> Path:
    """Return a recording with bodies in bodies; child graphs and loops; of a real run."""
    folder = Path(mkdtemp())
    if name == "nested":
        return write_nested_recording(folder / "x.gviz", NESTED)
    if name == "loop":
        return write_loop_recording(folder / "x.gviz")
    if name == "ranks":
        return merge_recordings(write_nested_ranks(folder, RANKS), folder / "x.gviz")
    return ROOT / "assets" / "recordings" / f"{name}.gviz"


@cache
def with_numbers(name: str, seed: int | None = None) -> tuple[Path, Numbers]:
    """Return a recording whose graphs have new numbers of one length: at random, or in order."""
    path = written(name)
    numbers = new_numbers(path, seed)
    return renumber(path, Path(mkdtemp()) / "x.gviz", numbers), numbers


@cache
def with_node_ids(name: str, seed: int | None = None) -> Path:
    """Return a recording with numbers in order whose node ids are others, too."""
    path, _ = with_numbers(name)
    return renumber_nodes(path, Path(mkdtemp()) / "x.gviz", new_node_ids(seed))


def printed(*arguments: str) -> Output:
    """Return what a command prints of a recording."""

    def output(path: Path, numbers: Numbers) -> str:
        out = io.StringIO()
        command = [arguments[0], str(path), *arguments[1:]]
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            assert main(command) == 0
        return out.getvalue().replace(str(path), "FILE")

    return output


#: Limits of ``gviz check`` on everything that it looks at in a graph.
LIMITS = """
[check]
critical_path = "1 us"
nodes = 3
lanes = 1
[check.findings]
any = 0
[check.regression]
launch = "0%"
critical_path = "0%"
node = "0%"
nodes = 0
"""


@cache
def other_files() -> tuple[str, str]:
    """Return a recording to compare with, and a configuration."""
    folder = Path(mkdtemp())
    (folder / "gviz.toml").write_text(LIMITS)
    path = write_nested_recording(folder / "other.gviz", NESTED_CHANGED)
    return str(path), str(folder / "gviz.toml")


def compared(command: str, *options: str) -> Output:
    """Return what a command prints of another recording and this one."""

    def output(path: Path, numbers: Numbers) -> str:
        other, config = other_files()
        arguments = [str(path), "--baseline", other, "--config", config]
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            main([command, *(arguments if command == "check" else [other, str(path)]), *options])
        assert len(out.getvalue()) > 150
        return out.getvalue().replace(str(path), "FILE")

    return output


def exported(*arguments: str, suffix: str = "") -> Output:
    """Return what ``gviz export`` writes of a recording."""

    def output(path: Path, numbers: Numbers) -> str:
        target = Path(mkdtemp()) / f"out{suffix}"
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert main(["export", str(path), *arguments, "-o", str(target)]) == 0
        if target.is_dir():
            return "\n".join(_rows(file, numbers) for file in sorted(target.iterdir()))
        data = target.read_bytes()
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()

    return output


def _rows(file: Path, numbers: Numbers) -> str:
    """Return a table's rows in an order without numbers: tables are by their keys."""
    if file.suffix == ".parquet":
        table = polars.read_parquet(file)
        lines = with_old_numbers("\n".join(map(repr, table.rows())), numbers).splitlines()
        return "\n".join([file.name, repr(table.schema), *sorted(lines)])
    lines = with_old_numbers(file.read_text(), numbers).splitlines()
    return "\n".join([file.name, *sorted(lines)])


def saved_page(path: Path, numbers: Numbers) -> str:
    """Return the page that ``gviz export`` saves of a recording, its data as text."""
    target = Path(mkdtemp()) / "out.html"
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        assert main(["export", str(path), "--format", "html", "-o", str(target)]) == 0
    page = SavedFile.read(target)
    blobs = page.blobs()
    texts = [re.sub(r'(?<=">)H4sI[^<]*', "DATA", page.text)]
    for name, data in blobs.items():
        if name.startswith("arrays-"):
            continue
        if name.startswith("dag-"):
            texts.append(f"{name}: {_unpacked(data)}")
            continue
        content = json.loads(data)
        for header in content.get("headers", ()) if name.startswith("graph-") else ():
            arrays = blobs[name.replace("graph-", "arrays-")]
            header["arrays"] = {
                array: np.frombuffer(arrays, f"<{x['dtype']}", x["length"], x["offset"]).tolist()
                for array, x in header["arrays"].items()
            }
        texts.append(f"{name}: {content!r}")
    return "\n".join(texts)


def pages(path: Path, numbers: Numbers) -> str:
    """Return all texts of the pages of a file, and of the inspector on each of its nodes."""
    library = Library([path])
    file = library.files()[0].key
    addresses = Addresses("/")
    shown = [("/", ""), ("/run", f"?file={file}&run=1")]
    shown += [("/graph", f"?file={file}&graph={g}") for g in numbers.values()]
    found = [str(render_page(library, addresses, *page)[0].to_plotly_json()) for page in shown]
    for graph_id in numbers.values():
        view = graph_view(library, file, graph_id)
        for key in view.tree.key[:40].tolist():
            found.append(inspected(library, file, view, (key,)))
    return "\n".join(found).replace(str(path), "FILE").replace(library.file(file).version, "V")


def reports(path: Path, numbers: Numbers) -> str:
    """Return the Report page of each graph that is launched."""
    library = Library([path])
    (opened,) = library.files()
    launched = (g.graph_id for g in opened.recording.fetch_graphs() if g.parent_graph_id is None)
    found = [
        str(report_body(build_report(opened, number), opened.key, Addresses("/")))
        for number in launched
    ]
    return "\n".join(found).replace(str(path), "FILE")


def compare_page(path: Path, numbers: Numbers) -> str:
    """Return the Compare page of another recording and this one, with all that it loads."""
    other, _ = other_files()
    library, addresses = Library([Path(other), path]), Addresses("/")
    before, after = library.files()
    search = f"?a={before.key}&b={after.key}"
    head = render_page(library, addresses, "/compare", search)[0]
    graph = choose_graph(before, after)
    if graph is None:  # no graph of one is a graph of the other
        return str(head)
    sides = Sides(before.versioned_key, after.versioned_key, graph)
    found = compare_sides(library, sides)
    recordings = before.recording, after.recording
    keys = Sides(before.key, after.key)
    shown = [str(head), str(render_compared(found, [], can_share=True))]
    shown.append(str(compared_inspector(found, keys, (), addresses)))
    shown += [compared_table(found, name).decode() for name in TABLES]
    holding = [f"n{key}" for key in found.page.bodies]
    requests = [UnionRequest(level) for level in range(len(found.page))]
    requests.append(UnionRequest(opened=frozenset(holding)))
    loaded = [union_dag(found, recordings, (before.key, after.key), one) for one in requests]
    loaded.append(both_timelines(found, recordings, sides, None, (before.keep, after.keep)))
    shown += map(_unpacked, loaded)
    return "\n".join(shown).replace(str(path), "FILE").replace(after.version, "V")


def trend_page(path: Path, numbers: Numbers) -> str:
    """Return the Trend page of another recording and this one."""
    other, _ = other_files()
    library = Library([Path(other), path])
    found = build_trend([file.recording for file in library.files()])
    keys = {str(file.recording.path): file.key for file in library.files()}
    return str(trend_body(found, keys, Addresses("/"))).replace(str(path), "FILE")


def _unpacked(payload: bytes) -> str:
    """Return a payload as text."""
    header, arrays = unpack(payload)
    return repr(header) + repr({name: array.tolist() for name, array in arrays.items()})


def payloads(path: Path, numbers: Numbers) -> str:
    """Return what pages of a file ask for, as text."""
    library = Library([path])
    file = library.files()[0].key
    found = []
    with Recording(path) as recording:
        for graph_id in numbers.values():
            found.append(table_payload(graph_view(library, file, graph_id)).decode())
            for payload in (
                dag_payload(recording, graph_id),
                *(
                    timeline_payload(recording, graph_id, at, None)
                    for at in (None, "median", "all")
                ),
                level_memory_payload(recording, graph_id, None),
            ):
                found.append(_unpacked(payload))
    return "\n".join(found)


def opened(path: Path, numbers: Numbers) -> str:
    """Return what ``gviz.open`` gives of a file's graphs."""
    with gviz.open(path) as recording:
        (run,) = recording.runs
        graphs = {graph.row.graph_id: graph for graph in run.all_graphs}
        found = [recording._repr_html_(), repr(recording)]
        for graph in (graphs[number] for number in numbers.values()):
            found.append(repr([body.row.graph_id for body in graph.bodies]))
            for what in ("nodes", "edges", "launches", "spans"):
                values = graph.frame(what).values.items()
                found.append(repr({name: list(map(str, column)) for name, column in values}))
    return "\n".join(found).replace(str(path), "FILE")


OUTPUTS: dict[str, Output] = {
    "info": printed("info"),
    "info --json": printed("info", "--json"),
    "analyze": printed("analyze"),
    "analyze --json": printed("analyze", "--json"),
    "diff": compared("diff"),
    "diff --json": compared("diff", "--json"),
    "check": compared("check", "--json"),
    "dot": exported("--format", "dot"),
    "svg": exported("--format", "svg"),
    "svg of a launch": exported("--format", "svg", "--timeline"),
    "perfetto": exported("--format", "perfetto", suffix=".json"),
    "html": saved_page,
    "csv": exported("--format", "csv"),
    "parquet": exported("--format", "parquet"),
    "trend": compared("trend"),
    "trend --json": compared("trend", "--json"),
    "pages": pages,
    "Report page": reports,
    "Compare page": compare_page,
    "Trend page": trend_page,
    "payloads": payloads,
    "gviz.open": opened,
}
#: Outputs of several runs.
OF_RANKS: dict[str, Output] = {
    "skew": printed("skew"),
    "skew --json": printed("skew", "--json"),
}


@cache
def output_before(name: str, output: str) -> str:
    """Return an output with numbers in order."""
    path, numbers = with_numbers(name)
    return with_old_numbers((OUTPUTS | OF_RANKS)[output](path, numbers), numbers)


@cache
def output_in_order(name: str, output: str) -> str:
    """Return an output of a recording whose node ids are far apart, all equally."""
    ids = new_node_ids()
    renumbered = with_node_ids(name)
    return with_old_node_ids((OUTPUTS | OF_RANKS)[output](renumbered, with_numbers(name)[1]), ids)


@pytest.mark.parametrize(
    ("name", "seed", "output"),
    [
        *product(("nested",), (2,), OUTPUTS),
        *product(("loop",), (0,), OUTPUTS),
        *product(("ranks",), (1, 2), OF_RANKS),
    ],
)
def test_numbers_of_graphs_change_no_output(name: str, seed: int, output: str) -> None:
    other, numbers = with_numbers(name, seed)
    after = with_old_numbers((OUTPUTS | OF_RANKS)[output](other, numbers), numbers)
    assert after == output_before(name, output)


@pytest.mark.parametrize(
    ("name", "output"),
    [
        *product(("nested",), OUTPUTS),
        *(pytest.param("loop", output, marks=pytest.mark.thorough) for output in OUTPUTS),
        *product(("ranks",), OF_RANKS),
    ],
)
def test_node_ids_change_no_output(name: str, output: str) -> None:
    ids = new_node_ids(seed=3)
    other = with_node_ids(name, 3)
    after = with_old_node_ids((OUTPUTS | OF_RANKS)[output](other, with_numbers(name)[1]), ids)
    assert after == output_in_order(name, output)

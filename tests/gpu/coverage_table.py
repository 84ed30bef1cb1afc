"""Measure what gviz records, times and maps to source, for each framework and node kind.

Run on a machine with a GPU::

    python -P tests/gpu/coverage_table.py                          # prints the table
    python -P tests/gpu/coverage_table.py --write docs/frameworks.md   # and puts it in its place

Every line comes from a recording made just now; a program whose modules are missing, or that
fails, is named as such and has no lines.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

import numpy as np  # noqa: E402
from framework_programs import PROGRAMS, profiled, run_script  # noqa: E402

from gviz.cuda.node_type import node_type_name  # noqa: E402
from gviz.model import read_node, read_tree  # noqa: E402
from gviz.recording import rows  # noqa: E402
from gviz.recording.reader import Recording  # noqa: E402

BEGIN = "<!-- coverage table: made by tests/gpu/coverage_table.py, do not edit -->"
END = "<!-- end of the coverage table -->"


@dataclass(slots=True)
class Kind:
    """Counts of one kind of node in the graphs of one program."""

    nodes: int = 0
    timed: int = 0
    mapped: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The kinds of one program, or why there are none."""

    framework: str
    kinds: dict[str, Kind]
    failure: str | None = None


def main() -> int:
    """Measure, print, and write where asked; return 1 if a program failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", type=Path, metavar="DOCUMENT")
    document = parser.parse_args().write
    versions: dict[str, str] = {}
    outcomes = [*measure_programs(versions), measure_kinds(versions)]
    text = "\n".join(render(outcomes, versions))
    print(text)
    if document is not None:
        before, _, rest = document.read_text().partition(BEGIN)
        _, found, after = rest.partition(END)
        if not found:
            sys.exit(f"{document} has no lines {BEGIN!r} and {END!r}; put them where it belongs")
        document.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
    failed = [o for o in outcomes if o.failure and not o.failure.startswith("not installed")]
    for outcome in failed:
        print(f"{outcome.framework}: {outcome.failure}", file=sys.stderr)
    return 1 if failed else 0


def measure_programs(versions: dict[str, str]) -> Iterator[Outcome]:
    """Yield the outcome of every framework's program."""
    for name, program in PROGRAMS.items():
        missing = [module for module in program.needs if not _is_installed(module)]
        if missing:
            yield Outcome(program.framework, {}, f"not installed: {', '.join(missing)}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / f"{name}.gviz"
            done = run_script(Path(folder), profiled(program.text, output))
            if done.returncode != 0:
                yield Outcome(program.framework, {}, f"failed: {_last_line(done.stderr)}")
                continue
            yield Outcome(program.framework, kinds_of(output, versions))


def measure_kinds(versions: dict[str, str]) -> Outcome:
    """Return the outcome of the contract's program that makes every kind through the driver."""
    framework = "CUDA driver API, from Python"
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "kinds.gviz"
        path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
        arguments = ["real_kinds", "gviz", str(output), json.dumps({})]
        done = subprocess.run(
            [sys.executable, "-P", str(TESTS / "contract" / "programs.py"), *arguments],
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode != 0:
            return Outcome(framework, {}, f"failed: {_last_line(done.stderr)}")
        return Outcome(framework, kinds_of(output, versions))


def kinds_of(path: Path, versions: dict[str, str]) -> dict[str, Kind]:
    """Return what a recording says about each kind of node in graphs that were launched."""
    kinds: dict[str, Kind] = {}
    with Recording(path) as recording:
        (run,) = recording.fetch_runs()
        versions["driver's CUDA"] = str(run.driver_version)
        versions["CUPTI API"] = str(run.cupti_version)
        versions["Python"] = str(run.python_version)
        versions |= {x.name: x.version for x in recording.fetch_libraries(run.run_id)}
        versions |= {f"GPU {d.device_id}": d.name for d in recording.fetch_devices(run.run_id)}
        graphs = recording.fetch_graphs()
        for top in graphs:
            if top.parent_graph_id is not None or not recording.fetch_launches(top.graph_id):
                continue
            spans = recording.fetch_graph_spans(top.graph_id)
            with_times = set(zip(spans.graph_id.tolist(), spans.node_id.tolist(), strict=True))
            forward = _forward_nodes(recording, top)
            for level in _family(top, graphs):
                for node in recording.fetch_nodes(level.graph_id):
                    kind = kinds.setdefault(_kind_name(node, level), Kind())
                    kind.nodes += 1
                    kind.timed += (node.graph_id, node.node_id) in with_times
                    called = forward.get((node.graph_id, node.node_id), node)
                    kind.mapped += _leads_to_program(recording, called)
                    kind.reason = kind.reason or node.not_timed_reason or node.stack_reason
    return kinds


def _forward_nodes(recording: Recording, top: rows.Graph) -> dict[tuple[int, int], rows.Node]:
    """Return the first node of the forward operation of each of autograd's nodes, by its key."""
    tree = read_tree(recording, top.graph_id)
    forward = tree.operations.forward
    keys = [(tree.level_of(i).graph.graph_id, tree.nodes[i].node_id) for i in range(len(tree))]
    return {
        keys[i]: read_node(recording, tree, int(forward[i]))
        for i in np.flatnonzero(forward >= 0).tolist()
    }


def _family(top: rows.Graph, graphs: list[rows.Graph]) -> list[rows.Graph]:
    found = [top]
    for level in graphs:
        if any(level.parent_graph_id == known.graph_id for known in found):
            found.append(level)
    return found


def _kind_name(node: rows.Node, level: rows.Graph) -> str:
    inside = "" if level.parent_graph_id is None else " in a body"
    return node_type_name(node.type) + inside


def _leads_to_program(recording: Recording, node: rows.Node) -> bool:
    """Return whether a node's stack holds a line of the program itself."""
    if node.stack_id is None:
        return False
    return any(
        frame.file.endswith(("program.py", "programs.py"))
        for frame in recording.fetch_stack(node.stack_id)
    )


def render(outcomes: list[Outcome], versions: dict[str, str]) -> Iterator[str]:
    """Yield the lines of the table and what it was measured with."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    yield f"Measured on {today}: " + ", ".join(f"{k} {v}" for k, v in versions.items()) + "."
    yield ""
    yield "| framework | node kind | recorded | timed | mapped to source | why not |"
    yield "| --- | --- | ---: | ---: | ---: | --- |"
    for outcome in outcomes:
        if outcome.failure:
            yield f"| {outcome.framework} | | | | | {_cell(outcome.failure)} |"
        for row, (name, kind) in enumerate(outcome.kinds.items()):
            framework = outcome.framework if row == 0 else ""
            complete = kind.timed == kind.nodes == kind.mapped
            why = "" if complete else _cell(kind.reason or "no launch took this way")
            yield f"| {framework} | {name} | {kind.nodes} | {kind.timed} | {kind.mapped} | {why} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


if __name__ == "__main__":
    sys.exit(main())

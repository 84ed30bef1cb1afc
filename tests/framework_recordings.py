"""Recordings of the frameworks' programs, each made once, and the graphs that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import pytest
from framework_programs import Program, profiled, run_script

from gviz.recording import rows
from gviz.recording.reader import Recording


class Record(Protocol):
    """Records a program by its name, once for each way of recording it."""

    def __call__(self, name: str, how: str = "profile", options: str = "") -> Recording:
        """Return the recording by ``gviz.profile`` or, of how ``run``, by ``gviz run``."""


@contextmanager
def recorder(programs: Mapping[str, Program], folders: pytest.TempPathFactory) -> Iterator[Record]:
    """Return what records these programs; skips a test whose program lacks a module."""
    opened: dict[tuple[str, str, str], Recording] = {}

    def record(name: str, how: str = "profile", options: str = "") -> Recording:
        key = (name, how, options)
        if key in opened:
            return opened[key]
        for module in programs[name].needs:
            pytest.importorskip(module)
        folder = folders.mktemp(f"{name}-{how}")
        output = folder / "out.gviz"
        if how == "run":
            command = ("-m", "gviz", "run", "-o", str(output), *options.split())
            done = run_script(folder, programs[name].text, *command)
        else:
            done = run_script(folder, profiled(programs[name].text, output, options))
        assert done.returncode == 0, done.stderr
        opened[key] = Recording(output)
        return opened[key]

    yield record
    for recording in opened.values():
        recording.close()


def launched(recording: Recording) -> list[rows.Graph]:
    """Return the top-level graphs that were launched, in order of instantiation."""
    return [
        g
        for g in recording.fetch_graphs()
        if g.parent_graph_id is None and recording.fetch_launches(g.graph_id)
    ]


def nodes_with_nested(recording: Recording, graph: rows.Graph) -> list[rows.Node]:
    """Return the nodes of a graph and of the bodies nested in it."""
    levels = [graph]
    for level in recording.fetch_graphs():
        if any(level.parent_graph_id == found.graph_id for found in levels):
            levels.append(level)
    return [node for level in levels for node in recording.fetch_nodes(level.graph_id)]

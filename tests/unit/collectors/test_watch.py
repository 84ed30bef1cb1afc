"""gviz.watch without a recording, and what it takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gviz
from gviz.collectors.watching import collection as watching
from gviz.collectors.watching.handed_graph import Watched, watch
from gviz.errors import UsageError


class _Executable:
    __module__ = "cuda.core._graph"
    handle = 0x20

    def __init__(self) -> None:
        self.launched: list[object] = []

    def launch(self, stream: object) -> None:
        self.launched.append(stream)


class _Definition:
    __module__ = "cuda.core.graph"
    handle = 0x10

    def __init__(self) -> None:
        self.made = _Executable()

    def instantiate(self) -> _Executable:
        return self.made


class _Stream:
    handle = 0x30


def test_watch_is_exported() -> None:
    assert gviz.watch is watch


def test_nothing_to_watch_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="nothing to watch"):
        watch()


def test_unknown_object_is_named() -> None:
    with pytest.raises(UsageError, match="object is no graph that gviz knows"):
        watch(object())


def test_handle_without_executable_cannot_be_launched() -> None:
    with pytest.raises(UsageError, match="graph_exec="):
        watch(0x1234).launch()


def test_executable_of_cuda_core_is_launched_by_itself() -> None:
    graph, stream = _Executable(), _Stream()
    watched = watch(graph)
    watched.launch(stream)
    assert graph.launched == [stream]


def test_definition_is_instantiated_once_at_the_first_launch() -> None:
    definition, stream = _Definition(), _Stream()
    watched = watch(definition)
    assert isinstance(watched, Watched)
    watched.launch(stream)
    watched.launch(stream)
    assert definition.made.launched == [stream, stream]


def test_without_a_profile_nothing_is_current() -> None:
    assert watching.current() is None


def test_collectors_import_no_numpy_into_the_program() -> None:
    modules = "gviz.collectors.session, gviz.collectors.watching.handed_graph, sys"
    code = f"import {modules}; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"

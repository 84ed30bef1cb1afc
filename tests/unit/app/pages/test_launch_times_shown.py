"""The time of a launch, and of its nodes, is the same median with n and spread on all surfaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import gviz.assets
from gviz.analysis.results.launch_lengths import launch_length
from gviz.analysis.subject import GraphSubject
from gviz.app.files.library import Library
from gviz.app.pages.head import time_facts
from gviz.app.pages.runs import _run_facts
from gviz.app.views.graph_data import graph_view
from gviz.app.views.run_view import file_views
from gviz.model.launch_time import launch_times, node_times
from gviz.recording.reader import Recording
from gviz.report.document import plain, spread_ends
from gviz.report.document.evidence_text import launch_text
from gviz.report.info.info_verdict import length_of

RECORDINGS = Path(gviz.assets.__path__[0]) / "recordings"
#: With one undisturbed launch, with many, and without events around launches.
NAMES = ("training_step", "decode_step_h200", "token_step_1", "nested_torch")


@pytest.fixture(params=NAMES)
def path(request: pytest.FixtureRequest) -> Path:
    return RECORDINGS / f"{request.param}.gviz"


@pytest.fixture
def library(path: Path) -> Iterator[Library]:
    library = Library([path])
    yield library
    library.close()


def test_page_card_info_and_analysis_say_the_same_median(path: Path, library: Library) -> None:
    with Recording(path) as recording:
        times = launch_times(recording, 1)
        devices = recording.fetch_devices(1)
        analysed = launch_length(GraphSubject(recording, recording.fetch_graph(1), devices))
    assert times.count > 2, "a median of one or two says little"
    shown = launch_text(times)
    assert f"median of {times.count}, {spread_ends(times.low_ns, times.high_ns)}" in shown
    (opened,) = library.files()
    with opened.at():
        page = {name: value for name, value, _ in time_facts(graph_view(library, opened.key, 1))}
        (run,) = file_views(opened)
        card = {name: value for name, value, _ in _run_facts(run)}
    assert page["Launch GPU time"] == card["Launch"] == shown == plain(length_of(times))
    assert (analysed.median_ns, analysed.evidence.n) == (times.median_ns, times.count)
    assert (analysed.low_ns, analysed.high_ns) == (times.low_ns, times.high_ns)


def test_node_time_is_a_median_of_sums_by_launch(path: Path, library: Library) -> None:
    with Recording(path) as recording:
        launches = [x for x in recording.fetch_launches(1, "graph") if x.span_count]
        sums = [int(recording.fetch_spans(x.launch_id).duration_ns.sum()) for x in launches]
        found = node_times(recording, 1, 1)
    assert found.median_ns == np.median(sums)
    assert (found.count, found.low_ns) == (len(sums), pytest.approx(np.percentile(sums, 5)))
    (opened,) = library.files()
    with opened.at():
        page = {name: value for name, value, _ in time_facts(graph_view(library, opened.key, 1))}
        (run,) = file_views(opened)
    assert page["Node time"] == launch_text(found) == launch_text(run.graphs[0].node_time)
    assert run.largest_node_time_ns == found.median_ns

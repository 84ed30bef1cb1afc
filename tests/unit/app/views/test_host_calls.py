"""The host's calls beside a launch: which overlap it, and what they are called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import gviz.assets
from gviz.app.views.payload import timeline_payload
from gviz.app.views.timeline.host_calls import call_arrays, find_calls
from gviz.app.views.wire import Strings, unpack
from gviz.recording.reader import Recording

RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"


@pytest.fixture
def training() -> Iterator[Recording]:
    with Recording(RECORDINGS / "training_step.gviz") as recording:
        yield recording


def test_calls_that_touch_an_interval_are_not_in_it(training: Recording) -> None:
    first, second = training.fetch_launches(1)[:2]
    assert first.host_end_ns is not None
    assert second.host_start_ns is not None
    assert find_calls(training, 1, first.host_end_ns, second.host_start_ns) == []
    found = find_calls(training, 1, first.host_end_ns - 1, second.host_start_ns + 1)
    assert [(c.name, c.ordinal) for c in found] == [("cuGraphLaunch", 0), ("cuGraphLaunch", 1)]


def test_calls_of_a_graphs_life_are_among_them(training: Recording) -> None:
    begin = min(call.start_ns for call in training.fetch_api_calls(1))
    first = training.fetch_launches(1)[0]
    assert first.host_start_ns is not None
    names = [c.name for c in find_calls(training, 1, begin, first.host_start_ns)]
    assert names == [
        "cuStreamBeginCapture_v2",
        "cuStreamEndCapture",
        "cuGraphInstantiateWithFlags",
        "cuGraphDestroy",
    ]


def test_launches_queued_behind_the_shown_one_are_named(training: Recording) -> None:
    # The program does not wait: the host is four launches ahead and then blocked by the queue.
    header, a = unpack(timeline_payload(training, 1, training.fetch_launches(1)[3].launch_id, None))
    assert header["graph"]["zero"] == "launch before"
    names = [header["strings"][i] for i in a["graph_call_name"]]
    assert names == ["cuGraphLaunch #7", "cuGraphLaunch #8"]
    assert (a["graph_call_start_ns"] < header["graph"]["total_ns"]).all()
    assert (a["graph_call_end_ns"] > 0).all()


def test_own_call_has_no_number(training: Recording) -> None:
    launch = training.fetch_launches(1)[0]
    strings = Strings()
    found = call_arrays(training, launch, launch.host_start_ns or 0, 1e6, strings)
    assert strings.to_list() == ["cuGraphLaunch"]
    assert found["graph_call_start_ns"].tolist() == [0.0]

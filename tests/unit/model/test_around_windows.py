"""Plain launches before, between and after windows."""

from __future__ import annotations

from pathlib import Path

import pytest
from recordings import fork_join_shape, write_recording

from gviz.model.around_windows import EDGE_NS, PlainLaunches, plain_launches
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.report.info.recording_document import info_document
from gviz.report.renderers.text_form import render_text
from gviz.report.summary import summarize

#: When plain launches begin, a second apart, and their times.
FIRST_NS = 10**18
TIMES_NS = (100, 110, 120, 300, 310, 150, 130)


def _more(writer: RecordingWriter) -> None:
    for place, time_ns in enumerate(TIMES_NS):
        start_ns = FIRST_NS + place * 10**9
        writer.insert(
            rows.Launch(
                launch_id=1_000 + place,
                run_id=1,
                graph_id=1,
                graph_exec_id=1,
                side="graph",
                ordinal=1_000 + place,
                host_start_ns=start_ns,
                host_end_ns=start_ns + 50,
                event_duration_ns=time_ns,
            )
        )


def _window(at: int, start: float, end: float | None) -> rows.Window:
    end_ns = None if end is None else FIRST_NS + int(end * 1e9)
    start_ns = FIRST_NS + int(start * 1e9)
    return rows.Window(run_id=1, window_id=at, start_ns=start_ns, end_ns=end_ns, reason="launches")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording whose seven last launches are plain."""
    path = tmp_path_factory.mktemp("plain") / "x.gviz"
    return write_recording(path, fork_join_shape(), launches=0, eager=False, more=_more)


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([], []),
        ([(-1.0, -0.5)], [("after", 7, 130.0)]),
        # Launches in windows are not plain, whatever their rows say.
        (
            [(0.5, 1.5), (3.5, 5.5)],
            [("before", 1, 100.0), ("between", 2, 210.0), ("after", 1, 130.0)],
        ),
        # A window that is open at the end has nothing after it.
        ([(2.5, None)], [("before", 3, 110.0)]),
        # Next to the edges CUPTI comes and goes.
        ([(3.0 + EDGE_NS / 2e9, 5.0 - EDGE_NS / 2e9)], [("before", 3, 110.0), ("after", 1, 130.0)]),
    ],
)
def test_plain_launches_lie_around_windows(
    recording: Path,
    windows: list[tuple[float, float | None]],
    expected: list[tuple[str, int, float]],
) -> None:
    with Recording(recording) as opened:
        (graph,) = opened.fetch_graphs()
        made = [_window(at, *window) for at, window in enumerate(windows)]
        found = plain_launches(opened, graph, made)
    assert found == tuple(PlainLaunches(*one) for one in expected)


def test_info_says_what_plain_launches_took(recording: Path) -> None:
    with Recording(recording) as opened:
        text = render_text(info_document(summarize(opened)), 1000)
    expected = (
        "Plain launches around windows, median between events: 130 ns before the first window"
    )
    assert expected in text

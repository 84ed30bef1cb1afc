"""GPU times of a graph's launches, of those that recording disturbed least."""

from __future__ import annotations

from places import ROOT

from gviz.model.launch_time import launch_times
from gviz.recording.reader import Recording
from gviz.report.document.evidence_text import launch_text

_SERVER = ROOT / "assets" / "recordings" / "decode_server.gviz"


def test_where_copies_ran_in_all_later_launches_only_the_first_says_how_long_one_is() -> None:
    with Recording(_SERVER) as recording:
        times = {
            graph.name: launch_times(recording, graph.graph_id)
            for graph in recording.fetch_graphs()
        }
        second = next(g for g in recording.fetch_graphs() if g.name == "decode, batch 2")
        first, *rest = recording.fetch_launches(second.graph_id)
    assert all(launch.is_by_copy for launch in rest)
    found = times["decode, batch 2"]
    assert (found.median_ns, found.count) == (first.event_duration_ns, 1)
    assert launch_text(found) == "244 µs (plain, only the first)"
    assert launch_text(times["decode, batch 16"]).startswith("184 µs (plain, median of 9")

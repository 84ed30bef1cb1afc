"""The page Launch costs: whose figures it shows, and what it says about them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from app_tree import links, texts
from cost_recordings import write

from gviz.analysis.launch_costs.lookup import Figures
from gviz.analysis.launch_costs.recorded import (
    bundled_costs,
    find_costs,
    read_figures,
    read_lines,
)
from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.pages.launch_cost_charts import sections
from gviz.app.server.application import render_page
from gviz.recording.reader import Recording

ADDRESSES = Addresses("/")


def page(library: Library, search: str = "") -> str:
    return texts(render_page(library, ADDRESSES, "/bench", search)[0])


def test_without_a_bench_the_bundled_one_is_shown_and_reported_to_be(small_recording: Path) -> None:
    shown = page(Library([small_recording]))
    assert "figures that come with gviz" in shown
    assert "gviz bench" in shown
    assert "NVIDIA H100" in shown


def test_an_open_bench_is_shown_instead(small_recording: Path, tmp_path: Path) -> None:
    library = Library([small_recording, write(tmp_path / "mine.gviz", "GPU Mine")])
    for search in ("", "?file=mine", "?file=mine&run=1"):
        shown = page(library, search)
        assert "GPU Mine" in shown
        assert "come with gviz" not in shown
    assert "not told" in page(library)  # the reason of a gap
    assert "busy" in page(library)  # a warning


@pytest.mark.parametrize("search", ["?file=small", "?file=nothing", "?file=mine&run=7"])
def test_what_is_no_bench_is_a_message(small_recording: Path, tmp_path: Path, search: str) -> None:
    library = Library([small_recording, write(tmp_path / "mine.gviz")])
    shown = page(library, search)
    assert "Not here" in shown
    assert "Launch costs" not in shown


def test_every_page_and_the_run_lead_to_it(tmp_path: Path) -> None:
    library = Library([write(tmp_path / "mine.gviz")])
    run = render_page(library, ADDRESSES, "/run", "?file=mine&run=1")[0]
    assert "/bench?file=mine&run=1" in links(run)


def test_every_experiment_of_the_bundled_bench_has_a_chart_and_a_line() -> None:
    with Recording(bundled_costs()) as recording:
        figures, lines = read_figures(recording, 1), read_lines(recording, 1)
        (run,) = recording.fetch_runs()
    assert (run.state, run.host, run.command) == ("completed", None, "gviz bench")
    charts = sections(Figures(figures))
    assert len(charts) == 16
    assert not any(re.search(r"\bus\b", repr(one.body)) for one in charts)
    names = {(line.subject, line.quantity) for line in lines}
    assert names >= {("stream", "host"), ("relaunch", "host"), ("relaunch", "device")}
    found = find_costs("NVIDIA H100 80GB HBM3", "13.0", given=[bundled_costs()])
    assert found is not None
    assert found.fits == "same"


def test_nothing_measured_is_reported() -> None:
    assert sections(Figures([])) == []

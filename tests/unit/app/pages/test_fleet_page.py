"""The Fleet page: maps, charts and tables of a data set, and the way to a rank's graph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from admitted import admitted_client
from app_tree import by_id, links, texts, walk
from flask.testing import FlaskClient
from fleet_recordings import Truth, write_fleet
from fleets import mapper_here, needs_fleet
from waiting import eventually

from gviz.app.components.addresses import Addresses
from gviz.app.components.canvases import Chart
from gviz.app.files.library import Library
from gviz.app.pages.fleet.overviews import Overviews
from gviz.app.pages.fleet.page import show_fleet
from gviz.app.server.access.security import AccessRules
from gviz.app.server.address_page import landing_address, render_page
from gviz.app.server.application import build_app
from gviz.errors import RecordingError
from gviz.fleet import build_fleet, find_rank, find_sources

pytestmark = [needs_fleet, pytest.mark.thorough]

ADDRESSES = Addresses("/")
LOCAL = {"Host": "localhost", "Origin": "http://localhost"}
TRUTH = Truth(
    ranks=8, seed=3, slow={5: (2, 2.0)}, divergent=frozenset({1}), throttled=frozenset({6})
)


class Patient(Overviews):
    """Waits until an overview is made: a test has nothing else to do."""

    def find(self, opened, graph, patience_s=60.0):  # type: ignore[no-untyped-def]
        return super().find(opened, graph, patience_s)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("recordings")
    list(write_fleet(folder, TRUTH))
    target = str(tmp_path_factory.mktemp("fleet") / "job")
    build_fleet(find_sources([str(folder)]), target, mapper_here)
    return target


@pytest.fixture
def library(fleet: str) -> Library:
    return Library([], fleet=fleet)


@pytest.fixture
def client(library: Library) -> FlaskClient:
    access = AccessRules()
    client: FlaskClient = admitted_client(build_app(library, access).server, access)
    return client


def body(library: Library, graph: int = 0) -> Any:
    found, again = show_fleet(Patient(), library, {"graph": graph}, 0, ADDRESSES)
    assert not isinstance(again, int)
    return found


def charts(found: Any) -> dict[str, Chart]:
    return {x.id.removeprefix("chart-"): x for x in walk(found) if isinstance(x, Chart)}


def traces(chart: Chart) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chart.figure["data"]
    return found


def test_a_fleet_alone_begins_at_its_page(library: Library) -> None:
    assert landing_address(library, ADDRESSES) == "/fleet"
    page, _, title = render_page(library, ADDRESSES, "/fleet", "")
    assert title == "Fleet – gviz"
    assert by_id(page, "fleet-view").data == {"graph": 0}
    runs = render_page(library, ADDRESSES, "/", "")[0]
    assert "/fleet" in links(runs)


def test_the_overview_is_begun_before_a_browser_asks_for_it(
    library: Library, fleet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[str, int]] = []
    monkeypatch.setattr(
        "gviz.app.pages.fleet.overviews.read_overview", lambda *asked: begun.append(asked)
    )
    build_app(library, AccessRules())
    eventually(lambda: begun == [(fleet, 0)], "the overview")


def test_maps_have_the_slow_rank_in_its_layer(library: Library) -> None:
    drawn = charts(body(library))
    assert set(drawn) == {"fleet-work", "fleet-waits", "fleet-spread", "fleet-time"}
    (work,), (waits,) = traces(drawn["fleet-work"]), traces(drawn["fleet-waits"])
    # Rank 1 launches another graph: it has no row in this one's map.
    assert len(work["z"]) == len(waits["z"]) == 7
    slowest = max((z, row, column) for row, line in enumerate(work["z"])
                  for column, z in enumerate(line))  # fmt: skip
    assert slowest[0] == pytest.approx(100, abs=10)
    assert work["text"][slowest[1]][slowest[2]] == "rank 5 on node0000, layer 2"
    # Ranks are counted: there is no half of one.
    assert drawn["fleet-spread"].figure["layout"]["yaxis"]["dtick"] == 1
    waiting = [line[2] for line in waits["z"]]
    assert waiting.index(min(waiting)) == slowest[1]
    assert min(waiting) < 0.5 < 5 < max(waiting)


def test_a_cell_of_a_map_says_the_clock_and_temperature_of_its_gpu(library: Library) -> None:
    for name in ("fleet-work", "fleet-waits"):
        (drawn,) = traces(charts(body(library))[name])
        assert "%{hovertext}" in drawn["hovertemplate"]
        states = dict(
            zip([0, 2, 3, 4, 5, 6, 7], (row[0] for row in drawn["hovertext"]), strict=True)
        )
        lowered = {rank for rank, state in states.items() if "clock lowered by" in state}
        assert lowered == {6}
        assert all(
            re.search(r"busy: 1,?\d{3} MHz, [5-9]\d\S* °C", state) for state in states.values()
        )


def test_another_graph_is_chosen_in_the_address(library: Library) -> None:
    assert "/fleet?graph=1" in links(body(library))
    (work,) = traces(charts(body(library, 1))["fleet-work"])
    assert work["text"][0][0] == "rank 1 on node0000, layer 0"
    assert "There is no overview" in texts(body(library, 2))


def test_the_tables_are_those_of_the_report_with_links(library: Library) -> None:
    found = body(library)
    stated = texts(found)
    assert "1 rank of 8 slower than the others" in stated
    assert "Waits for ranks" in stated
    assert any(href.startswith("/fleet/open?rank=6.1") for href in links(found))


def test_a_rank_opens_the_page_of_its_graph(
    client: FlaskClient, library: Library, fleet: str
) -> None:
    opens = charts(body(library))["fleet-work"].open
    for _ in range(2):
        answer = client.get(f"{opens}6.1", headers=LOCAL)
        assert (answer.status_code, answer.location) == (302, "/graph?file=rank00005&graph=1")
    assert [file.key for file in library.files()] == ["rank00005"]
    assert find_rank(fleet, 6, 1, None).graph_id == 1


@pytest.mark.parametrize("query", ["", "?rank=x", "?rank=99.1", "?rank=6.1&graph=1.0"])
def test_what_the_data_set_does_not_name_is_refused(client: FlaskClient, query: str) -> None:
    answer = client.get(f"/fleet/open{query}", headers=LOCAL)
    assert answer.status_code == 404
    assert "rank" in answer.text


def test_a_recording_that_is_gone_is_said(client: FlaskClient, fleet: str) -> None:
    place = Path(find_rank(fleet, 1, 1, None).url)
    moved = place.rename(place.with_suffix(".moved"))
    try:
        answer = client.get("/fleet/open?rank=1.1", headers=LOCAL)
        assert "is not there any more" in answer.text
    finally:
        moved.rename(place)


def test_without_a_data_set_the_page_says_how(small_recording: Path) -> None:
    page = render_page(Library([small_recording]), ADDRESSES, "/fleet", "")[0]
    assert "gviz fleet build" in texts(page)


def test_neither_recording_nor_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no recording to show"):
        Library([])
    with pytest.raises(RecordingError, match="is no data set of a fleet"):
        Library([], fleet=str(tmp_path))

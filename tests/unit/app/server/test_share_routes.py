"""Files that Share downloads: one that begins with what the page showed, or a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from admitted import admitted_client
from flask.testing import FlaskClient
from places import ROOT
from saved_file import SavedFile, part_text
from waiting import eventually

from gviz.app.files import Library
from gviz.app.html_file.file import write_html
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import build_app
from gviz.errors import RecordingError
from gviz.overlay import OverlayFile
from gviz.recording import Recording

LOCAL = {"Host": "localhost"}
BUNDLED = ROOT / "assets" / "recordings"


def client_of(*files: Path, overlays: Sequence[OverlayFile] = ()) -> FlaskClient:
    access = AccessRules()
    app = build_app(Library(files, overlays), access)
    return admitted_client(app.server, access)


def saved(client: FlaskClient, path: str, state: str, folder: Path) -> SavedFile:
    answer = client.get(path, query_string={"state": state}, headers=LOCAL)
    assert answer.status_code == 200, answer.text
    # A browser never shows it as a page of this server.
    assert answer.mimetype == "application/octet-stream"
    file = folder / "shared.html"
    file.write_bytes(answer.data)
    return SavedFile.read(file)


def test_file_has_the_state_the_launch_and_the_verdict(
    small_recording: Path, tmp_path: Path
) -> None:
    state = "file=small&graph=1&node=1004&launch=7&colour=kind"
    found = saved(client_of(small_recording), "/payload/saved/small/1", state, tmp_path)
    assert found.json("file")["state"] == state
    graph = found.json("graph-1")
    assert set(graph["timeline"]) == {"7", "median"}
    assert graph["verdict"] is not None
    assert "gviz view small.gviz" in graph["note"]


def test_overlays_of_the_server_are_sent_and_not_written(
    small_recording: Path, tmp_path: Path
) -> None:
    overlay = OverlayFile("energy.csv", b"node,energy\n1004,2.5\n")
    client = client_of(small_recording, overlays=[overlay])
    page = client.get("/payload/page/small/1", headers=LOCAL).json
    assert page is not None
    (laid,) = page["overlays"]
    assert laid["name"] == "energy.csv"
    answer = client.get(laid["source"], headers=LOCAL)
    assert (answer.data, answer.mimetype) == (overlay.text, "application/octet-stream")
    assert client.get("/payload/overlay/1", headers=LOCAL).status_code == 404
    # What lies on the graph the page puts into the file, also what was dropped on it.
    found = saved(client, "/payload/saved/small/1", "graph=1", tmp_path)
    assert not [name for name in found.blobs() if name.startswith("overlay")]


def test_tables_are_about_the_recording_that_they_name(
    small_recording: Path, tmp_path: Path
) -> None:
    steps = [BUNDLED / f"token_step_{i}.gviz" for i in (1, 2)]
    laid = [OverlayFile(f"{n}.csv", b"node,x\n1,2\n", f"token_step_{n}") for n in (1, 2)]
    laid.append(OverlayFile("both.csv", b"node,x\n1,2\n"))
    client = client_of(*steps, small_recording, overlays=laid)

    def names(path: str) -> list[tuple[str, str | None]]:
        def overlays() -> list[dict[str, str]] | None:
            page = client.get(f"/payload/{path}", headers=LOCAL).json
            assert page is not None
            return None if "waiting" in page else page["overlays"]  # while graphs are compared

        return [(one["name"], one.get("side")) for one in eventually(overlays, "a page")]

    assert names("page/token_step_2/1") == [("2.csv", None), ("both.csv", None)]
    compared = "compared/page?a=token_step_1&b=token_step_2"
    assert names(compared) == [("1.csv", "A"), ("2.csv", "B"), ("both.csv", None)]
    output = tmp_path / "both.html"
    write_html(steps[1], output, [1], baseline=steps[0], overlays=laid)
    found = SavedFile.read(output)
    assert [x.get("side") for x in found.json("overlays")] == ["A", "B", None]
    assert len(found.json("side-1-A")["key"]) > len(found.json("side-1-B")["key"])
    with pytest.raises(RecordingError, match="is about token_step_2, which is not open"):
        client_of(small_recording, overlays=laid[1:])


def test_table_about_one_graph_lies_on_it_and_its_bodies_alone(tmp_path: Path) -> None:
    lives, nested = (BUNDLED / f"{name}.gviz" for name in ("graph_lives", "nested_torch"))
    table = b"node,x\n1,2\n"
    laid = [OverlayFile("four.csv", table, "graph_lives", 4)]
    laid.append(OverlayFile("one.csv", table, "nested_torch", 1))
    client = client_of(lives, nested, overlays=laid)

    def names(path: str) -> list[str]:
        page = client.get(f"/payload/page/{path}", headers=LOCAL).json
        assert page is not None
        return [one["name"] for one in page["overlays"]]

    assert names("graph_lives/4") == ["four.csv"]
    assert names("graph_lives/1") == []
    with Recording(nested) as recording:
        bodies = [g.graph_id for g in recording.fetch_graphs() if g.parent_graph_id == 1]
    assert [names(f"nested_torch/{graph}") for graph in (1, *bodies)] == [["one.csv"]] * 3
    output = tmp_path / "lives.html"
    write_html(lives, output, [1, 4], overlays=laid[:1])
    assert [one["graphs"] for one in SavedFile.read(output).json("overlays")] == [[4]]
    write_html(nested, tmp_path / "nested.html", [1], overlays=laid[1:])
    (one,) = SavedFile.read(tmp_path / "nested.html").json("overlays")
    assert sorted(one["graphs"]) == sorted([1, *bodies])
    with pytest.raises(RecordingError, match="about graph 99 of graph_lives, which has 1, "):
        client_of(lives, overlays=[OverlayFile("x.csv", table, "graph_lives", 99)])


def test_file_has_the_baseline_that_the_page_is_compared_with(tmp_path: Path) -> None:
    steps = [BUNDLED / f"token_step_{i}.gviz" for i in (1, 2)]
    state = "a=token_step_1&b=token_step_2&graph=1"
    found = saved(client_of(*steps), "/payload/saved/token_step_2/1", state, tmp_path)
    graph = found.json("graph-1")
    assert (graph["compares"], graph["name"]) == (True, "token_step_1 → token_step_2")
    # It begins with the sentence, and the waterfall stands in the inspector.
    page = " ".join(part_text(graph["parts"], graph["page"]).split())
    assert "2 kernels became 1, 5.56 µs" in page
    assert page.index("2 kernels became 1") < page.index("Both graphs")
    inspector = part_text(graph["parts"], graph["nothing"])
    assert inspector.strip().startswith("Where the launch's time changed")


def test_file_compares_the_two_graphs_of_the_page(tmp_path: Path) -> None:
    client = client_of(BUNDLED / "graph_lives.gviz")
    state = "a=graph_lives&b=graph_lives&graph=4:5"
    found = saved(client, "/payload/saved/graph_lives/5", state, tmp_path)
    assert found.json("graph-5")["name"] == "graph_lives → graph_lives"


def test_what_cannot_be_saved_is_a_sentence(small_recording: Path) -> None:
    client = client_of(small_recording)
    answer = client.get("/payload/saved/small/77", headers=LOCAL)
    assert (answer.status_code, answer.mimetype) == (404, "text/plain")
    query = {"state": "a=none&b=small&graph=1"}
    answer = client.get("/payload/saved/small/1", query_string=query, headers=LOCAL)
    assert (answer.status_code, answer.mimetype) == (404, "text/plain")
    assert "no open recording is called 'none'" in answer.text
    answer = client.get("/payload/saved/small@0123/1", headers=LOCAL)
    assert answer.status_code == 409


def test_failure_of_the_writer_is_passed_on(
    small_recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(small_recording)
    monkeypatch.setattr("gviz.app.server.share_routes._launch", lambda *_: ["--launch", "999"])
    answer = client.get("/payload/saved/small/1", headers=LOCAL)
    assert answer.status_code == 404
    assert answer.text.startswith("there is no launch #999 with node times")

"""A graph page's HTML: what is there at once, what follows when it is made, whole either way."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from flask.testing import FlaskClient

from gviz.app.files.library import Library
from gviz.app.server import application, first_page
from gviz.app.server.application import build_app
from gviz.app.server.security import AccessRules

PAGE = "/graph?file=small&graph=1"
HOST = {"Host": "localhost"}
GZIP = {**HOST, "Accept-Encoding": "gzip"}


@pytest.fixture
def client(small_recording: Path) -> Iterator[FlaskClient]:
    library = Library([small_recording])
    client = build_app(library, AccessRules("t")).server.test_client()
    client.get("/?token=t", headers=HOST)
    yield client
    library.close()


def test_what_loads_and_a_sign_come_before_the_page_is_made(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, render = Event(), application.render_page

    def slow(*arguments: object) -> object:
        assert go_on.wait(60)
        return render(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(application, "render_page", slow)
    answer = client.get(PAGE, headers=GZIP)
    parts = iter(answer.response)
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    first = reader.decompress(next(parts)).decode()
    assert first.count('as="script"') == 1  # gviz's own: Dash draws nothing yet
    assert first.rstrip().endswith("<p>Loading…</p></div>")
    assert "gv-first-page" not in first
    go_on.set()
    rest = b"".join(map(reader.decompress, parts)).decode()
    assert reader.eof
    assert rest.index("/payload/dag/small@") < rest.index("gv-first-page")
    assert rest.index("gv-first-page") < rest.index("react-entry-point")
    assert rest.rstrip().endswith("</html>")


@pytest.mark.parametrize(("quick_s", "scripts"), [(60.0, True), (0.0, False)])
def test_dash_is_fetched_early_only_where_the_server_has_time(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, quick_s: float, scripts: bool
) -> None:
    monkeypatch.setattr(first_page, "_QUICK_S", quick_s)
    text = client.get(PAGE, headers=HOST).text
    after = text[text.index("gv-first-page") :]
    assert ('as="script"' in after) == scripts
    assert "dash_mantine_components" in after  # run in any case


def test_plain_and_compressed_are_the_same_page(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_page, "_QUICK_S", 60.0)
    plain, packed = (client.get(PAGE, headers=headers) for headers in (HOST, GZIP))
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    # But for a token of Dash's.
    unpacked = zlib.decompress(packed.data, 16 + zlib.MAX_WBITS)
    assert len(unpacked) == len(plain.data)
    assert unpacked.splitlines()[:5] == plain.data.splitlines()[:5]
    assert unpacked.splitlines()[-1] == plain.data.splitlines()[-1]
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert packed.headers["Content-Security-Policy"] == plain.headers["Content-Security-Policy"]


def test_the_title_goes_with_the_page_and_is_no_html(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = application.render_page

    def titled(*arguments: object) -> object:
        content, steps, _ = render(*arguments)  # type: ignore[arg-type]
        return content, steps, '"><script>x</script>'

    monkeypatch.setattr(application, "render_page", titled)
    text = client.get(PAGE, headers=HOST).text
    assert 'data-title="&quot;&gt;&lt;script&gt;x&lt;/script&gt;"' in text


def test_a_page_that_fails_is_left_to_dash(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> object:
        raise OSError("the disk is gone")

    monkeypatch.setattr(application, "render_page", fail)
    answer = client.get(PAGE, headers=HOST)
    assert answer.status_code == 200
    assert "react-entry-point" in answer.text
    assert "gv-first-page" not in answer.text
    assert "gv-first-wait" in answer.text


def test_other_pages_are_sent_whole(client: FlaskClient) -> None:
    answer = client.get("/", headers=HOST)
    assert answer.headers["Content-Length"] == str(len(answer.data))
    assert "gv-first-wait" not in answer.text

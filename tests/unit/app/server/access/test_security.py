"""Access to recordings: codes and sessions, Host, Origin, headers, and paths outside the assets."""

from __future__ import annotations

import re
import urllib.parse
from pathlib import Path

import pytest
from admitted import admit
from flask.testing import FlaskClient
from places import ROOT

from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import create_app

LOCAL = {"Host": "localhost:8765"}
GATED = [
    "/",
    "/run?file=small&run=1",
    "/graph?file=small&graph=1",
    "/assets/styles/page.css",
    "/_dash-layout",
    "/_dash-dependencies",
    "/payload/dag/small/1",
    "/payload/timeline/small/1",
    "/payload/table/small/1",
    "/_dash-component-suites/dash/deps/react@18.3.1.min.js",
    "/no/such/page",
]


@pytest.fixture
def access() -> AccessRules:
    return AccessRules()


@pytest.fixture
def stranger(small_recording: Path, access: AccessRules) -> FlaskClient:
    return create_app([small_recording], access).server.test_client()


@pytest.fixture
def client(stranger: FlaskClient, access: AccessRules) -> FlaskClient:
    return admit(stranger, access)


@pytest.mark.parametrize("path", GATED)
def test_request_without_session_is_refused_in_one_sentence(
    stranger: FlaskClient, path: str
) -> None:
    answer = stranger.get(path, headers=LOCAL)
    assert answer.status_code == 403
    assert answer.mimetype == "text/plain"
    assert answer.text.count("\n") == 1
    assert "not admitted" in answer.text


@pytest.mark.parametrize("path", GATED[:-2])
def test_request_with_cookie_is_answered(client: FlaskClient, path: str) -> None:
    assert client.get(path, headers=LOCAL, buffered=True).status_code == 200


def test_code_sets_strict_cookie_and_leaves_the_address(
    stranger: FlaskClient, access: AccessRules
) -> None:
    code = access.admission.new_code()
    answer = stranger.get(f"/graph?file=small&code={code}&graph=1", headers=LOCAL)
    cookie = answer.headers["Set-Cookie"]
    assert code not in cookie, "what an address has admits nobody from then on"
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/graph?file=small&graph=1"
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_code_from_a_link_of_another_site_leads_on_without_redirect(
    stranger: FlaskClient, access: AccessRules
) -> None:
    headers = LOCAL | {"Sec-Fetch-Site": "cross-site"}
    answer = stranger.get(f"/?code={access.admission.new_code()}", headers=headers)
    assert answer.status_code == 200
    refresh = 'http-equiv="refresh" content="0; url=/graph?file=small&amp;graph=1"'
    assert refresh in answer.text


def test_printed_address_leads_to_the_only_graph(
    stranger: FlaskClient, access: AccessRules
) -> None:
    answer = stranger.get(f"/?code={access.admission.new_code()}", headers=LOCAL)
    assert answer.headers["Location"] == "/graph?file=small&graph=1"
    # An address that somebody chose is not replaced.
    chosen = stranger.get(f"/?view=table&code={access.admission.new_code()}", headers=LOCAL)
    assert chosen.headers["Location"] == "/?view=table"


def test_printed_address_leads_to_the_runs_where_there_are_several_graphs(
    small_recording: Path,
) -> None:
    lives = ROOT / "assets" / "recordings" / "graph_lives.gviz"
    for files, where in (
        ([lives], "/p/"),
        ([small_recording, lives], "/p/"),
        ([small_recording], "/p/graph?file=small&graph=1"),
    ):
        access = AccessRules(prefix="/p/")
        client = create_app(files, access).server.test_client()
        answer = client.get(f"/p/?code={access.admission.new_code()}", headers=LOCAL)
        assert answer.headers["Location"] == where


@pytest.mark.parametrize("code", ["", "wrong", "ünïcode", "\ud800"])
def test_wrong_code_is_refused(stranger: FlaskClient, code: str) -> None:
    query = urllib.parse.urlencode({"code": code}, errors="surrogatepass")
    answer = stranger.get(f"/?{query}", headers=LOCAL)
    assert answer.status_code == 403
    assert "none of the running gviz" in answer.text
    assert "Set-Cookie" not in answer.headers


def test_code_admits_one_browser_and_says_so_to_others(
    stranger: FlaskClient, access: AccessRules
) -> None:
    link = f"/?code={access.admission.new_code()}"
    assert stranger.head(link, headers=LOCAL).status_code == 403, "nobody has opened it"
    prefetch = LOCAL | {"Sec-Purpose": "prefetch;prerender"}
    assert stranger.get(link, headers=prefetch).status_code == 403
    assert stranger.get(link, headers=LOCAL).status_code == 302
    assert stranger.get(link, headers=LOCAL).status_code == 302, "who is admitted is led on"
    other = stranger.application.test_client()
    answer = other.get(link, headers=LOCAL)
    assert answer.status_code == 403
    assert "was used already" in answer.text
    assert "gviz view --link" in answer.text
    assert other.get("/", headers=LOCAL).status_code == 403


def test_address_without_its_last_slash_leads_to_that_with_it(small_recording: Path) -> None:
    access = AccessRules(prefix="/proxy/random/")
    client = create_app([small_recording], access).server.test_client()
    code = access.admission.new_code()
    for path in (f"/proxy/random?code={code}", f"/proxy/random/?code={code}", "/proxy/random"):
        answer = client.get(path, headers=LOCAL)
        assert answer.status_code == 302, path
        assert "Set-Cookie" not in answer.headers or "/?" in path
        assert answer.headers["Location"].startswith("/proxy/random/")
    # As a click in a terminal that is a web page of another site.
    answer = client.get("/proxy/random?a=%22<b", headers=LOCAL | {"Sec-Fetch-Site": "cross-site"})
    assert 'content="0; url=/proxy/random/?a=%22%3Cb"' in answer.text
    assert client.post("/proxy/random", headers=LOCAL).status_code == 302
    other = client.get("/proxy/random", headers={"Host": "rebound.example"})
    assert other.status_code == 403
    assert client.get("/proxy", headers=LOCAL).status_code == 403


def test_cookie_is_of_the_servers_own_path(small_recording: Path) -> None:
    access = AccessRules(prefix="/random/")
    client = create_app([small_recording], access).server.test_client()
    answer = client.get(f"/random/?code={access.admission.new_code()}", headers=LOCAL)
    assert "Path=/random/" in answer.headers["Set-Cookie"]


def test_cookie_of_another_start_is_refused(client: FlaskClient, small_recording: Path) -> None:
    other = create_app([small_recording], AccessRules()).server.test_client()
    cookie = client.get_cookie("gviz_session")
    assert cookie is not None
    other.set_cookie("gviz_session", cookie.value)
    assert other.get("/", headers=LOCAL).status_code == 403


def test_cookie_of_the_same_name_of_another_service_changes_nothing(client: FlaskClient) -> None:
    cookie = client.get_cookie("gviz_session")
    assert cookie is not None
    for both in (f"gviz_session=x; gviz_session={cookie.value}", f"gviz_session={cookie.value}"):
        stranger = client.application.test_client(use_cookies=False)
        assert stranger.get("/", headers=LOCAL | {"Cookie": both}).status_code == 200


def test_cookie_that_is_no_utf8_of_another_service_changes_nothing(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    cookie = client.get_cookie("gviz_session")
    assert cookie is not None
    headers = LOCAL | {"Cookie": f"theirs=\xf6; gviz_session={cookie.value}"}
    stranger = client.application.test_client(use_cookies=False)
    assert stranger.get("/", headers=headers).status_code == 200
    # Dash reads all cookies of who asks a callback, before it looks for it.
    stranger.post("/_dash-update-component", json={"output": "no.such"}, headers=headers)
    assert "Callback function not found" in caplog.text


def test_redirect_stays_on_this_host(stranger: FlaskClient, access: AccessRules) -> None:
    answer = stranger.get(
        "/",
        query_string={"code": access.admission.new_code()},
        headers=LOCAL,
        environ_overrides={"PATH_INFO": "//evil.example/x"},
    )
    assert answer.headers["Location"] == "/evil.example/x"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:1", 200),
        ("127.0.0.1:8765", 200),
        ("[::1]:8765", 200),
        ("LOCALHOST:8765", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("192.0.2.7:8765", 403),
        ("[::1", 403),
        ("", 403),
    ],
)
def test_host_header_names_this_server(client: FlaskClient, host: str, status: int) -> None:
    cookie = client.get_cookie("gviz_session")
    assert cookie is not None
    sender = client.application.test_client(use_cookies=False)
    answer = sender.get("/", headers={"Host": host, "Cookie": f"gviz_session={cookie.value}"})
    assert answer.status_code == status


def test_any_address_answers_for_literal_addresses_but_not_for_names() -> None:
    access = AccessRules(any_address=True)
    assert access.accepts_host("192.0.2.7:8765")
    assert access.accepts_host("[2001:db8::1]:8765")
    assert not access.accepts_host("rebound.example:8765")


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ({"Origin": "http://localhost:8765"}, True),
        ({}, True),
        ({"Origin": "http://localhost:9999"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "https://evil.example"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
    ],
)
def test_post_comes_from_own_pages(
    client: FlaskClient, origin: dict[str, str], allowed: bool
) -> None:
    answer = client.post("/_dash-update-component", headers=LOCAL | origin, json={})
    assert (answer.status_code != 403) == allowed


def test_headers_bind_the_browser(client: FlaskClient) -> None:
    for path in ("/", "/assets/styles/page.css", "/payload/dag/small/1", "/payload/dag/none/1"):
        headers = client.get(path, headers=LOCAL, buffered=True).headers
        policy = headers["Content-Security-Policy"]
        assert "unsafe-eval" not in policy
        assert "unsafe-inline" not in re.search(r"script-src [^;]*", policy)[0]  # type: ignore[index]
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_page_loads_nothing_from_elsewhere(client: FlaskClient) -> None:
    page = client.get("/", headers=LOCAL).text
    assert re.findall(r'(?:src|href)="(?![/#])[^"]*"', page) == []
    assert "unpkg" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../__init__.py",
        "/assets/%2e%2e/__init__.py",
        "/assets/..%2f__init__.py",
        "/payload/dag/..%2f..%2fsmall/1",
        "/payload/dag/%2fetc%2fpasswd/1",
        "/_dash-component-suites/dash/../../../etc/passwd",
    ],
)
def test_paths_outside_are_not_served(client: FlaskClient, path: str) -> None:
    answer = client.get(path, headers=LOCAL)
    assert answer.status_code in (404, 500) or "_dash-config" in answer.text

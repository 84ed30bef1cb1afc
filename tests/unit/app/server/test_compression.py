"""Text answers are compressed once, binary and small ones are left alone."""

from __future__ import annotations

import gzip

import pytest
from flask import Flask, Response
from flask.testing import FlaskClient

from gviz.app.server.compression import add_compression

TEXT = "gviz " * 4000
GZIP = {"Accept-Encoding": "gzip, br"}


@pytest.fixture
def client() -> FlaskClient:
    server = Flask("test")
    served: list[int] = []

    def text() -> Response:
        served.append(1)
        response = Response(f"{len(served)} {TEXT}", mimetype="text/javascript")
        response.cache_control.max_age = 1000
        return response

    server.add_url_rule("/kept", "kept", text)
    server.add_url_rule("/small", "small", lambda: Response("x", mimetype="text/css"))
    server.add_url_rule("/binary", "binary", lambda: Response(TEXT, mimetype="image/png"))
    add_compression(server)
    return server.test_client()


def test_text_is_compressed_for_who_accepts_it(client: FlaskClient) -> None:
    packed = client.get("/kept", headers=GZIP)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert gzip.decompress(packed.data).decode() == f"1 {TEXT}"


def test_text_is_sent_plain_to_others(client: FlaskClient) -> None:
    assert client.get("/kept").text == f"1 {TEXT}"


def test_versioned_text_is_compressed_once(client: FlaskClient) -> None:
    first = client.get("/kept?m=1", headers=GZIP).data
    assert client.get("/kept?m=1", headers=GZIP).data == first
    assert client.get("/kept?m=2", headers=GZIP).data != first


@pytest.mark.parametrize("path", ["/small", "/binary"])
def test_small_and_binary_answers_are_left_alone(client: FlaskClient, path: str) -> None:
    assert "Content-Encoding" not in client.get(path, headers=GZIP).headers

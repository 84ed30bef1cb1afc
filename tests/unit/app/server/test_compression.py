"""Answers are compressed for who accepts it, pictures and small ones are left alone."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from flask import Flask, Response
from flask.testing import FlaskClient
from flask_compress.compat import compression

from gviz.app.server.compression import add_compression

TEXT = "gviz " * 4000
GZIP = {"Accept-Encoding": "gzip, zstd"}


@pytest.fixture
def client() -> FlaskClient:
    server = Flask("test")
    server.add_url_rule("/text", "text", lambda: Response(TEXT, mimetype="text/javascript"))
    server.add_url_rule("/small", "small", lambda: Response("x", mimetype="text/css"))
    server.add_url_rule("/binary", "binary", lambda: Response(TEXT, mimetype="image/png"))
    add_compression(server)
    return server.test_client()


@pytest.mark.parametrize(
    ("accepted", "unpack"),
    [
        ("gzip, deflate, br", gzip.decompress),
        ("gzip, deflate, br, zstd", compression.zstd.decompress),
    ],
)
def test_text_is_compressed_for_who_accepts_it(
    client: FlaskClient, accepted: str, unpack: Callable[[bytes], bytes]
) -> None:
    packed = client.get("/text", headers={"Accept-Encoding": accepted})
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert len(packed.data) < len(TEXT) / 10
    assert unpack(packed.data).decode() == TEXT


def test_text_is_sent_plain_to_others(client: FlaskClient) -> None:
    assert client.get("/text").text == TEXT


@pytest.mark.parametrize("path", ["/small", "/binary"])
def test_small_and_binary_answers_are_left_alone(client: FlaskClient, path: str) -> None:
    assert "Content-Encoding" not in client.get(path, headers=GZIP).headers

"""The route of overlays: tables that the server was started with, for pages to lay on graphs."""

from __future__ import annotations

from flask import Flask, Response, abort

from gviz.app.components import PAYLOAD
from gviz.app.files import Library


def add_overlay_route(server: Flask, library: Library, prefix: str) -> None:
    """Serve ``payload/overlay/N`` under a prefix: CSV or JSON, as gviz.overlay has checked it."""

    def overlay(number: int) -> Response:
        if number >= len(library.overlays):
            abort(404)
        # Never shown as a page of this server.
        return Response(
            library.overlays[number].text,
            mimetype="application/octet-stream",
            headers={"Cache-Control": "no-store"},
        )

    rule = f"{prefix.rstrip('/')}{PAYLOAD}/overlay/<int:number>"
    server.add_url_rule(rule, "gviz_overlay", overlay)

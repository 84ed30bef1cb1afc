"""Serve a Dash page of one empty box: what no view of a Dash application can be faster than."""

from __future__ import annotations

import sys

from dash import Dash, html
from waitress.server import create_server

if __name__ == "__main__":
    app = Dash(__name__)
    app.layout = html.Div(id="empty", style={"height": "90vh"})
    server = create_server(app.server, host="127.0.0.1", port=0, threads=6)
    print(f"http://127.0.0.1:{server.effective_port}/", file=sys.stderr, flush=True)
    server.run()

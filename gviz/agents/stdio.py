"""The server on standard input and output: for a client that starts it."""

from __future__ import annotations

from gviz.agents.desk import Desk
from gviz.agents.extra import load
from gviz.agents.protocol import build_server


def serve_stdio(desk: Desk) -> int:
    """Answer on standard input and output until the client closes them.

    Returns
    -------
    int
        Exit code, 0.

    Raises
    ------
    GvizError
        If the library is not installed.
    """
    anyio, stdio = load("anyio"), load("mcp.server.stdio")
    server = build_server(desk)

    async def serve() -> None:
        async with stdio.stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)
    return 0

"""The server by the Model Context Protocol, asked by the client of the protocol's own package."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from agent_questions import desk_of, hear
from mcp import Client, StdioServerParameters, stdio_client

from gviz.agents.protocol import INSTRUCTIONS, build_server

#: The loop of a client, which knows the form of answers and nothing else of gviz.
Talk = Callable[[Any], Awaitable[None]]


async def look_around(client: Any) -> None:
    """Ask for the verbs, then follow the first step from the overview."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"overview", "findings", "explain"} <= set(tools)
    assert tools["explain"].input_schema["additionalProperties"] is False
    assert tools["overview"].annotations.read_only_hint
    assert client.instructions == INSTRUCTIONS
    answer = await client.call_tool("overview", {})
    assert not answer.is_error
    verb, arguments = hear(answer.content[0].text).steps[0]
    answer = await client.call_tool(verb, arguments)
    assert not answer.is_error
    refused = await client.call_tool("overview", {"recording": "../../etc/passwd"})
    assert refused.is_error
    assert refused.content[0].text.startswith("refused: ")


def test_client_of_the_package_follows_the_steps(small_recording: Path) -> None:
    async def talk() -> None:
        async with Client(build_server(desk_of(small_recording))) as client:
            await look_around(client)

    anyio.run(talk)


def test_client_of_the_package_starts_the_command(small_recording: Path) -> None:
    async def talk() -> None:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "gviz", "mcp", str(small_recording)],
            env=dict(os.environ),
        )
        async with Client(stdio_client(command)) as client:
            await look_around(client)

    anyio.run(talk)


def test_without_the_package_the_command_says_how_to_have_it(
    small_recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gviz.cli.command_line import main

    monkeypatch.setitem(sys.modules, "mcp.types", None)
    assert main(["mcp", str(small_recording)]) == 1
    assert 'pip install "mcp>=2.0,<3"' in capsys.readouterr().err

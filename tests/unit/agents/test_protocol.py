"""The server by the Model Context Protocol, asked by the client of the protocol's own package."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_questions import desk_of, hear, run_aside
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
    picture = (await client.call_tool("render", {"view": "timeline", "form": "svg"})).content[1]
    assert picture.resource.mime_type == "image/svg+xml"
    refused = await client.call_tool("overview", {"recording": "../../etc/passwd"})
    assert refused.is_error
    assert refused.content[0].text.startswith("refused: ")


def test_client_of_the_package_follows_the_steps(small_recording: Path) -> None:
    async def talk() -> None:
        async with Client(build_server(desk_of(small_recording))) as client:
            await look_around(client)

    run_aside(talk)


def test_png_is_an_image_for_models(small_recording: Path, browser: Path) -> None:
    async def talk() -> None:
        async with Client(build_server(desk_of(small_recording))) as client:
            image = (await client.call_tool("render", {})).content[1]
            assert (image.type, image.mime_type) == ("image", "image/png")
            assert b"--screenshot=" in b64decode(image.data)

    run_aside(talk)


def test_client_of_the_package_starts_the_command(small_recording: Path) -> None:
    async def talk() -> None:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "gviz", "mcp", str(small_recording)],
            env=dict(os.environ),
        )
        async with Client(stdio_client(command)) as client:
            await look_around(client)

    run_aside(talk)


@pytest.fixture(scope="module")
def served(small_recording: Path) -> Iterator[Callable[[], str]]:
    """Run ``gviz mcp --http``; yields what returns an address that admits a client once."""
    command = [sys.executable, "-P", "-m", "gviz", "mcp", "--http", "--port=0", "--json"]
    with subprocess.Popen(
        [*command, str(small_recording)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        announced = json.loads(process.stdout.readline())
        assert announced["mcp_version"] == 1
        addresses = [announced["address"]]
        addresses.append(process.stderr.readline().split()[-1])
        yield addresses.pop
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0


def test_client_of_the_package_comes_by_http(served: Callable[[], str]) -> None:
    async def talk() -> None:
        # With the address as it was printed: the package's client keeps the cookie.
        async with Client(served()) as client:
            await look_around(client)

    run_aside(talk)


def test_stranger_is_not_admitted_by_http(served: Callable[[], str]) -> None:
    address = served()
    plain = address.partition("?")[0]
    call = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    kind = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def status(url: str, data: bytes | None = call, **headers: str) -> int:
        request = urllib.request.Request(url, data, kind | headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except urllib.error.URLError:  # refused while it was still being sent
            return 413

    assert status(plain) == 403
    assert status(f"{plain}?code=wrong") == 403
    assert status(address, Host="evil.example") == 403
    assert status(address, Origin="http://evil.example") == 403
    assert status(plain, Authorization="Bearer wrong") == 403
    # By hand the code is exchanged for a header, once.
    with urllib.request.urlopen(address, timeout=120) as answer:
        name, _, value = answer.read().decode().strip().partition(": ")
    assert status(address, Accept="*/*") == 403
    assert status(plain, **{name: value}) != 403
    assert status(plain, b"x" * 2_000_000, **{name: value}) == 413


def test_without_the_package_the_command_says_how_to_have_it(
    small_recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gviz.cli.command_line import main

    monkeypatch.setitem(sys.modules, "mcp.types", None)
    assert main(["mcp", str(small_recording)]) == 1
    assert 'pip install "mcp>=2.0,<3"' in capsys.readouterr().err

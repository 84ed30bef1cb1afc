"""The loop of an agent, end to end: record, overview, a finding, a change, whether it is faster.

The client is that of the protocol's own package, and knows the form of answers only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_questions import Heard, hear, run_aside
from contract.backend import Backend
from mcp import Client, StdioServerParameters, stdio_client
from places import ROOT

#: A chain of as many kernels as it is told, launched 60 times.
PROGRAM = """
import sys
from contract import driver
from contract.cases import GraphShape, build_shape
from contract.programs import launch_times

count = int(sys.argv[1])
cuda = driver.Driver()
shape = GraphShape(count, tuple((i, i + 1) for i in range(count - 1)))
launch_times(cuda, build_shape(cuda, shape), 60, cuda.stream())
print("the words of the program")
"""


async def loop(client: Any, program: Path, folder: Path) -> None:
    """Record a program, look at what is slow, record it with less work, and ask if that helped."""

    async def ask(verb: str, arguments: dict[str, object]) -> Heard:
        answer = await client.call_tool(verb, arguments)
        assert not answer.is_error, answer.content[0].text
        return hear(answer.content[0].text)

    async def record(name: str, count: str) -> Heard:
        wanted = {"program": str(program), "arguments": [count], "name": name}
        shown = await ask("record", wanted)
        command = f"gviz run -o {folder / name}.gviz {program} {count}"
        assert f"Nothing has been run yet. This is to be run: {command}" in shown.recorded
        assert "It is ended after 300 s at the latest." in shown.recorded
        assert not (folder / f"{name}.gviz").exists()
        return await ask(*shown.steps[0])

    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert not tools["record"].annotations.read_only_hint
    before = await record("before", "12")
    assert "with exit code 0" in before.recorded
    assert "the words of the program" in before.recorded
    overview = await ask(*before.steps[0])
    verb, arguments = overview.steps[0]
    assert verb == "explain"
    assert "Fix: " in (await ask(verb, arguments)).recorded
    after = await record("after", "4")
    verb, arguments = after.steps[1]
    assert (verb, arguments["baseline"]) == ("verify_fix", "before.gviz")
    verdict = await ask(verb, arguments)
    assert "Faster: a launch is shorter by more than noise." in verdict.recorded
    assert "95%" in verdict.recorded
    again = await client.call_tool("record", {"confirm": "0" * 8})
    assert again.content[0].text.startswith("refused: confirm is not a word of an answer")


@contextmanager
def by_stdio(
    command: list[str], environment: dict[str, str]
) -> Iterator[AbstractAsyncContextManager[Any]]:
    """Yield a client that starts the server."""
    server = StdioServerParameters(command=command[0], args=command[1:], env=environment)
    yield Client(stdio_client(server))


@contextmanager
def by_http(
    command: list[str], environment: dict[str, str]
) -> Iterator[AbstractAsyncContextManager[Any]]:
    """Start the server on a port; yield a client that connects to it."""
    options = ["--http", "--port=0", "--json"]
    with subprocess.Popen(
        [*command, *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield Client(json.loads(process.stdout.readline())["address"])
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0


@pytest.mark.parametrize("transport", [by_stdio, by_http])
def test_loop_goes_from_a_program_to_a_proven_change(
    fake: Backend, tmp_path: Path, transport: Any
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    paths = [str(ROOT / "tests"), os.environ.get("PYTHONPATH")]
    environment = {**fake.environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-P", "-m", "gviz", "mcp", "--allow-record", str(tmp_path)]
    with transport(command, environment) as connected:

        async def talk() -> None:
            async with connected as client:
                await loop(client, program, tmp_path)

        run_aside(talk)

"""Real MCP servers and the SDK's own client, called one call at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import surfaces
from anyio.from_thread import BlockingPortal, start_blocking_portal
from builders import clean_environment
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from satchel import plugins
from satchel.commands.command import Command

HANDSHAKE, STATELESS = "legacy", "2026-07-28"
REVISIONS = (HANDSHAKE, STATELESS)
PATIENCE = 60  # seconds for an answer of a busy machine


class Told:
    """What a tool answered."""

    def __init__(self, result: Any) -> None:
        self.text: str = result.content[0].text
        self.structured: Any = result.structured_content
        self.is_error: bool = result.is_error

    @property
    def data(self) -> Any:
        return self.structured["data"]

    @property
    def code(self) -> str:
        """The error's code; empty if there is none."""
        return str(self.structured.get("error", {}).get("code", "")) if self.is_error else ""

    @property
    def cursor(self) -> str:
        return str(self.structured.get("next_cursor", ""))


class Agent:
    """The SDK's client, without its `await`."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client = client
        self.portal = portal

    def tool(self, name: str, /, **arguments: Any) -> Told:
        return Told(self.run(lambda: self.client.call_tool(name, arguments)))

    def run(self, work: Callable[[], Any]) -> Any:
        """Anything that the client does."""

        async def awaited() -> Any:
            return await work()

        return self.portal.call(awaited)

    def refusal(self, work: Callable[[], Any]) -> int:
        """The code of an error of the protocol."""
        try:
            self.run(work)
        except MCPError as error:
            return error.error.code
        raise AssertionError("it was answered")


@contextmanager
def agent(server: Any, revision: str = HANDSHAKE, **others: Any) -> Iterator[Agent]:
    """A client of a server that listens or is started."""
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        client = Client(server, mode=revision, read_timeout_seconds=PATIENCE, **others)
        stack.enter_context(portal.wrap_async_context_manager(client))
        yield Agent(client, portal)


def spawned(*roots: Path, flags: Sequence[str] = ("--no-watch",)) -> StdioServerParameters:
    """`satchel serve mcp`, to be started by a client."""
    folders = [word for root in roots for word in ("--segment", str(root))]
    words = ["-m", "satchel", "serve", "mcp", *folders, *flags]
    return StdioServerParameters(command=sys.executable, args=words, env=clean_environment())


@contextmanager
def agent_over_http(root: Path, *flags: str, revision: str = HANDSHAKE) -> Iterator[Agent]:
    """A client of a server that listens."""
    with (
        surfaces.serving("mcp", root, *flags) as server,
        agent(f"http://{server.host}:{server.port}/mcp", revision) as found,
    ):
        yield found


@contextmanager
def agent_over_pipes(root: Path, *flags: str, revision: str = HANDSHAKE) -> Iterator[Agent]:
    """A client of a server that it started."""
    with agent(spawned(root, flags=flags), revision) as found:
        yield found


class Process:
    """`satchel serve mcp` with its raw pipes, for what no client would do."""

    def __init__(self, root: Path, *flags: str, program: str = "") -> None:
        start = ["-c", program] if program else ["-m", "satchel"]
        self.process = subprocess.Popen(
            [sys.executable, *start, "serve", "mcp", "--segment", str(root), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.input, self.output, self.errors = self.process.stdin, self.process.stdout, self.process.stderr

    def send(self, method: str, params: Mapping[str, Any] | None = None, number: int | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        message |= {"params": params} if params is not None else {}
        message |= {"id": number} if number is not None else {}
        self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        self.input.write(data)
        self.input.flush()

    def reply(self) -> Any:
        """The next message."""
        return json.loads(self.output.readline())

    def reply_to(self, number: int) -> Any:
        """The answer to a request, whatever comes before it."""
        while (message := self.reply()).get("id") != number:
            pass
        return message

    def open(self) -> Any:
        """The handshake."""
        client = {"name": "test", "version": "1"}
        self.send(
            "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}, 1
        )
        answer = self.reply()
        self.send("notifications/initialized")
        return answer

    def call(self, tool: str, arguments: Mapping[str, Any], number: int) -> None:
        self.send("tools/call", {"name": tool, "arguments": dict(arguments)}, number)


@contextmanager
def process(root: Path, *flags: str, program: str = "") -> Iterator[Process]:
    """A server with raw pipes, gone afterwards."""
    started = Process(root, *flags, program=program)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()
        for stream in (started.input, started.output, started.errors):
            with suppress(BrokenPipeError):
                stream.close()


def tool_of(action: str) -> str:
    """The name by which a command is called."""
    command: Command = plugins.load("command", action)
    return command.tool or action

"""Every way to ask, with one method each: `call(action, payload)` gives the data, or the code of the error;
those that carry the index state with an answer also give the whole envelope by `ask`.

What a surface has besides (exit code, HTTP or gRPC status) must agree with the table of errors, or the call fails.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, get_args, get_type_hints

import grpc
import mcp_clients
import msgspec
from builders import clean_environment, run_cli
from mcp.shared.exceptions import MCPError

import satchel
from satchel import plugins
from satchel.commands.command import Command, Positional
from satchel.serving.error_table import ERRORS, EXIT_DOES_NOT_HOLD, EXIT_OK
from satchel.serving.grpc.contract import SERVICE, message_classes

Answer = tuple[Any, str | None]
_START_SECONDS = 60  # a busy machine; a server that starts says so within one
_STOP_SECONDS = 10


class Surface(Protocol):
    """A way to ask about one folder."""

    def call(self, action: str, payload: Mapping[str, Any]) -> Answer:
        """The data, or the code of the error."""


class Server(NamedTuple):
    """A process that serves, and where."""

    process: subprocess.Popen[bytes]
    host: str
    port: int


@contextmanager
def serving(
    transport: str,
    root: Path | None,
    *flags: str,
    environment: Mapping[str, str] | None = None,
    errors: Path | None = None,
) -> Iterator[Server]:
    """A real server process on a free port, of a folder or of the library that the flags name; `errors` is
    where what it says on stderr goes."""
    served = ["--segment", str(root)] if root else []
    words = ["serve", transport, *served, "--port", "0", "--json", *flags]
    with open(errors or "/dev/null", "wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "satchel", *words],
            env=clean_environment(environment),
            stdout=subprocess.PIPE,
            stderr=stream,
        )
    assert process.stdout is not None
    try:
        said = json.loads(process.stdout.readline())
        assert said["transport"] == transport
        yield Server(process, said["host"], said["port"])
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)
        process.stdout.close()


def taken_apart(envelope: Mapping[str, Any]) -> Answer:
    """The data or the code of an envelope."""
    if envelope["status"] == "ok":
        assert "error" not in envelope
        return envelope["data"], None
    assert envelope["data"] is None
    return None, envelope["error"]["code"]


class CommandLine:
    """`satchel <command> --json`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def call(self, action: str, payload: Mapping[str, Any]) -> Answer:
        given = dict(payload)
        segment = given.pop("project", str(self._root))
        done = run_cli(action, "--segment", segment, "--json", *flags_of(action, given))
        said = json.loads(done.stdout)
        if done.returncode in (EXIT_OK, EXIT_DOES_NOT_HOLD):
            assert done.returncode == (EXIT_OK if said.get("ok", True) else EXIT_DOES_NOT_HOLD)
            return said, None
        code: str = said["error"]["code"]
        assert done.returncode == ERRORS[code].exit
        return None, code


def flags_of(action: str, payload: Mapping[str, Any]) -> list[str]:
    """A payload as it is written at the end of a command line."""
    command: Command = plugins.load("command", action)
    hints = get_type_hints(command.request, include_extras=True)
    words: list[str] = []
    positional: list[str] = []
    for name, value in payload.items():
        notes = get_args(hints[name])[1:] if name in hints else ()
        if any(isinstance(note, Positional) for note in notes):
            positional += value if isinstance(value, list) else [value]
        else:
            words += _flag(f"--{name.replace('_', '-')}", value)
    return [*words, *(["--", *positional] if positional else [])]


def _flag(flag: str, value: Any) -> list[str]:
    if value is True:
        return [flag]
    if isinstance(value, dict):
        return [flag, ",".join(f"{name}={number}" for name, number in value.items())]
    if isinstance(value, list) and all(isinstance(item, str) for item in value) and value:
        return [word for item in value for word in (flag, item)]
    return [flag, value if isinstance(value, str) else msgspec.json.encode(value).decode()]


class CommandVerb:
    """`satchel command --json`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def call(self, action: str, payload: Mapping[str, Any]) -> Answer:
        request = {"action": action, "payload": {"project": str(self._root), **payload}}
        done = run_cli("command", "--json", json.dumps(request))
        data, code = taken_apart(json.loads(done.stdout))
        assert done.returncode == (EXIT_OK if code is None else ERRORS[code].exit)
        return data, code


class InPython:
    """`satchel.answer`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def call(self, action: str, payload: Mapping[str, Any]) -> Answer:
        return taken_apart(self.ask(action, payload))

    def ask(self, action: str, payload: Mapping[str, Any]) -> Any:
        """The whole envelope."""
        return satchel.answer({"action": action, "payload": {"project": str(self._root), **payload}})


class OverHttp:
    """`POST /v1/command`; the body, or another that is no request, as bytes by `post`."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def call(self, action: str, payload: Mapping[str, Any]) -> Answer:
        return taken_apart(self.ask(action, payload))

    def ask(self, action: str, payload: Mapping[str, Any]) -> Any:
        """The whole envelope."""
        status, envelope = self.post(json.dumps({"action": action, "payload": payload}).encode())
        assert status == http.client.OK  # a request that could be read, whatever came of it
        return envelope

    def refusal(self, body: bytes) -> str | None:
        """The code of what is no request."""
        status, envelope = self.post(body)
        code = taken_apart(envelope)[1]
        assert code is not None and status == ERRORS[code].http
        return code

    def post(self, body: bytes) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self._server.host, self._server.port, timeout=60)
        connection.request("POST", "/v1/command", body, {"content-type": "application/json"})
        reply = connection.getresponse()
        read = reply.read()
        connection.close()
        return reply.status, json.loads(read)


class OverGrpc:
    """`satchel.v1.Satchel/Command`."""

    def __init__(self, server: Server) -> None:
        self._kinds = message_classes()
        self._channel = grpc.insecure_channel(f"{server.host}:{server.port}")

    def call(self, action: str, payload: Mapping[str, Any]) -> Answer:
        return taken_apart(self.ask(action, payload))

    def ask(self, action: str, payload: Mapping[str, Any]) -> Any:
        """The whole envelope."""
        return json.loads(self.command(self.request(action, payload)).json)

    def refusal(self, body: bytes) -> str | None:
        """The code of what is no request."""
        try:
            self.command(self._kinds["Envelope"](json=body.decode()))
        except grpc.RpcError as error:
            code = taken_apart(envelope_of(error))[1]
            assert code is not None and error.code() is grpc.StatusCode[ERRORS[code].grpc]
            return code
        return None

    def request(self, action: str, payload: Mapping[str, Any], **others: Any) -> Any:
        """An envelope for `command` and `stream`."""
        return self._kinds["Envelope"](json=json.dumps({"action": action, "payload": payload, **others}))

    def command(self, request: Any, **settings: Any) -> Any:
        """One call; a message or bytes. `timeout` and `metadata` as the library has them."""
        method = self._method("Command", self._channel.unary_unary, "Envelope")
        return method(request, **{"timeout": 60, **settings})

    def stream(self, request: Any, **settings: Any) -> Any:
        """The events of one call."""
        method = self._method("Stream", self._channel.unary_stream, "Event")
        return method(request, **{"timeout": 60, **settings})

    @property
    def channel(self) -> Any:
        return self._channel

    def close(self) -> None:
        self._channel.close()

    def _method(self, name: str, kind: Callable[..., Any], answer: str) -> Any:
        return kind(
            f"/{SERVICE}/{name}",
            request_serializer=lambda given: given if isinstance(given, bytes) else given.SerializeToString(),
            response_deserializer=self._kinds[answer].FromString,
        )


class OverMcp:
    """A tool call, of a listed tool or of another command; the whole data is asked for."""

    def __init__(self, agent: mcp_clients.Agent) -> None:
        self._agent = agent

    def call(self, action: str, payload: Mapping[str, Any]) -> Answer:
        try:
            told = self._tool(action, payload)
        except MCPError as error:
            code = error.error.data["code"]
            assert error.error.code == ERRORS[code].mcp
            return None, code
        return (None, told.code) if told.is_error else (told.data, None)

    def ask(self, action: str, payload: Mapping[str, Any]) -> Any:
        """What an answer holds besides its text: data and meta, or the error."""
        told = self._tool(action, payload)
        return {"status": "error" if told.is_error else "ok", "data": None, **told.structured}

    def _tool(self, action: str, payload: Mapping[str, Any]) -> mcp_clients.Told:
        command: Command | None = plugins.find("command", action)
        name = command.tool or action if command is not None else action
        budget = self._budget(command, payload) if command is not None else {}
        return self._agent.tool(name, **{**budget, **payload, "response_mode": "full"})

    @staticmethod
    def _budget(command: Command, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Agents have a budget of their own where none is given: here it is that of all others."""
        names = {"budget_tokens", "max_chars"}
        if not command.counted or names & set(payload):
            return {}
        fields = msgspec.structs.fields(command.request)
        return {field.name: field.default for field in fields if field.name in names}


def envelope_of(error: Any) -> Any:
    """The envelope that a refused gRPC call carries."""
    return json.loads(dict(error.trailing_metadata())["satchel-error-bin"])


LOCAL: dict[str, Callable[[Path], Surface]] = {
    "cli": CommandLine,
    "command": CommandVerb,
    "python": InPython,
}
SERVED: dict[str, Callable[[Server], Surface]] = {"http": OverHttp, "grpc": OverGrpc}
AGENTS = ("mcp stdio", "mcp http")


@contextmanager
def surface(name: str, root: Path, *flags: str) -> Iterator[Any]:
    """A surface over a folder, with its server, started with these flags, if it has one."""
    if name in LOCAL:
        yield LOCAL[name](root)
        return
    if name in AGENTS:
        connect = mcp_clients.agent_over_http if name == AGENTS[1] else mcp_clients.agent_over_pipes
        with connect(root, *flags) as found:
            yield OverMcp(found)
        return
    with serving(name, root, *flags) as server:
        yield SERVED[name](server)

"""A real server process and real ways to call it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from builders import clean_environment

JSON = {"content-type": "application/json"}
_PATIENCE = 30  # seconds for an answer of a busy machine


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error's code; empty if there is none."""
        return str(self.json.get("error", {}).get("code", ""))


class Server:
    """A server that listens."""

    def __init__(self, process: subprocess.Popen[bytes], host: str, port: int) -> None:
        self.process = process
        self.host = host
        self.port = port
        self._said: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self._said += iter(self.process.stderr.readline, b"")

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def call(
        self,
        path: str,
        body: Any = None,
        *,
        method: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request; a body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=_PATIENCE)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(
                method or ("GET" if body is None else "POST"), path, data, {**JSON, **(headers or {})}
            )
            response = connection.getresponse()
            return Answer(
                response.status,
                {name.lower(): value for name, value in response.headers.items()},
                response.read(),
            )
        finally:
            connection.close()

    def command(self, action: str, payload: Mapping[str, Any] | None = None, **others: Any) -> Answer:
        """One request of the Command API."""
        return self.call("/v1/command", {"action": action, "payload": dict(payload or {}), **others})

    def connect(self) -> socket.socket:
        """A bare connection, for what no client would send."""
        return socket.create_connection((self.host, self.port), timeout=_PATIENCE)

    def send(self, data: bytes) -> bytes:
        """Raw bytes in, everything that comes back out."""
        with self.connect() as connection:
            connection.sendall(data)
            return read_all(connection)

    def end(self, number: int) -> tuple[int, str]:
        """Its exit code after a signal, and all it ever said."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(_PATIENCE)
        self._reader.join(_PATIENCE)
        return code, b"".join(self._said).decode()


def read_all(connection: socket.socket) -> bytes:
    """Until the other side closes."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@contextmanager
def serving(
    root: Path | None, *flags: str, watch: bool = False, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """`satchel serve http` in a process of its own, of a folder or of the library that the flags name."""
    served = ["--segment", str(root)] if root else []
    arguments = [*served, "--port", "0", "--json", *flags, *(() if watch else ("--no-watch",))]
    process = subprocess.Popen(
        [sys.executable, "-m", "satchel", "serve", "http", *arguments],
        env=clean_environment(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a test may interrupt all its processes, as a terminal does
    )
    assert process.stdout is not None and process.stderr is not None
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.stderr.read().decode())
    told = json.loads(line)
    server = Server(process, told["host"], told["port"])
    try:
        yield server
    finally:
        with suppress(ProcessLookupError):  # its workers, too: one that is stopped would keep the pipe open
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        server._reader.join(_PATIENCE)
        process.stderr.close()

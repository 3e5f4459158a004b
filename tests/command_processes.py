"""Processes of the command line, forked from one that has loaded the package already.

Several hundred tests run a command in a process of its own. Starting Python and loading the package takes
about 0.15 CPU seconds of each of them, or 0.3 without bytecode; a fork takes 0.01. A forked process has its own
arguments, folder, environment, streams and end, as any other. Nothing has run in the process that it is forked
from, so it remembers nothing. What the start of Python itself decides (hash seed, module path, encoding of
streams) cannot differ from that process: `can_fork` says no, and the test gets a process from scratch. Tests
of starts, signals and servers always start theirs from scratch.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

_DECIDED_AT_START = ("PYTHON", "LC_", "LANG", "LD_")  # beginnings of names of variables
_TIMEOUT_SECONDS = 120
# What commands load. The rest belongs to servers and extras, or is loaded by few commands.
_LOADED = (
    "chunking",
    "commands",
    "embedding",
    "graph",
    "indexing",
    "languages",
    "packing",
    "rendering",
    "retrieval",
    "reviewing",
    "storage",
    "tokenizers",
    "verifying",
    "walking",
)
_SINGLE = (
    "filelock",
    "hashlib",
    "pathspec",
    "satchel.engine",
    "satchel.pack_pipeline",
    "satchel.serving.cli_run",
    "satchel.serving.local_client",
)


class CommandProcesses:
    """The process that is forked from, and the way to it."""

    def __init__(self) -> None:
        self._address = str(Path(tempfile.mkdtemp(prefix="satchel-tests-")) / "fork")
        self.environment = {**os.environ}
        self.environment.pop("PYTHONHASHSEED", None)  # a command has a seed by chance, as a user's has
        self._process = subprocess.Popen(
            [sys.executable, __file__, self._address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.environment,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def can_fork(self, environment: Mapping[str, str]) -> bool:
        """Return whether a process with this environment would start as the one that is forked from did."""
        return _decisive(environment) == _decisive(self.environment)

    def run(
        self, arguments: Sequence[str], cwd: Path | None, environment: Mapping[str, str], given: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one command, which reads what is `given`, to its end."""
        asked = {"arguments": [*arguments], "cwd": str(cwd or Path.cwd()), "environment": {**environment}}
        with ExitStack() as opened:
            streams = [opened.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            streams[0].write(given)
            streams[0].seek(0)
            connection = opened.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(_TIMEOUT_SECONDS)
            connection.connect(self._address)
            socket.send_fds(connection, [b"x"], [stream.fileno() for stream in streams])
            connection.sendall(json.dumps(asked).encode("utf-8", "surrogatepass"))
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as replies:
                code = _exit_code(replies, arguments)
            written = [_content(stream) for stream in streams[1:]]
        return subprocess.CompletedProcess([*arguments], code, *written)

    def close(self) -> None:
        """End the process that is forked from."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def _decisive(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_DECIDED_AT_START)}


def _exit_code(replies: Any, arguments: Sequence[str]) -> int:
    """Return the exit code, which follows the number of the process."""
    number = int(replies.readline())
    try:
        return int(replies.readline())
    except TimeoutError:
        os.kill(number, signal.SIGKILL)
        raise subprocess.TimeoutExpired([*arguments], _TIMEOUT_SECONDS) from None


def _content(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


_processes: list[CommandProcesses] = []


def command_processes() -> CommandProcesses:
    """Return those of this test process, started when the first test asks."""
    if not _processes:
        _processes.append(CommandProcesses())
        atexit.register(_processes[0].close)
    return _processes[0]


def _load() -> None:
    """Load what commands need, without running any of it."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as commands do: a fork takes no threads with it
    for name in _SINGLE:
        importlib.import_module(name)
    for folder in _LOADED:
        package = importlib.import_module(f"satchel.{folder}")
        for found in pkgutil.walk_packages(package.__path__, f"satchel.{folder}."):
            importlib.import_module(found.name)
    gc.freeze()


def _serve(address: str) -> dict[str, Any]:
    """Fork for every connection, until the test process closes our input. Return in the forked process alone,
    with what it was asked to run."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(16)
        print("ready", flush=True)
        while True:
            readable, _, _ = select.select([listener, sys.stdin.buffer], [], [])
            if sys.stdin.buffer in readable:
                # Workers of pytest end without a word, so the folder is removed here.
                os.unlink(address)
                os.rmdir(os.path.dirname(address))
                sys.exit()
            connection, _ = listener.accept()
            _reap()
            if os.fork() == 0:
                listener.close()
                return _asked(connection)
            connection.close()


def _reap() -> None:
    """Collect the processes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:  # there is none
        return


def _asked(connection: socket.socket) -> dict[str, Any]:
    """Read what is asked, fork for it, and stay behind to tell how it ended."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as given:
        asked: dict[str, Any] = json.loads(given.read().decode("utf-8", "surrogatepass"))
    number = os.fork()
    if number:
        connection.sendall(f"{number}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        connection.sendall(f"{code}\n".encode())
        os._exit(0)
    connection.close()
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    return asked


def _become(asked: Mapping[str, Any]) -> None:
    """Run `python -m satchel` in this process."""
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path.insert(0, asked["cwd"])  # as `python -m` does
    sys.argv = ["satchel", *asked["arguments"]]
    runpy.run_module("satchel", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, where a command finds nothing
    _load()
    _become(_serve(sys.argv[1]))

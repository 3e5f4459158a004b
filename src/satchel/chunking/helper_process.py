"""Start a helper process that answers over a pair of pipes: forked where that is safe, else spawned."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, NoReturn, Protocol

Serve = Callable[[IO[bytes], IO[bytes]], None]
_POLL_SECONDS = 0.005  # between two looks whether a forked process has ended


class ChildProcess(Protocol):
    """A child process with pipes to it, as `subprocess.Popen` has it."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    returncode: int | None

    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


def start(serve: Serve, program: str) -> ChildProcess:
    """Start a process that runs `serve`, or the `program` that does the same where this one cannot be forked.

    Only Linux forks safely beside the libraries of its system, and only a process without threads does.
    """
    if sys.platform == "linux" and threading.active_count() == 1:
        return fork(serve)
    return spawn(program)


def spawn(program: str) -> ChildProcess:
    """Start a program in a new interpreter that imports from where this one does."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{program}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def fork(serve: Serve) -> ChildProcess:
    """Start a copy of this process that runs `serve`: in milliseconds instead of a tenth of a second."""
    requests, stdin = os.pipe()
    stdout, answers = os.pipe()
    pid = os.fork()
    if not pid:
        _run_forked(serve, requests, answers)
    os.close(requests)
    os.close(answers)
    return _ForkedProcess(pid, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"))


def _run_forked(serve: Serve, requests: int, answers: int) -> NoReturn:
    """Serve in a forked process that holds no file of its parent: a lock must end with the parent."""
    code = 1
    try:
        for number, keep in enumerate((requests, answers)):
            os.dup2(keep, number)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        serve(os.fdopen(0, "rb"), os.fdopen(1, "wb"))
        code = 0
    finally:
        os._exit(code)


class _ForkedProcess:
    """A forked child, as far as `subprocess.Popen` describes one."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._pid = pid
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process and return its exit code."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            try:
                pid, status = os.waitpid(self._pid, 0 if end is None else os.WNOHANG)
            except ChildProcessError:  # the parent does not wait for children, so how it ended is not known
                pid, status = self._pid, 1 << 8
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("helper", timeout or 0)
            else:
                time.sleep(_POLL_SECONDS)
        return self.returncode

    def kill(self) -> None:
        """End the process at once."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

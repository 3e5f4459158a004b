"""What does a command cost: CPU seconds, wall seconds and memory of its whole process tree?

CPU seconds are the figures to compare: they are the user and system time of the process and of every
descendant, as the kernel counts them. On Linux a descendant whose own parent ended without waiting for it
becomes a child of this process, and is in them if it ends soon after the command: the helpers of a pool once
took a sixth of an index and were in no figure. A daemon that outlives the command is not in them.

Memory is given twice. `peak_rss_mb` is the kernel's high-water mark of the largest single process.
`tree_rss_mb` is the largest sum over all processes that were alive together, looked at every 50 ms;
pages that processes share count once for each, and a peak shorter than 50 ms can be missed.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

POLL_SECONDS = 0.05  # short enough for a pool of workers, cheap enough not to be felt on two cores
ORPHAN_SECONDS = 2.0  # a helper ends when it reads the end of its pipe
MEGABYTE = 1_000_000
KIBIBYTE = 1024  # the kernel's unit for ru_maxrss
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Measurement:
    """The cost of one run, or field by field the median of several."""

    cpu_s: float
    wall_s: float
    peak_rss_mb: float
    tree_rss_mb: float
    output: str = ""


class CommandFailed(Exception):
    """A measured command that did not exit with 0: its figures would mean nothing."""


def measure(
    command: Sequence[str | Path], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Measurement:
    """Runs a command to its end. `env` is added to the environment, not put in its place.

    The child starts as a copy of this process, so `peak_rss_mb` is never below what this process
    itself holds: a caller keeps itself small, or imports what is large only after measuring.
    """
    before = _children()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        started = time.perf_counter()
        child = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env=_environment(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
        )
        with _TreeWatch(child.pid) as watch:
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - started
        orphans = _orphan_seconds(before)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            complaints.seek(0)
            tail = complaints.read().decode(errors="replace").strip()[-1000:]
            raise CommandFailed(f"{' '.join(map(str, command))}: exit {child.returncode}\n{tail}")
        output.seek(0)
        return Measurement(
            cpu_s=usage.ru_utime + usage.ru_stime + orphans,
            wall_s=wall,
            peak_rss_mb=usage.ru_maxrss * KIBIBYTE / MEGABYTE,
            tree_rss_mb=watch.peak_bytes / MEGABYTE,
            output=output.read().decode(errors="replace"),
        )


@cache
def _adopt_orphans() -> bool:
    """Become the parent of descendants whose own parent has ended; return whether that is possible."""
    if sys.platform != "linux":
        return False
    subreaper = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
    return ctypes.CDLL(None).prctl(subreaper, 1, 0, 0, 0) == 0


def _orphan_seconds(before: set[int]) -> float:
    """Wait a moment for processes that were adopted since `before`; return the CPU seconds of those that
    ended."""
    seconds, end = 0.0, time.monotonic() + ORPHAN_SECONDS
    waiting = _children() - before
    while waiting and time.monotonic() < end:
        for process in tuple(waiting):
            pid, _, usage = os.wait4(process, os.WNOHANG)
            if pid:
                waiting.remove(process)
                seconds += usage.ru_utime + usage.ru_stime
        time.sleep(POLL_SECONDS if waiting else 0)
    return seconds


def _children() -> set[int]:
    """The children of this process, none where orphans are not adopted."""
    if not _adopt_orphans():
        return set()
    own = os.getpid()
    return {int(entry) for entry in os.listdir("/proc") if entry.isdigit() and _parent(int(entry)) == own}


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment and `extra`.

    Without byte code on disk every start would compile its modules anew, which no user's does.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, **extra}


def median_of(runs: int, run: Callable[[], Measurement]) -> Measurement:
    """The median of several runs, each figure by itself; the output is the last one's."""
    results = [run() for _ in range(runs)]
    return Measurement(
        cpu_s=statistics.median(result.cpu_s for result in results),
        wall_s=statistics.median(result.wall_s for result in results),
        peak_rss_mb=statistics.median(result.peak_rss_mb for result in results),
        tree_rss_mb=statistics.median(result.tree_rss_mb for result in results),
        output=results[-1].output,
    )


def installed_satchel() -> list[str]:
    """The command that is installed beside this Python, as a user calls it."""
    script = Path(sys.executable).with_name("satchel")
    return [str(script)] if script.exists() else [sys.executable, "-m", "satchel"]


def disk_bytes(path: Path) -> int:
    """The length of a file, or of all files below a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


class _TreeWatch:
    """Polls the resident memory of a process and its descendants while the block runs."""

    def __init__(self, root: int) -> None:
        self.peak_bytes = 0
        self._root = root
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)

    def __enter__(self) -> _TreeWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _poll(self) -> None:
        while True:
            self.peak_bytes = max(self.peak_bytes, sum(map(_resident_bytes, _tree(self._root))))
            if self._done.wait(POLL_SECONDS):
                return


def _tree(root: int) -> list[int]:
    """A process and all its living descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (parent := _parent(int(entry))) is not None:
            children.setdefault(parent, []).append(int(entry))
    found = [root]
    for process in found:
        found.extend(children.get(process, ()))
    return found


def _parent(process: int) -> int | None:
    """The parent's id, None for a process that has gone."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[1])  # the name in brackets may hold spaces and brackets


def _resident_bytes(process: int) -> int:
    """The resident set, 0 for a process that has gone."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1]) * PAGE
    except (OSError, IndexError):
        return 0

"""How long after a push does a served library find what was pushed?

    python benchmarks/library_push.py LIBRARY REPOSITORY [--pushes 5] [--by hook|sync]

A server process serves the library, warm, and is asked by a caller over HTTP. A push is one commit to
REPOSITORY, whose origin is a bare repository of this machine. By `hook` it is told to the server as a forge
tells it, by `sync` a timer's `satchel library sync` looks at all repositories. What is measured are the
seconds from the commit until a search finds it, and the CPU seconds of the server with its workers. A search
is sent 50 ms after the last was answered. The figures are kept in results/library_push.txt, one line for each
way and number of repositories.
"""

from __future__ import annotations

import argparse
import hmac
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from library import commit, satchel

from satchel.library.library import Library

RESULTS = Path(__file__).parent / "results" / "library_push.txt"
SECRET = "the-secret-of-the-push-benchmark"
PAUSE_SECONDS = 0.05
PATIENCE_SECONDS = 60
REST_SECONDS = 1.0  # between two pushes
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Pushes:
    """What some pushes took, in seconds: until they were found, and of the CPU."""

    found: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


class Server:
    """A process that serves a library."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self._url = f"http://127.0.0.1:{port}"

    def post(self, path: str, body: bytes, **headers: str) -> Any:
        """Return the answer to a request."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(
            self._url + path, body, {"content-type": "application/json", **named}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as reply:
            return json.loads(reply.read())

    def finds(self, text: str) -> bool:
        """Return whether a search finds a name as it is written."""
        told = self.post("/v1/search", json.dumps({"query": text, "k": 3}).encode())
        return text in json.dumps(told["data"]["hits"])

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of the process and of its workers."""
        total = 0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if self._process.pid in (int(folder.name), int(fields[1])):
                total += int(fields[11]) + int(fields[12])
        return total / TICKS


@contextmanager
def serving(library: str) -> Iterator[Server]:
    """Give a server of a library that has answered once."""
    words = satchel("serve", "http", "--library", library, "--port", "0", "--json", "--workers", "1")
    environment = {**os.environ, "SATCHEL_HOOK_SECRET": SECRET}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        try:
            server = Server(process, json.loads(process.stdout.readline())["port"])
            server.finds("warm")
            yield server
        finally:
            process.terminate()


def push(server: Server, library: Library, name: str, by: str, taken: Pushes) -> None:
    """Push one commit, and add what it took."""
    marker = f"pushed_at_{time.time_ns()}"
    origin = next(one for one in library.repositories() if one.name == name).origin
    cpu = server.cpu_seconds()
    commit(Path(origin), f"def {marker}():\n    return 1\n")
    started = time.perf_counter()
    syncing = None
    if by == "hook":
        body = json.dumps({"repository": {"clone_url": origin}}).encode()
        signature = hmac.new(SECRET.encode(), body, "sha256").hexdigest()
        server.post("/v1/hooks/push", body, x_hub_signature_256=f"sha256={signature}")
    else:
        words = satchel("library", "sync", "--library", library.catalogue.place)
        syncing = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while not server.finds(marker):
        if time.perf_counter() - started > PATIENCE_SECONDS:
            raise SystemExit("the push is not found")
        time.sleep(PAUSE_SECONDS)
    taken.found.append(time.perf_counter() - started)
    taken.cpu.append(server.cpu_seconds() - cpu)
    if syncing is not None:
        syncing.wait()


def spread(numbers: Sequence[float]) -> str:
    """Return the middle one of some numbers, and the largest."""
    ordered = sorted(numbers)
    return f"{ordered[len(ordered) // 2]:.2f} (at most {ordered[-1]:.2f})"


def main() -> int:
    """Push, print and keep the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library")
    parser.add_argument("repository")
    parser.add_argument("--pushes", type=int, default=5)
    parser.add_argument("--by", choices=("hook", "sync"), default="hook")
    options = parser.parse_args()
    library = Library.open(options.library)
    taken = Pushes()
    with serving(options.library) as server:
        for _ in range(options.pushes):
            push(server, library, options.repository, options.by, taken)
            time.sleep(REST_SECONDS)
    kind = options.library.partition(":")[0] if "://" in options.library else "sqlite"
    head = f"{kind:<10} {len(library.repositories()):>3} repositories, by {options.by:<4}:"
    line = (
        f"{head} found after {spread(taken.found)} s, {spread(taken.cpu)} CPU s of the server;"
        f" {len(taken.found)} pushes to {options.repository}"
    )
    print(line)
    keep(head, line)
    return 0


def keep(head: str, line: str) -> None:
    """Replace the line of the results that begins alike."""
    lines = RESULTS.read_text().split("\n")[1:] if RESULTS.is_file() else []
    others = [one for one in lines if one and not one.startswith(head)]
    RESULTS.write_text("\n".join(["Figures of benchmarks/library_push.py.", *sorted([*others, line])]) + "\n")


if __name__ == "__main__":
    sys.exit(main())

"""A server answers a changed file as it is now, also where its size and its time are the old ones."""

from __future__ import annotations

import http.client
import json
import mmap
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from builders import age, git_repo
from surfaces import Server, serving

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows keeps no change time that a look could use")

OLD, NEW = "def rate():\n    return 'chestnut'\n", "def rate():\n    return 'marigold'\n"
HEARD_SECONDS = 10  # a busy machine; who watches hears of an edit within one


def lines_of(server: Server) -> str:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    request = {"ids": ["rate.py:1:2"]}
    connection.request("POST", "/v1/get", json.dumps(request), {"content-type": "application/json"})
    try:
        return connection.getresponse().read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("flags", [("--no-watch",), ()])
def test_a_server_agrees_with_the_disk(tmp_path: Path, flags: tuple[str, ...]) -> None:
    root = age(git_repo(tmp_path / "project", {"rate.py": OLD}))
    with serving("http", root, *flags) as server:
        assert "chestnut" in lines_of(server)
        stamp = (root / "rate.py").stat()
        (root / "rate.py").write_text(NEW)
        os.utime(root / "rate.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        end = time.monotonic() + (HEARD_SECONDS if not flags else 0)
        while "marigold" not in (said := lines_of(server)) and time.monotonic() < end:
            time.sleep(0.1)
        assert "marigold" in said


@contextmanager
def linked(root: Path) -> Iterator[Callable[[], None]]:
    """The file has a second name outside the folder, where nobody watches."""
    other = root.parent / "elsewhere.py"
    os.link(root / "rate.py", other)

    def write() -> None:
        with open(other, "r+b") as file:
            file.write(NEW.encode())

    yield write


@contextmanager
def mapped(root: Path) -> Iterator[Callable[[], None]]:
    """The file is in somebody's memory: no call writes it, so that the system has nothing to report."""
    with open(root / "rate.py", "r+b") as file:
        mapping = mmap.mmap(file.fileno(), 0)

    def write() -> None:
        mapping[:] = NEW.encode()
        mapping.flush()

    yield write
    mapping.close()


LOOK_SECONDS = 2.0  # who asks has all files looked at again after half a second


@pytest.mark.parametrize("writer", [linked, mapped])
def test_a_write_that_no_event_reports_is_seen_by_who_asks_a_little_later(
    tmp_path: Path, writer: Callable[[Path], AbstractContextManager[Callable[[], None]]]
) -> None:
    root = age(git_repo(tmp_path / "project", {"rate.py": OLD}))
    with writer(root) as write, serving("http", root) as server:
        assert "chestnut" in lines_of(server)
        # The looks that follow work are over; the next one comes by the clock after half a minute.
        time.sleep(4.0)
        assert "chestnut" in lines_of(server)
        write()
        time.sleep(LOOK_SECONDS)
        assert "marigold" in lines_of(server)

"""Workers take repositories from a queue in PostgreSQL; none is lost, none is done by two at a time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import SHOP, clean_environment, git, git_repo, make_tree, run_cli
from postgres_server import shared_server

from satchel.errors import Unsupported
from satchel.library.library import Library
from satchel.library.pushes import PushQueue
from satchel.library.queue import SyncQueue


@pytest.fixture
def library(tmp_path: Path) -> Library:
    made = Library.open(str(tmp_path / "library"))
    made.catalogue.create(shared_server().place(tmp_path))
    for name in ("one", "two"):
        made.add(str(git_repo(tmp_path / name, SHOP)), refs=["main"])
    return made


def waiting(queue: SyncQueue) -> list[tuple[str, int]]:
    return [(item.name, item.attempts) for item in queue.waiting()]


def test_what_waits_is_done_once_in_the_order_of_its_arrival(library: Library) -> None:
    queue = SyncQueue(library)
    assert queue.add(["two", "one"]) == ["two", "one"] and queue.add(["one"]) == []
    done = list(queue.work(once=True))
    assert [(result.name, result.parsed) for result in done] == [("two", len(SHOP)), ("one", len(SHOP))]
    assert waiting(queue) == [] and list(queue.work(once=True)) == []
    with library.engine() as engine:
        assert engine.search("basket")[0]


def test_what_a_worker_has_is_left_to_it_and_may_be_asked_for_again(library: Library) -> None:
    queue, other = SyncQueue(library), SyncQueue(library)
    queue.add(["one", "two"])
    with queue._taken() as (_, row):
        assert row is not None and row[1] == "one"
        assert [result.name for result in other.work(once=True)] == ["two"]
        assert other.add(["one"]) == ["one"] and [name for name, _ in waiting(other)] == ["one", "one"]
    assert len(list(queue.work(once=True))) == 2


def test_one_that_fails_waits_and_the_next_is_done(library: Library, tmp_path: Path) -> None:
    queue = SyncQueue(library)
    git(tmp_path / "one", "branch", "-m", "main", "elsewhere")
    queue.add(["one", "two", "removed"])
    done = {result.name: result.problem for result in queue.work(once=True)}
    assert done["one"] and not done["two"] and not done["removed"]
    assert waiting(queue) == [("one", 1)] and queue.waiting()[0].problem == done["one"]
    assert list(queue.work(once=True)) == []  # not before its time
    assert {one.name: one.state.value for one in library.repositories()} == {"one": "failed", "two": "ready"}


def test_a_push_is_searchable_in_under_ten_seconds(library: Library, tmp_path: Path) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-m", "satchel", "library", "worker", "--library", str(library.folder)],
        env=clean_environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert worker.stderr is not None
    try:
        assert run_cli("library", "sync", "--queue", "--library", library.folder).returncode == 0
        assert sorted(worker.stderr.readline()[:3] for _ in range(2)) == ["one", "two"]
        make_tree(tmp_path / "two", {"new.py": "def sell_unicorns():\n    pass\n"})
        git(tmp_path / "two", "add", "-A")
        git(tmp_path / "two", "commit", "-q", "-m", "unicorns")
        started = time.monotonic()
        SyncQueue(library).add(["two"])
        assert worker.stderr.readline() == f"two: 1 parsed, {len(SHOP)} kept\n"
        assert time.monotonic() - started < 10
        with library.engine() as engine:
            assert engine.search("sell unicorns")[0][0].path.endswith("new.py")
    finally:
        worker.kill()
        worker.communicate()


def test_what_a_killed_worker_had_is_done_by_the_next(library: Library) -> None:
    queue = SyncQueue(library)
    queue.add(["one"])
    code = (
        "import sys\nfrom satchel.library.library import Library\n"
        "from satchel.library.queue import SyncQueue\n"
        "with SyncQueue(Library.open(sys.argv[1]))._taken() as taken:\n"
        "    print(taken[1][1], flush=True)\n    sys.stdin.read()\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code, str(library.folder)],
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"one\n" and list(queue.work(once=True)) == []
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    for _ in range(100):
        if done := list(queue.work(once=True)):
            break
        time.sleep(0.05)
    assert [result.name for result in done] == ["one"] and waiting(queue) == []


def test_a_library_in_a_folder_has_no_queue(tmp_path: Path) -> None:
    library = Library.open(str(tmp_path / "library"))
    library.catalogue.create()
    with pytest.raises(Unsupported, match="PostgreSQL"):
        SyncQueue(library)
    done = run_cli("library", "worker", "--once", "--json", "--library", library.folder)
    assert json.loads(done.stdout)["error"]["code"] == "unsupported"


def test_sync_runs_on_a_cluster_by_command_line(library: Library) -> None:
    done = run_cli("library", "sync", "--cluster", "local:1", "--json", "--library", library.folder)
    told = json.loads(done.stdout)
    assert told["ok"] and [item["parsed"] for item in told["repositories"]] == [len(SHOP)] * 2


def test_a_push_goes_to_the_queue_of_the_workers(library: Library) -> None:
    pushes = PushQueue(library)
    for name in ("two", "one", "two"):
        pushes.add(name)
    assert [one.name for one in pushes.waiting()] == ["two", "one"]
    assert {result.name for result in SyncQueue(library).work(once=True)} == {"one", "two"}
    assert pushes.waiting() == []
    pushes.close()

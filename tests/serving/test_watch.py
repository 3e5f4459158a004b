"""`satchel watch` as a user runs it: a process that says what it does and ends when it is told to."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, age, clean_environment, git_repo, make_engine, make_tree, remove_folder, run_cli

START_SECONDS = 20.0  # a first start compiles every module
EDIT_SECONDS = 5.0  # one is promised; the machine that tests may be busy


class Watch:
    """A watching process; its lines are read by a thread."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def line(self, seconds: float = EDIT_SECONDS) -> str:
        return self.lines.get(timeout=seconds)

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(5)


@contextmanager
def watching(root: Path, *flags: str) -> Iterator[Watch]:
    process = subprocess.Popen(
        [sys.executable, "-m", "satchel", "watch", "-s", str(root), *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        text=True,
    )
    try:
        yield Watch(process)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(params=["git", "plain"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    make = git_repo if request.param == "git" else make_tree
    return age(make(tmp_path / "shop", SHOP))


def test_it_says_what_it_did_first_and_for_each_edit(shop: Path) -> None:
    with watching(shop) as watch:
        assert watch.line(START_SECONDS).startswith("generation 1: 7 parsed, ")
        make_tree(shop, {"src/money.py": "zebra = 1\n"})
        assert watch.line().startswith("generation 2: 1 parsed, ")
        (shop / "src/money.py").unlink()
        assert watch.line().startswith("generation 3: 1 dropped, ")


def test_with_json_each_line_is_an_object(shop: Path) -> None:
    with watching(shop, "--json") as watch:
        first: dict[str, Any] = json.loads(watch.line(START_SECONDS))
        assert (first["event"], first["generation"], first["parsed"]) == ("refresh", 1, 7)
        assert watch.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_0_when_it_is_told_to(tmp_path: Path, number: signal.Signals) -> None:
    with watching(make_tree(tmp_path, SHOP)) as watch:
        watch.line(START_SECONDS)
        started = time.monotonic()
        assert watch.end(number) == 0
        assert time.monotonic() - started < 2


def test_it_can_be_ended_while_the_first_index_is_made(tmp_path: Path) -> None:
    files = {f"d{number % 40}/f{number}.py": "def x():\n    pass\n\n\n" * 400 for number in range(600)}
    with watching(make_tree(tmp_path, files)) as watch:
        deadline = time.monotonic() + START_SECONDS
        while not list(tmp_path.glob("_ctx/context.db.new*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert watch.end() == 0
    assert not (tmp_path / "_ctx/context.db").exists()


def test_two_watch_the_same_folder_and_one_of_them_indexes(shop: Path) -> None:
    with watching(shop) as one, watching(shop) as two:
        for watch in (one, two):
            watch.line(START_SECONDS)
        make_tree(shop, {"src/money.py": "zebra = 1\n"})
        deadline = time.monotonic() + EDIT_SECONDS
        while one.lines.empty() and two.lines.empty() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        assert one.lines.qsize() + two.lines.qsize() == 1
        assert one.end() == two.end() == 0


def test_it_goes_on_when_the_index_is_deleted(shop: Path) -> None:
    with watching(shop) as watch:
        watch.line(START_SECONDS)
        remove_folder(shop / "_ctx")
        assert watch.line().startswith("generation 1: 7 parsed, ")


def test_the_index_can_be_elsewhere(shop: Path, tmp_path: Path) -> None:
    with watching(shop, "--index-dir", str(tmp_path / "elsewhere")) as watch:
        watch.line(START_SECONDS)
        make_tree(shop, {"src/money.py": "zebra = 1\n"})
        assert "1 parsed" in watch.line()
    assert not (shop / "_ctx").exists()
    with make_engine(shop, index_dir=tmp_path / "elsewhere") as engine:
        assert not engine.state().stale


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    done = run_cli("watch", "--segment", tmp_path / "none")
    assert done.returncode == 3
    assert b"is not a folder" in done.stderr


def test_it_ends_when_nobody_reads_its_lines(shop: Path) -> None:
    command = f"{sys.executable} -m satchel watch --segment {shop}"
    script = f"{command} | head -n 1; echo gone"
    process = subprocess.Popen(
        ["sh", "-c", script], stdout=subprocess.PIPE, env=clean_environment(), text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("generation 1")
        make_tree(shop, {"src/money.py": "zebra = 1\n"})
        assert process.stdout.readline() == "gone\n"

"""SIGKILL at random moments of indexing: the last good index stays, and the next refresh is whole."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import clean_environment, dump, make_engine, make_tree, memory_engine

from satchel.errors import IndexMissing

ROUNDS = 8  # of each of the two kinds; benchmarks/faults.py has 200
FILES = 200

# One process that has loaded everything forks the victims: fifty starts of Python would take a minute.
_KILLER = """
import os, signal, sys, time
from satchel.engine import Engine
from satchel.storage.memory import MemoryStore
Engine.open(sys.argv[1], store=MemoryStore(), workers=1).refresh()
for line in sys.stdin:
    victim = os.fork()
    if victim == 0:
        engine = Engine.open(sys.argv[1], workers=1)
        engine.refresh()
        os._exit(0)
    time.sleep(float(line))
    os.kill(victim, signal.SIGKILL)
    status = os.waitpid(victim, 0)[1]
    print("killed" if os.WIFSIGNALED(status) else "done", flush=True)
"""


class Killer:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def index_and_kill(self, after_seconds: float) -> bool:
        """Whether the indexer died before it was done."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{after_seconds}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline() == "killed\n"


@contextmanager
def killer(root: Path) -> Iterator[Killer]:
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLER, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(),
        text=True,
    )
    with process:
        yield Killer(process)
        assert process.stdin is not None
        process.stdin.close()


def file(number: int, version: int) -> dict[str, str]:
    if number % 2:
        return {f"d{number % 7}/n{number}.md": f"# Basket {number}\n\nversion{version} price\n"}
    return {f"d{number % 7}/n{number}.py": f"def basket_{number}():\n    return {version}\n"}


def write_some(root: Path, chance: random.Random, version: int) -> None:
    for number in chance.sample(range(FILES), 60):
        (path,) = file(number, version)
        if chance.random() < 0.2:
            (root / path).unlink(missing_ok=True)
        else:
            make_tree(root, file(number, version))


def read_without_refresh(root: Path) -> Any:
    with make_engine(root) as engine:
        try:
            return dump(engine, ["basket price"])
        except IndexMissing:
            return None


def duration_of_a_first_index(root: Path) -> float:
    started = time.monotonic()
    with make_engine(root) as engine:
        engine.refresh()
    return time.monotonic() - started


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for number in range(FILES):
        make_tree(root, file(number, 0))
    return root


def test_a_kill_during_a_refresh_leaves_the_last_generation_or_the_next(tree: Path) -> None:
    chance = random.Random(7)
    duration = duration_of_a_first_index(tree)
    before = read_without_refresh(tree)
    killed = 0
    with killer(tree) as process:
        for version in range(1, ROUNDS + 1):
            write_some(tree, chance, version)
            killed += process.index_and_kill(chance.random() * duration * 0.6)
            after = dump(memory_engine(tree), ["basket price"])
            assert read_without_refresh(tree) in (before, after)
            with make_engine(tree) as engine:
                engine.refresh()
                assert dump(engine, ["basket price"]) == after
            before = after
    assert killed > ROUNDS // 4


def test_a_kill_during_a_first_index_leaves_none_or_a_whole_one(tree: Path) -> None:
    chance = random.Random(11)
    duration = duration_of_a_first_index(tree)
    after = dump(memory_engine(tree), ["basket price"])
    killed = 0
    with killer(tree) as process:
        for _ in range(ROUNDS):
            for path in (tree / "_ctx").glob("context.db*"):
                path.unlink()
            killed += process.index_and_kill(chance.random() * duration * 1.1)
            assert read_without_refresh(tree) in (None, after)
        with make_engine(tree) as engine:
            engine.refresh()
            assert dump(engine, ["basket price"]) == after
    assert killed > ROUNDS // 4
    assert not list((tree / "_ctx").glob("*.new*"))

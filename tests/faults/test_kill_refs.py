"""SIGKILL at random moments of making the index of a ref: all that was there stays, and asking again works."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import clean_environment, dump, git_repo, make_engine, make_tree, memory_engine

ROUNDS = 12
FILES = 200

_KILLER = """
import os, signal, sys, time
from satchel.engine import Engine
from satchel.storage.memory import MemoryStore
warm = Engine.open(sys.argv[1], store=MemoryStore(), workers=1)
warm.refresh()
warm.at("HEAD")
for line in sys.stdin:
    ref, seconds = line.split()
    victim = os.fork()
    if victim == 0:
        Engine.open(sys.argv[1], workers=1).at(ref)
        os._exit(0)
    time.sleep(float(seconds))
    os.kill(victim, signal.SIGKILL)
    status = os.waitpid(victim, 0)[1]
    print("killed" if os.WIFSIGNALED(status) else "done", flush=True)
"""


@pytest.fixture
def history(tmp_path: Path) -> Path:
    root = tmp_path / "history"
    chance = random.Random(3)
    for version in range(ROUNDS + 1):
        some = range(FILES) if not version else chance.sample(range(FILES), FILES // 2)
        make_tree(root, {f"d{n % 5}/n{n}.py": f"def basket_{n}():\n    return {version}\n" for n in some})
        git_repo(root, {})
    return root


def test_a_kill_while_an_index_of_a_ref_is_made_loses_nothing(history: Path) -> None:
    chance = random.Random(5)
    with make_engine(history) as engine:
        engine.refresh()
        before = dump(engine, ["basket"])
        started = time.monotonic()
        known = dump(engine.at("HEAD"), ["basket"])
        duration = time.monotonic() - started
    killed = 0
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLER, str(history)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(),
        text=True,
    )
    with process:
        assert process.stdin is not None and process.stdout is not None
        for number in range(1, ROUNDS + 1):
            process.stdin.write(f"HEAD~{number} {chance.random() * duration}\n")
            process.stdin.flush()
            if process.stdout.readline() == "killed\n":
                killed += 1
            else:
                duration *= 0.6  # a warm process makes it in less time than the first one took
            with make_engine(history) as engine:
                assert dump(engine, ["basket"]) == before
                assert dump(engine.at("HEAD"), ["basket"]) == known
                if number % 3 == 0:  # what was half made is made again; otherwise it is swept by others
                    with engine.at(f"HEAD~{number}") as past:
                        plain = memory_engine(history).at(past.commit)
                        assert dump(past, ["basket"]) == dump(plain, ["basket"])
        process.stdin.close()
    assert killed > ROUNDS // 4
    assert not [path for path in (history / "_ctx/refs").iterdir() if ".new" in path.name]

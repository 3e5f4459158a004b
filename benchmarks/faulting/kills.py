"""Killed at any instant of any command: is the last good index there, and is the next answer whole?

    python benchmarks/faulting/kills.py [--kills 200] [--seed 1]

A file is changed, a command is started as a process of its own and killed by SIGKILL at a random moment. A
kill that comes after the command was done does not count. After each kill the index must be one complete
generation, the next refresh must give what a new index of the folder gives, and no file but the index's own
may have come into the folder.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(HERE.parent), str(TESTS)]

from builders import clean_environment, dump, make_engine, memory_engine  # noqa: E402

from faulting.changing import ChangingProject, fresh_project  # noqa: E402
from satchel.errors import IndexMissing  # noqa: E402

_QUESTION = "how is the basket counted"
COMMANDS: dict[str, tuple[str, ...]] = {
    "index": ("index",),
    "index --force": ("index", "--force"),
    "search": ("search", _QUESTION),
    "pack": ("pack", _QUESTION),
    "context_pack": ("context_pack", _QUESTION),
    "build_context_pack": ("build_context_pack", _QUESTION),
    "get": ("get", "src/bank.py:1:3"),
    "symbols": ("symbols", "src/bank.py"),
    "refs": ("refs", "count"),
    "map": ("map",),
    "build": ("build",),
    "sync": ("sync", "--scope", "all"),
    "prompt": ("prompt",),
    "stats": ("stats",),
    "status": ("status", "--skipped"),
    "pack --ref": ("pack", _QUESTION, "--ref", "HEAD"),
    "pack --diff": ("pack", "--diff", "HEAD~1..HEAD"),
    "eval --history": ("eval", "--history", "3"),
    "watch": ("watch",),
    "serve http": ("serve", "http", "--port", "0"),
    "serve mcp": ("serve", "mcp", "--port", "0"),
}
_ENDLESS = ("watch", "serve http", "serve mcp")
_ENDLESS_SECONDS = 1.5  # within which these index what there is
_ASKED = ["basket counted"]


class Killing:
    """One project, and the state that its index was last seen in."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.project: ChangingProject = fresh_project(folder, seed, in_git=True)
        self.project.switch_branch()
        self._random = random.Random(seed)
        self.tracked = self._files()
        with make_engine(self.project.root) as engine:
            engine.refresh()
        self.before = dump(memory_engine(self.project.root), _ASKED)
        self._seconds: dict[str, float] = dict.fromkeys(_ENDLESS, _ENDLESS_SECONDS)

    def round(self, name: str) -> tuple[bool, list[str]]:
        """Change files, run a command, kill it; whether the kill hit, and what was wrong afterwards."""
        change = self._random.choice(
            ["edit", "new file", "deleted file", "renamed file", "edit of equal size"]
        )
        self.project.changes[change]()
        started = time.monotonic()
        process = self._start(COMMANDS[name])
        hit = True
        try:
            share = self._random.uniform(0.1, 1.0)
            process.wait(share * self._seconds[name] if name in self._seconds else None)
            hit = False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if name not in self._seconds:
            self._seconds[name] = time.monotonic() - started
        return hit, [f"{name}: {text}" for text in self._wrong()]

    def _start(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "satchel", *words, "--segment", str(self.project.root)],
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _wrong(self) -> list[str]:
        wrong = []
        after = dump(memory_engine(self.project.root), _ASKED)
        kept = self._kept()
        if kept not in (self.before, after):
            wrong.append("the index is neither the last complete one nor the next")
        with make_engine(self.project.root) as engine:
            engine.ensure_fresh()
            if dump(engine, _ASKED) != after:
                wrong.append("the next refresh does not give what a new index gives")
            if any("set aside" in note for note in engine.notes):
                wrong.append(f"the index was lost: {engine.notes}")
        strangers = self._files() - self.tracked - set(self.project.marks)
        if strangers:
            wrong.append(f"left behind: {sorted(strangers)}")
        self.before = after
        return wrong

    def _kept(self) -> Any:
        with make_engine(self.project.root) as engine:
            try:
                return dump(engine, _ASKED)
            except IndexMissing:
                return None

    def _files(self) -> set[str]:
        found = (
            path.relative_to(self.project.root) for path in self.project.root.rglob("*") if path.is_file()
        )
        return {path.as_posix() for path in found if path.parts[0] not in ("_ctx", ".git")}


def run(kills: int, seed: int, tell: Callable[[str], None]) -> tuple[Counter[str], list[str]]:
    """Kill until so many kills have hit; how many hit each command, and all that was wrong."""
    hits: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        killing = Killing(Path(folder) / "shop", seed)
        rounds = 0
        while sum(hits.values()) < kills:
            name = list(COMMANDS)[rounds % len(COMMANDS)]
            hit, found = killing.round(name)
            hits[name] += hit
            wrong += found
            rounds += 1
            if rounds % len(COMMANDS) == 0:
                tell(f"{rounds} rounds, {sum(hits.values())} kills hit, {len(wrong)} wrong")
    return hits, wrong


def main() -> int:
    """Run the kills and print what they hit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    hits, wrong = run(options.kills, options.seed, print)
    print(dict(hits))
    print("\n".join(wrong[:20]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

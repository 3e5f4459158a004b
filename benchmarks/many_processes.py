"""Do many processes get along on one index, readers that ask and indexers that edit and refresh?

    python benchmarks/many_processes.py FOLDER [--seconds 120] [--readers 8] [--indexers 2] [--watches 0]

FOLDER is changed: give it a copy. A round of a reader is what a command of the command line does: open the
index, bring it up to date if it is not, search, make a pack, close. The figures are rounds, errors by type,
the time a round took, and how long the write-ahead log got. Any error at all ends with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from satchel.engine import Engine

QUESTIONS = ("where is the total added up", "parse a date", "open the connection", "template loader", "cache")
RESULTS = Path(__file__).parent / "results" / "many_processes.txt"
START_SECONDS = 60.0  # for all processes to have loaded what they need
MOST_ERRORS = 20  # of one process; then it has made its point
LOG_MEGABYTES = 1_000_000


def read(root: Path, chance: random.Random) -> None:
    """One round of a reader."""
    with Engine.open(root, workers=1) as engine:
        if chance.random() < 0.5:
            engine.ensure_fresh()
        engine.search(chance.choice(QUESTIONS), 5)
        engine.pack(chance.choice(QUESTIONS), budget_tokens=1000)
        engine.state()


def index(root: Path, chance: random.Random) -> None:
    """One round of an indexer: a file is edited, comes or goes, and the index follows."""
    files = sorted(path for path in root.rglob("*.py") if "_ctx" not in path.parts)
    path = chance.choice(files)
    word = f"w{chance.randrange(10**9)}"
    try:
        if chance.random() < 0.2:
            (path.parent / f"{word}.py").write_text(f"{word} = 1\n")
        elif chance.random() < 0.2 and path.name.startswith("w"):
            path.unlink()
        else:
            path.write_text(path.read_text(errors="replace") + f"\n# {word}\n")
    except FileNotFoundError:  # the other indexer deleted it
        return
    with Engine.open(root, workers=1) as engine:
        if chance.random() < 0.5:
            engine.refresh()
        else:
            engine.refresh(paths=[path.relative_to(root).as_posix()])
        engine.search(word, 1)


ROLES: dict[str, Callable[[Path, random.Random], None]] = {"read": read, "index": index}


def work(role: str, root: Path, seconds: float, seed: int) -> None:
    """What one process does; its figures are one line of JSON."""
    sys.stdin.readline()  # all begin together
    chance = random.Random(seed)
    times: list[float] = []
    errors: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end and errors.total() < MOST_ERRORS:
        started = time.monotonic()
        try:
            ROLES[role](root, chance)
        except Exception as error:  # each kind is counted, and any fails the run
            errors[f"{type(error).__name__}: {error}"] += 1
        times.append(time.monotonic() - started)
    print(json.dumps({"role": role, "times": times, "errors": errors}))


def run(root: Path, seconds: float, readers: int, indexers: int, watches: int = 0) -> dict[str, Any]:
    """All processes side by side; the figures of all."""
    with Engine.open(root) as engine:
        engine.refresh()
    me = [sys.executable, str(Path(__file__).resolve())]
    roles = ["read"] * readers + ["index"] * indexers
    workers = [
        subprocess.Popen(
            [*me, str(root), "--role", role, "--seed", str(seed), "--seconds", str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed, role in enumerate(roles)
    ]
    watch = [sys.executable, "-m", "satchel", "watch", "--json", "--segment", str(root)]
    watchers = [subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) for _ in range(watches)]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    log = _longest_log(root, workers, seconds + START_SECONDS)
    results = [json.loads(worker.communicate()[0] or "{}") for worker in workers]
    said = [line for watcher in watchers for line in _end(watcher)]
    return _figures(results, said) | {"longest_log_mb": round(log / LOG_MEGABYTES, 1)}


def _longest_log(root: Path, workers: list[subprocess.Popen[str]], seconds: float) -> int:
    longest, end = 0, time.monotonic() + seconds
    while any(worker.poll() is None for worker in workers) and time.monotonic() < end:
        log = root / "_ctx" / "context.db-wal"
        longest = max(longest, log.stat().st_size if log.exists() else 0)
        time.sleep(0.2)
    return longest


def _end(watcher: subprocess.Popen[str]) -> list[str]:
    watcher.terminate()
    return watcher.communicate()[0].splitlines()


def _figures(results: list[dict[str, Any]], said: list[str]) -> dict[str, Any]:
    figures: dict[str, Any] = {"died": sum(not result for result in results)}
    errors: Counter[str] = Counter(line for line in said if '"failed"' in line)
    for role in ROLES:
        times: list[float] = []
        for result in results:
            if result.get("role") == role:
                times += result["times"]
                errors.update(result["errors"])
        if times:
            figures |= {
                f"{role}_rounds": len(times),
                f"{role}_p50_ms": round(1000 * statistics.median(times)),
                f"{role}_max_ms": round(1000 * max(times)),
            }
    return figures | {"watch_lines": len(said), "errors": dict(errors)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--indexers", type=int, default=2)
    parser.add_argument("--watches", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--role", choices=ROLES, default="", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role:
        work(given.role, given.folder, given.seconds, given.seed)
        return 0
    figures = run(given.folder, given.seconds, given.readers, given.indexers, given.watches)
    told = (
        f"{given.folder.name}: {given.readers} readers, {given.indexers} indexers and {given.watches} watches"
        f" for {given.seconds:g} s\n{json.dumps(figures, indent=2)}\n"
    )
    print(told, end="")
    given.out.write_text(told)
    return 1 if figures["errors"] or figures["died"] else 0


if __name__ == "__main__":
    sys.exit(main())

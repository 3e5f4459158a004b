"""How long does a warm question take inside a process, beside semble on the same folder?

    python benchmarks/search_speed.py FOLDER [--index DIR] [--alone] [--rounds 5]

Both index the folder first, answer every question once, and are then timed by CPU milliseconds over the
rounds; semble runs in its own environment (see peers.py). `--alone` leaves semble out (a tree as large as
Linux takes it very long). CPU time counts all threads.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from corpora import default_cache
from peers import install_semble

from satchel.engine import Engine

QUESTIONS = (
    "where are sessions stored",
    "how does the query compiler build joins",
    "csrf token validation",
    "cache backend that keeps values in memory",
    "how are file uploads handled",
    "template loader",
    "which function reverses a url",
    "password hashing",
    "signal dispatch to receivers",
    "how are migrations ordered",
    "parse a date from a string",
    "lock that protects the list of devices",
    "buffer allocation and release",
    "retry after a time out",
    "read the configuration file",
)
SEMBLE = """
import json, sys, time
from semble import SembleIndex
index = SembleIndex.from_path(sys.argv[1])
questions, rounds = json.loads(sys.argv[2]), int(sys.argv[3])
for question in questions:
    index.search(question)
times = []
for _ in range(rounds):
    for question in questions:
        started = time.process_time()
        index.search(question)
        times.append(time.process_time() - started)
print(json.dumps(times))
"""


def satchel_times(folder: Path, index: Path, rounds: int) -> list[float]:
    """CPU seconds of each question."""
    times = []
    with Engine.open(folder, index_dir=index) as engine:
        engine.refresh()
        for question in QUESTIONS:
            engine.search(question)
        for question in QUESTIONS * rounds:
            started = time.process_time()
            engine.search(question)
            times.append(time.process_time() - started)
    return times


def semble_times(folder: Path, rounds: int, cache: Path, scratch: Path) -> list[float]:
    """The same for semble."""
    semble = install_semble(cache)
    environment = {"SEMBLE_MODEL_NAME": str(semble.model), "SEMBLE_CACHE_LOCATION": str(scratch)}
    command = [semble.program.parent / "python", "-c", SEMBLE, folder, json.dumps(QUESTIONS), str(rounds)]
    done = subprocess.run(
        command, env=environment | {"HF_HUB_OFFLINE": "1"}, capture_output=True, check=True, text=True
    )
    times: list[float] = json.loads(done.stdout.strip().split("\n")[-1])
    return times


def row(label: str, times: list[float]) -> str:
    """Median and 95th percentile in CPU milliseconds."""
    ordered = sorted(times)
    late = ordered[int(len(ordered) * 0.95)]
    return f"{label:<10}{1000 * statistics.median(ordered):>10.1f}{1000 * late:>10.1f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--index", type=Path, help="where satchel's index is kept between runs")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=default_cache())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        index = options.index or Path(scratch, "satchel")
        own = satchel_times(options.folder, index, options.rounds)
        print(f"{len(QUESTIONS)} questions, {options.rounds} rounds, CPU ms{'p50':>8}{'p95':>10}")
        print(row("satchel", own))
        sys.stdout.flush()
        if not options.alone:
            print(row("semble", semble_times(options.folder, options.rounds, options.cache, Path(scratch))))


if __name__ == "__main__":
    main()

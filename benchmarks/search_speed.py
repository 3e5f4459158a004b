"""How long does a question take inside a process, beside semble on the same folder?

    python benchmarks/search_speed.py FOLDER [--index DIR] [--rounds 5]
    python benchmarks/search_speed.py FOLDER --alone --limit-ms 60      without semble, which takes a tree as
                                                                        large as Linux very long

Both index the folder first and answer a few other questions. Then every question is asked for the first
time, and after that again in rounds: those are warm. CPU milliseconds, all threads counted; semble runs in
its own environment (see peers.py). The table goes to the terminal and, one block for each folder, to
`results/search_speed.txt`. Exit code 1 when the warm p50 or p95 is above semble's, or p95 above the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from corpora import default_cache
from peers import install_semble

from satchel.engine import Engine

RESULTS = Path(__file__).parent / "results" / "search_speed.txt"
BEFORE = ("how is text encoded", "which tests are slow", "where is the version kept")
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
before, questions, rounds = *map(json.loads, sys.argv[2:4]), int(sys.argv[4])
def timed(question):
    started = time.process_time()
    index.search(question)
    return time.process_time() - started
for question in before:
    index.search(question)
print(json.dumps([[timed(question) for question in asked] for asked in (questions, questions * rounds)]))
"""


class Times(NamedTuple):
    """CPU seconds of each question: asked for the first time, and again."""

    first: list[float]
    warm: list[float]


class Spread(NamedTuple):
    """Median and 95th percentile in CPU milliseconds."""

    p50: float
    p95: float


def satchel_times(folder: Path, index: Path, rounds: int) -> Times:
    """What the questions cost satchel."""
    with Engine.open(folder, index_dir=index) as engine:
        engine.refresh()
        for question in BEFORE:
            engine.search(question)
        return Times(*([timed(engine, one) for one in asked] for asked in (QUESTIONS, QUESTIONS * rounds)))


def timed(engine: Engine, question: str) -> float:
    """CPU seconds of one question."""
    started = time.process_time()
    engine.search(question)
    return time.process_time() - started


def semble_times(folder: Path, rounds: int, cache: Path, scratch: Path) -> Times:
    """The same for semble."""
    semble = install_semble(cache)
    environment = {"SEMBLE_MODEL_NAME": str(semble.model), "SEMBLE_CACHE_LOCATION": str(scratch)}
    words = [folder, json.dumps(BEFORE), json.dumps(QUESTIONS), str(rounds)]
    done = subprocess.run(
        [semble.program.parent / "python", "-c", SEMBLE, *words],
        env=environment | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    return Times(*json.loads(done.stdout.strip().split("\n")[-1]))


def spread(times: list[float]) -> Spread:
    """Of some questions."""
    ordered = sorted(times)
    return Spread(1000 * statistics.median(ordered), 1000 * ordered[int(len(ordered) * 0.95)])


def rows(name: str, times: Times) -> list[str]:
    """One for the questions that were asked before, one for the others."""
    labelled = ((f"{name}, warm", times.warm), (f"{name}, asked for the first time", times.first))
    return [
        f"{label:<36}{len(values):>5}{spread(values).p50:>10.1f}{spread(values).p95:>10.1f}"
        for label, values in labelled
    ]


def bars(own: Spread, semble: Spread | None, limit: float | None) -> dict[str, bool]:
    """What must hold, and whether it does."""
    found = {}
    if semble is not None:
        found["warm p50 is not above semble's"] = own.p50 <= semble.p50
        found["warm p95 is not above semble's"] = own.p95 <= semble.p95
    if limit is not None:
        found[f"warm p95 is not above {limit:g} ms"] = own.p95 <= limit
    return found


def keep(results: Path, name: str, block: str) -> None:
    """Put a folder's block in the place of its last one; the other blocks stay."""
    kept = results.read_text(encoding="utf-8").split("\n\n") if results.exists() else []
    blocks = {one.partition(",")[0].strip(): one.strip() for one in kept}
    blocks[name] = block
    results.write_text("\n\n".join(blocks[key] for key in sorted(blocks)) + "\n", encoding="utf-8")


def main() -> int:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--index", type=Path, help="where satchel's index is kept between runs")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--limit-ms", type=float, help="what the warm p95 may be")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    name = options.folder.resolve().name
    with tempfile.TemporaryDirectory() as scratch:
        own = satchel_times(options.folder, options.index or Path(scratch, "satchel"), options.rounds)
        table = rows("satchel", own)
        peer = None
        if not options.alone:
            semble = semble_times(options.folder, options.rounds, options.cache, Path(scratch))
            table += rows("semble", semble)
            peer = spread(semble.warm)
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    title = f"{name}, {len(QUESTIONS)} questions, warm ones in {options.rounds} rounds; {machine}"
    met = bars(spread(own.warm), peer, options.limit_ms)
    verdicts = [f"{bar:<36}{'pass' if holds else 'FAIL':>5}" for bar, holds in met.items()]
    block = "\n".join([title, f"{'CPU ms':<36}{'n':>5}{'p50':>10}{'p95':>10}", *table, *verdicts])
    print(block)
    keep(options.out, name, block)
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

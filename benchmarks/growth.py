"""How do the costs grow with the tree? Samples of Linux of 1,000, 5,000 and 20,000 files, and all of it.

    python benchmarks/growth.py                       all sizes, one run each
    python benchmarks/growth.py --sizes 1000 5000     some of them
    python benchmarks/growth.py --keep DIR            indexes are kept in DIR with the time they took, and not
                                                  built again

A sample has the files whose paths have the smallest hashes: every folder gives its share, and each sample
holds the smaller ones. It is a plain folder of hard links. Measured are CPU seconds of whole processes: the
first index for each megabyte of text, a search by command line on a fresh index, and the first search after
one file was edited; of searches the least of three. The table goes to the terminal and to
`results/growth.txt`. Exit code 1 when a search takes longer than it may: .30 s up to 20,000 files, .60 s
beyond, also after a change.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpora import default_cache, get
from measure import Measurement, disk_bytes, installed_satchel, measure
from peers import QUESTION, edited_file

RESULTS = Path(__file__).parent / "results" / "growth.txt"
SIZES = (1_000, 5_000, 20_000, 80_000)
RUNS = 3
LIMITS = ((20_000, 0.30), (sys.maxsize, 0.60))  # files of the sample, CPU seconds of a search


@dataclass(frozen=True, slots=True)
class Growth:
    """What one size costs."""

    files: int
    text_mb: float
    index_s: float | None
    database_mb: float
    search_s: float
    changed_s: float

    @property
    def met(self) -> bool:
        """Whether both searches keep their limit."""
        limit = next(seconds for files, seconds in LIMITS if self.files <= files)
        return max(self.search_s, self.changed_s) <= limit

    def line(self) -> str:
        """Return the line of the table."""
        per_mb = f"{self.index_s / self.text_mb:10.3f}" if self.index_s is not None else f"{'-':>10}"
        share = self.database_mb / self.text_mb
        searches = f"{self.search_s:10.3f}{self.changed_s:16.3f}"
        verdict = "pass" if self.met else "FAIL"
        return f"{self.files:>8}{self.text_mb:>9.1f}{per_mb}{share:>9.2f}{searches}   {verdict}"


def sample(corpus: Path, size: int, folder: Path) -> Path:
    """Return a folder with some files of a corpus, as hard links; one that is there already is taken."""
    if folder.exists():
        return folder
    files = (path for path in corpus.rglob("*") if path.is_file() and not path.is_symlink())
    paths = sorted(
        (path.relative_to(corpus) for path in files),
        key=lambda path: hashlib.sha256(path.as_posix().encode()).digest(),
    )
    for path in paths[:size]:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(corpus / path, target)
    return folder


def least(once: Callable[[], Measurement]) -> float:
    """Return the least CPU seconds of some runs."""
    return min(once().cpu_s for _ in range(RUNS))


def grow(folder: Path, index: Path) -> Growth:
    """Measure one sample. An index that is there already is brought up to date; the time that it took is kept
    beside it."""

    def command(*words: str) -> Measurement:
        scope = ("--segment", str(folder), "--index-dir", str(index), "--no-server")
        return measure([*installed_satchel(), *words, *scope])

    seconds = index.with_suffix(".seconds")
    is_new = not index.exists()
    first = command("index")
    if is_new:
        seconds.write_text(str(first.cpu_s), encoding="utf-8")
    stats = json.loads(command("stats", "--json").output)
    search = least(lambda: command("search", QUESTION))

    def after_a_change() -> Measurement:
        with edited_file(folder):
            return command("search", QUESTION)

    changed = least(after_a_change)
    return Growth(
        stats["files"],
        stats["text_bytes"] / 1e6,
        float(seconds.read_text(encoding="utf-8")) if seconds.exists() else None,
        disk_bytes(index / "context.db") / 1e6,
        search,
        changed,
    )


def main() -> int:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--keep", type=Path, help="where samples and indexes are kept")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    corpus = get("linux", options.cache)
    found = []
    with tempfile.TemporaryDirectory(dir=options.cache) as scratch:
        place = options.keep or Path(scratch)
        for size in options.sizes:
            folder = sample(corpus, size, place / f"sample-{size}")
            found.append(grow(folder, place / f"index-{size}"))
            print(found[-1].line(), flush=True)
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    title = f"samples of linux, CPU s, least of {RUNS} runs; {machine}"
    head = f"{'files':>8}{'text MB':>9}{'index/MB':>10}{'db/text':>9}{'search':>10}{'after a change':>16}"
    table = "\n".join([title, "", head, *(one.line() for one in found)]) + "\n"
    print(table)
    options.out.write_text(table, encoding="utf-8")
    return 0 if all(one.met for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())

"""What does a library cost as it grows: loading, room, memory, searches, packs, a push until it is found?

    python benchmarks/library.py MIRRORS [--sizes 10,30,100] [--store URL] [--work DIR]

`MIRRORS` is a folder whose folders are git repositories (bare ones, or `NAME/repo`), by name: the first ten
make the first library, and so on. Each size is a library of its own, synced by `satchel library sync` at HEAD
and asked by one process that opens it once. Questions are about things that many repositories have, so that
no repository can be left aside. CPU seconds of all processes; memory is what the asking process holds at the
end. The figures are kept in results/library.txt, one block for each store.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from measure import MEGABYTE, PAGE, measure

RESULTS = Path(__file__).parent / "results" / "library.txt"
QUESTIONS = (
    "parse command line arguments",
    "retry a request with growing pauses",
    "where is the configuration file read",
    "escape html in a template",
    "how are plugins discovered",
    "connection pool",
    "write a file atomically",
    "parse a date string with a time zone",
    "LRU cache eviction",
    "how are errors reported to the user",
    "tokenizer of the lexer",
    "glob pattern matching",
    "thread pool shutdown",
    "serialize to json",
    "validate an email address",
    "merge two sorted lists",
    "colored terminal output",
    "how are tests discovered",
    "resolve an import to a file",
    "encode base64",
    "format bytes as a human readable size",
    "detect the encoding of a file",
    "rate limit of an api client",
    "diff of two texts",
    "database migration",
    "watch a folder for changes",
    "unicode normalization",
    "parse a semantic version",
    "signal handler for SIGINT",
    "compress with gzip",
)
PACK_TOKENS = 4_000
PACKS = 15  # questions that a pack is made of as well
IDENTITY = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.org")


@dataclass(frozen=True, slots=True)
class Asked:
    """What one process measured that opened a library and asked it: CPU milliseconds, megabytes, counts."""

    units: int
    files: int
    text_mb: float
    open_ms: float
    first_ms: list[float]
    warm_ms: list[float]
    pack_ms: list[float]
    resident_mb: float


def cpu_ms() -> float:
    """CPU milliseconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def timed(questions: Sequence[str], run: Callable[[str], object]) -> list[float]:
    """CPU milliseconds of a function for each of some questions."""
    spent = []
    for question in questions:
        started = cpu_ms()
        run(question)
        spent.append(cpu_ms() - started)
    return spent


def ask(folder: str) -> Asked:
    """Open a library in this process, and ask every question twice."""
    from satchel.library.library import Library

    started = cpu_ms()
    engine = Library.open(folder).engine()
    engine.search("warm")
    opened = cpu_ms() - started
    first = timed(QUESTIONS, engine.search)
    warm = timed(QUESTIONS, engine.search)
    packs = timed(QUESTIONS[:PACKS], lambda text: engine.pack(text, budget_tokens=PACK_TOKENS))
    corpus = engine.corpus()
    return Asked(
        units=corpus.unit_count,
        files=len(corpus.files),
        text_mb=sum(record.size for record in corpus.files) / MEGABYTE,
        open_ms=opened,
        first_ms=first,
        warm_ms=warm,
        pack_ms=packs,
        resident_mb=int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / MEGABYTE,
    )


def satchel(*words: str) -> list[str]:
    return [sys.executable, "-m", "satchel", *words]


def load(repositories: Sequence[Path], folder: Path, store: str) -> float:
    """Make a library of some repositories, and return the CPU seconds of its first sync."""
    chosen = ["--store", store] if store else []
    measure(satchel("library", "init", "--library", str(folder), *chosen))
    for path in repositories:
        name = re.sub(r"[^A-Za-z0-9._-]", "-", path.parent.name if path.name == "repo" else path.name)
        measure(
            satchel("library", "add", str(path), "--library", str(folder), "--name", name, "--ref", "HEAD")
        )
    return measure(satchel("library", "sync", "--library", str(folder))).cpu_s


def push(folder: Path, work: Path) -> tuple[float, float]:
    """Commit to a repository of the library, and return the wall and CPU seconds until it is found."""
    clone = work / "pushed"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    (clone / "README.md").write_text("# Pushed\n\nA repository that grows.\n")

    def commit(message: str) -> None:
        subprocess.run(["git", "-C", str(clone), "add", "-A"], check=True)
        subprocess.run(["git", "-C", str(clone), *IDENTITY, "commit", "-q", "-m", message], check=True)

    commit("first")
    library = ("--library", str(folder))
    measure(satchel("library", "add", str(clone), *library, "--ref", "HEAD"))
    measure(satchel("library", "sync", "pushed", *library))
    (clone / "late.py").write_text("def quickly_found_after_the_push():\n    return 1\n")
    commit("second")
    started = time.perf_counter()
    spent = measure(satchel("library", "sync", "pushed", *library)).cpu_s
    found = measure(satchel("search", "quickly_found_after_the_push", f"--library={folder}", "--json"))
    if "late.py" not in found.output:
        raise SystemExit("the commit was synced and is not found")
    return time.perf_counter() - started, spent + found.cpu_s


def percentile(numbers: Sequence[float], share: float) -> float:
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def folder_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MEGABYTE


def row(count: int, load_s: float, index_mb: float, asked: Asked, pushed: tuple[float, float]) -> str:
    """The figures of one size in one line."""
    figures = [
        f"{count:>5} {asked.files:>8} {asked.units:>9} {asked.text_mb:>8.0f} {load_s:>8.0f}",
        f"{index_mb / asked.text_mb if index_mb else float('nan'):>6.2f}",
        f"{asked.open_ms / 1000:>6.2f} {asked.resident_mb:>7.0f}",
        f"{percentile(asked.first_ms, 0.5):>6.0f} {percentile(asked.first_ms, 0.95):>6.0f}",
        f"{percentile(asked.warm_ms, 0.5):>6.0f} {percentile(asked.warm_ms, 0.95):>6.0f}",
        f"{percentile(asked.pack_ms, 0.5):>6.0f} {percentile(asked.pack_ms, 0.95):>6.0f}",
        f"{pushed[0]:>6.1f} {pushed[1]:>6.1f}",
    ]
    return " ".join(figures)


HEAD = (
    f"{'repos':>5} {'files':>8} {'units':>9} {'text MB':>8} {'load s':>8} {'×text':>6} {'open s':>6} "
    f"{'MB held':>7} "
    f"{'first':>6} {'p95':>6} {'warm':>6} {'p95':>6} {'pack':>6} {'p95':>6} {'push':>6} {'CPU':>6}"
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--sizes", default="10,30,100")
    parser.add_argument("--store", default="")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args(arguments)
    places = (
        folder / "repo" if (folder / "repo").is_dir() else folder for folder in options.mirrors.iterdir()
    )
    known = sorted(place for place in places if (place / "HEAD").is_file() or (place / ".git").exists())
    lines = []
    for count in map(int, options.sizes.split(",")):
        work = Path(tempfile.mkdtemp(dir=options.work))
        try:
            load_s = load(known[:count], work / "library", options.store)
            index_mb = 0.0 if options.store else folder_mb(work / "library" / "indexes")
            told = measure([sys.executable, __file__, "--ask", str(work / "library")]).output
            pushed = push(work / "library", work)
            lines.append(row(min(count, len(known)), load_s, index_mb, Asked(**json.loads(told)), pushed))
            print(lines[-1], flush=True)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    keep(options.store.partition(":")[0] or "sqlite", lines)
    return 0


def keep(store: str, lines: Sequence[str]) -> None:
    """Replace the block of a store in the results."""
    before = RESULTS.read_text().split("\n\n") if RESULTS.is_file() else []
    others = [block.strip("\n") for block in before if block.strip() and not block.startswith(f"{store}:")]
    said = (
        f"{store}: growing libraries of real repositories at HEAD, {len(QUESTIONS)} questions,"
        f" packs of {PACK_TOKENS} tokens.\nCPU ms of one process for searches (asked first, then again)"
        " and packs; load, open and push: seconds."
    )
    RESULTS.write_text("\n\n".join(sorted([*others, "\n".join((said, HEAD, *lines))])) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        print(json.dumps(asdict(ask(sys.argv[2]))))
        raise SystemExit(0)
    raise SystemExit(main(sys.argv[1:]))

"""What does a library cost as it grows: loading, room, memory, searches, packs, a push until it is found?

    python benchmarks/library.py MIRRORS [--sizes 30,100,300] [--work DIR] [--seconds N] [--postgres]
        [--ask-again] [--copies N]

`MIRRORS` has a folder `OWNER+NAME/repo` for every line of library.repositories.txt that is to be loaded; the
others are left out. One library grows: repositories are added in that order and synced at HEAD, each by a
`satchel library sync` of its own, and at every size one process opens the first so many of them, asks and
makes packs, twice. Questions are about things that many repositories have, so that no repository can be left
aside. A folder of `--work` keeps the library, what loading it took and the figures of each size: a run that
was ended, or that `--seconds` ends between two repositories, goes on where it was; with `--ask-again` all
sizes are asked anew. With `--postgres` the indexes are kept by a PostgreSQL server that is started as the
tests do it and ends with the run. With `--copies` the repositories that are there are asked as so many: again
and again under other names, all but the one that is pushed to.

CPU seconds are those of all processes, without that server. Memory is what the asking
process holds at the end, and the most that it ever held. A push is one commit to the first repository: wall
and CPU seconds from the commit until the process that has the library open finds it. The figures are kept in
results/library.txt, one block for each store.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from measure import KIBIBYTE, MEGABYTE, PAGE, disk_bytes, measure

from satchel.engine import Engine
from satchel.storage.snapshots import SnapshotSource

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from postgres_server import shared_server

RESULTS = Path(__file__).parent / "results" / "library.txt"
REPOSITORIES = Path(__file__).parent / "library.repositories.txt"
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
PUSHED = "quickly_found_after_the_push"
IDENTITY = {
    f"GIT_{role}_{field}": f"benchmark@{field.lower()}.example.org"
    for role in ("AUTHOR", "COMMITTER")
    for field in ("NAME", "EMAIL")
}
# Tables and indexes of the store.
SIZE = """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'satchel' AND c.relkind = 'r'"""
# How much larger the contents of files would be if each repository kept its own, and the room that they take.
SHARED = """SELECT (sum(octets * uses) / sum(octets))::float8,
        (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits
         WHERE inhparent = 'satchel.contents'::regclass)::int8
    FROM (SELECT octet_length(text) + octet_length(extras) + octet_length(outline) + octet_length(vectors)
            + octet_length(facts) + octet_length(chunks) + octet_length(symbols) AS octets,
            (SELECT count(DISTINCT segment) FROM satchel.files f WHERE f.content = c.key) AS uses
          FROM satchel.contents c) AS held"""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one process measured that opened a library and asked it: CPU milliseconds, megabytes, counts."""

    units: int
    files: int
    text_mb: float
    distinct_mb: float
    open_ms: float
    first_ms: list[float]
    warm_ms: list[float]
    pack_ms: list[float]
    pack_again_ms: list[float]
    push_wall_s: float
    push_cpu_s: float
    resident_mb: float
    peak_mb: float


def cpu_ms(who: int = resource.RUSAGE_SELF) -> float:
    """CPU milliseconds of this process so far, or of its children that have ended."""
    used = resource.getrusage(who)
    return (used.ru_utime + used.ru_stime) * 1000


def timed(questions: Sequence[str], run: Callable[[str], object]) -> list[float]:
    """CPU milliseconds of a function for each of some questions."""
    spent = []
    for question in questions:
        started = cpu_ms()
        run(question)
        spent.append(cpu_ms() - started)
    return spent


def ask(folder: str, copies: str, *names: str) -> Asked:
    """Open some repositories of a library in this process, ask every question twice, make packs, and find a
    commit to the first of them."""
    gc.set_threshold(100_000)  # as the command line does; workers of servers look even more rarely
    started = cpu_ms()
    engine = engine_of(folder, names, int(copies))
    engine.search("warm")
    opened = cpu_ms() - started
    first = timed(QUESTIONS, engine.search)
    warm = timed(QUESTIONS, engine.search)
    packs, packs_again = (
        timed(QUESTIONS[:PACKS], lambda text: engine.pack(text, budget_tokens=PACK_TOKENS)) for _ in range(2)
    )
    corpus = engine.corpus()
    wall_s, cpu_s = push(Path(folder), names[0], lambda: engine.for_caller().search(PUSHED)[0])
    return Asked(
        units=corpus.unit_count,
        files=len(corpus.files),
        text_mb=sum(record.size for record in corpus.files) / MEGABYTE,
        distinct_mb=sum({record.file_hash: record.size for record in corpus.files}.values()) / MEGABYTE,
        open_ms=opened,
        first_ms=first,
        warm_ms=warm,
        pack_ms=packs,
        pack_again_ms=packs_again,
        push_wall_s=wall_s,
        push_cpu_s=cpu_s,
        resident_mb=int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / MEGABYTE,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIBIBYTE / MEGABYTE,
    )


def engine_of(folder: str, names: Sequence[str], copies: int) -> Engine:
    """Return the engine that asks some repositories of a library; with `copies` as so many, again and again
    under other names, but the first only once."""
    from satchel.library.library import Library
    from satchel.library.library_engine import LibraryEngine
    from satchel.library.members import Member

    library = Library.open(folder)
    members = [library.member(name) for name in names]
    for number in range(copies - len(names)):
        again, at = divmod(number, len(names) - 1)
        of = members[at + 1]
        members.append(Member(f"{of.name}-{again + 2}", of.root, SnapshotSource(of.source.store)))
    return LibraryEngine.of_members(Path(folder), members)


def push(folder: Path, name: str, search: Callable[[], Sequence[object]]) -> tuple[float, float]:
    """Commit to a repository of the library, and return the wall and CPU seconds until it is found."""
    marker = f"{PUSHED}_{time.time_ns()}"
    commit(folder.parent / name, f"def {PUSHED}():\n    return '{marker}'\n")
    started, spent = time.perf_counter(), cpu_ms() + cpu_ms(resource.RUSAGE_CHILDREN)
    subprocess.run(satchel("library", "sync", name, "--library", str(folder)), check=True, stdout=sys.stderr)
    if not any("late.py" in str(hit) for hit in search()):
        raise SystemExit("the commit was synced and is not found")
    spent = cpu_ms() + cpu_ms(resource.RUSAGE_CHILDREN) - spent
    return time.perf_counter() - started, spent / 1000


def commit(repository: Path, text: str) -> None:
    """Commit a file `late.py` to a bare repository, without a work tree."""

    def git(*words: str, text: str = "") -> str:
        environment = {**os.environ, **IDENTITY, "GIT_INDEX_FILE": str(repository / "benchmark.index")}
        done = subprocess.run(
            ["git", "-C", str(repository), *words],
            input=text,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    git("read-tree", "HEAD")
    blob = git("hash-object", "-w", "--stdin", text=text)
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},late.py")
    made = git("commit-tree", git("write-tree"), "-p", "HEAD", "-m", "pushed")
    git("update-ref", "HEAD", made)


def satchel(*words: str) -> list[str]:
    """Return the command line of this Python's satchel."""
    return [sys.executable, "-m", "satchel", *words]


class GrowingLibrary:
    """A library in a folder that repositories are added to, and what loading each of them took."""

    def __init__(self, work: Path, mirrors: Path, store: str) -> None:
        self.folder = work / "library"
        self._work = work
        self._mirrors = mirrors
        self._store = store
        self._kept = work / "loaded.json"
        self._asked = work / "rows.json"
        self.loaded: dict[str, tuple[float, float]] = {}  # CPU and wall seconds by name
        self.rows: dict[str, str] = {}  # the figures by size
        if self._asked.is_file():
            self.rows = json.loads(self._asked.read_text())
        if self._kept.is_file():
            self.loaded = json.loads(self._kept.read_text())
        else:
            chosen = ["--store", store] if store else []
            measure(satchel("library", "init", "--library", str(self.folder), *chosen))

    def add(self, repository: str) -> None:
        """Add and sync one repository, unless it is there already."""
        name = repository.replace("/", "-")
        if name in self.loaded:
            return
        from satchel.library.library import Library

        origin = self._mirrors / repository.replace("/", "+") / "repo"
        if not self.loaded:  # the one that is pushed to
            subprocess.run(
                ["git", "clone", "-q", "--bare", "--shared", origin, self._work / name], check=True
            )
            origin = self._work / name
        if name not in {one.name for one in Library.open(self.folder).repositories()}:
            Library.open(self.folder).add(str(origin), name=name, refs=("HEAD",))
        done = measure(satchel("library", "sync", name, "--library", str(self.folder)))
        self.loaded[name] = done.cpu_s, done.wall_s
        self._kept.write_text(json.dumps(self.loaded))

    def ask(self, size: str, names: Sequence[str], copies: int = 0) -> None:
        """Ask some repositories in a process of its own, and keep the figures of their size."""
        told = measure([sys.executable, __file__, "--ask", self.folder, str(copies), *names]).output
        asked = Asked(**json.loads(told))
        loaded = [self.loaded[name] for name in names]
        self.rows[size] = row(copies or len(names), loaded, self.index_mb(names), asked)
        if self._store:
            self.rows[size] += f"\n{self._sharing(asked)}"
        self._asked.write_text(json.dumps(self.rows))

    def index_mb(self, names: Sequence[str]) -> float:
        """Return the megabytes of the indexes of some repositories; PostgreSQL tells of all of them."""
        if not self._store:
            return sum(disk_bytes(self.folder / "indexes" / name) for name in names) / MEGABYTE
        return self._of_the_store(SIZE)[0] / MEGABYTE

    def _sharing(self, asked: Asked) -> str:
        """Say how large the store would be if repositories shared nothing."""
        factor, contents = self._of_the_store(SHARED)
        size, held = self.index_mb(()), contents / MEGABYTE
        saved = (factor - 1) * held
        return (
            f"      before sharing {(size + saved) / asked.text_mb:.2f} × the text, with it"
            f" {size / asked.text_mb:.2f}: of {held:.0f} MB of contents {saved:.0f} MB are saved"
        )

    def _of_the_store(self, statement: str) -> tuple[float, ...]:
        """Return the one row that a statement gives."""
        import psycopg

        with psycopg.connect(self._store.replace("/books/", "")) as connection:
            return tuple(map(float, connection.execute(statement.encode()).fetchone() or ()))


def percentile(numbers: Sequence[float], share: float) -> float:
    """Return the number that a share of them does not exceed."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def row(count: int, loaded: Sequence[tuple[float, float]], index_mb: float, asked: Asked) -> str:
    """The figures of one size in one line."""
    figures = [
        f"{count:>5} {asked.files:>8} {asked.units:>9} {asked.text_mb:>8.0f} {asked.distinct_mb:>8.0f}",
        f"{sum(cpu for cpu, _ in loaded):>7.0f} {sum(wall for _, wall in loaded):>7.0f}",
        f"{index_mb / asked.text_mb:>6.2f} {asked.open_ms / 1000:>6.2f}",
        f"{asked.resident_mb:>7.0f} {asked.peak_mb:>6.0f}",
        *(
            f"{percentile(spent, share):>6.0f}"
            for spent in (asked.first_ms, asked.warm_ms, asked.pack_ms, asked.pack_again_ms)
            for share in (0.5, 0.95)
        ),
        f"{asked.push_wall_s:>6.1f} {asked.push_cpu_s:>6.1f}",
    ]
    return " ".join(figures)


HEAD = (
    f"{'repos':>5} {'files':>8} {'units':>9} {'text MB':>8} {'distinct':>8} {'load s':>7} {'wall s':>7} "
    f"{'×text':>6} {'open s':>6} {'MB held':>7} {'peak':>6} "
    f"{'first':>6} {'p95':>6} {'warm':>6} {'p95':>6} {'pack':>6} {'p95':>6} "
    f"{'again':>6} {'p95':>6} {'push s':>6} {'CPU':>6}"
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--sizes", default="30,100,300")
    parser.add_argument("--postgres", action="store_true", help="keep the indexes in PostgreSQL")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end the loading after so many")
    parser.add_argument("--ask-again", action="store_true", help="ask the sizes that were asked already")
    parser.add_argument(
        "--copies", type=int, default=0, help="ask the repositories that are loaded as so many"
    )
    options = parser.parse_args(arguments)
    every = REPOSITORIES.read_text(encoding="utf-8").split()
    known = [name for name in every if (options.mirrors / name.replace("/", "+") / "repo").is_dir()]
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as temporary:
        store = shared_server().place("books") if options.postgres else ""
        library = GrowingLibrary(options.work or Path(temporary), options.mirrors, store)
        if options.copies:
            library.ask("copies", list(library.loaded), options.copies)
            told = f"{len(library.loaded)} repositories asked as {options.copies}, under other names again."
            keep(
                "copies",
                f"{told} Load and size are those of the {len(library.loaded)}.",
                library.rows["copies"],
            )
            return 0
        if options.ask_again:
            library.rows.clear()
        sizes = options.sizes.split(",")
        for size in sizes:
            chosen = known[: int(size)]
            for repository in chosen if size not in library.rows else ():
                library.add(repository)
                if time.monotonic() > end:
                    raise SystemExit(f"{len(library.loaded)} repositories are loaded: run it again")
            if size not in library.rows:
                library.ask(size, [name.replace("/", "-") for name in chosen])
            print(library.rows[size], flush=True)
        told = (
            f"a growing library of real repositories at HEAD, {len(QUESTIONS)} questions,"
            f" packs of {PACK_TOKENS} tokens.\nCPU ms of one process for searches and packs, each made first"
            " and again: the middle one and p95; load and open: CPU seconds; ×text: size of all indexes."
        )
        rows = [library.rows[size] for size in sizes]
        keep("postgresql" if options.postgres else "sqlite", told, *rows)
    return 0


def keep(block: str, told: str, *lines: str) -> None:
    """Replace a block of the results."""
    before = RESULTS.read_text().split("\n\n") if RESULTS.is_file() else []
    blocks = [one.strip("\n") for one in before if one.strip()]
    written = "\n".join((f"{block}: {told}", HEAD, *lines))
    if not any(one.startswith(f"{block}:") for one in blocks):
        blocks.insert(0, written)
    shown = [written if one.startswith(f"{block}:") else one for one in blocks]
    RESULTS.write_text("\n\n".join(shown) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        print(json.dumps(asdict(ask(*sys.argv[2:]))))
        raise SystemExit(0)
    raise SystemExit(main(sys.argv[1:]))

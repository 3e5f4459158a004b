"""Is the index as fast and as small as it must be, beside the peers, on one machine in one run?

    python benchmarks/index_speed.py              Django, medians of 3, beside `ctags -R` and semble
    python benchmarks/index_speed.py --linux      the Linux tree, one run, beside `ctags -R`

CPU seconds decide; wall seconds stand beside them. Cold runs of semble and Satchel alternate; each starts
with an empty index folder outside the tree, all with a warm page cache. The edited file is replaced by one
with another function at its end and put back afterwards. What cannot be run is a row that says so, and its
bars fail.
The table goes to the terminal and to `benchmarks/results/`. Exit code 1 when a bar is not met.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from corpora import default_cache, get
from measure import CommandFailed, Measurement, disk_bytes, installed_satchel, measure, median_of
from peers import ADDED_NAME, QUESTION, PeerRow, ctags, edited_file, install_semble, linked_copy, semble_rows

RESULTS = Path(__file__).parent / "results"
EDITS = 7  # edits timed in the running process; the median leaves out the one that loads the parser
SNIFFED_BYTES = 8192  # a NUL among these makes a file binary
LARGEST_TEXT = 2 * 1024 * 1024  # Satchel's own limit for a file


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit that a figure must keep; no figure (None) does not keep it."""

    label: str
    figure: float | None
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether the figure is there and within the limit."""
        return self.figure is not None and self.figure <= self.limit


@dataclass(slots=True)
class Run:
    """One benchmark run: what is measured, on which folder, and what came out."""

    folder: Path
    index: Path
    runs: int
    satchel: list[str]
    rows: list[PeerRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, label: str, once: Callable[[], Measurement]) -> Measurement | None:
        """Measures a row; a command that fails becomes a note."""
        try:
            cost = median_of(self.runs, once)
        except (CommandFailed, OSError) as problem:
            self.notes.append(f"{label}: not measured, {str(problem).strip().splitlines()[-1]}")
            return None
        self.rows.append(PeerRow(label, cost))
        return cost

    def command(self, *arguments: str) -> Measurement:
        """One Satchel command on this folder, its index outside the tree."""
        scope = ["--segment", str(self.folder), "--index-dir", str(self.index)]
        return measure([*self.satchel, *arguments, *scope])

    def cold(self) -> Measurement:
        """The whole index from nothing."""
        shutil.rmtree(self.index, ignore_errors=True)
        return self.command("index")

    def after_edit(self) -> Measurement:
        """A refresh that finds one file changed; the file is put back and indexed again unmeasured."""
        with edited_file(self.folder) as path:
            cost = self.command("index")
            if path.relative_to(self.folder).as_posix() not in self.hits(ADDED_NAME).output:
                raise CommandFailed(f"{path.name} was edited, but {ADDED_NAME} is not found in it")
        self.command("index")
        return cost

    def hits(self, query: str) -> Measurement:
        """One question by command line; an answer without hits would be quick for nothing."""
        cost = self.command("search", query, "-k", "10", "--json")
        if not json.loads(cost.output)["hits"]:
            raise CommandFailed(f"satchel search {query!r} found nothing")
        return cost


def satchel_rows(run: Run, colds: Sequence[Measurement] = ()) -> dict[str, Measurement | None]:
    """Everything that is asked of Satchel's command line, by row; `colds` are cold runs that were made."""
    steps = {
        "satchel index (cold)": iter(colds).__next__ if colds else run.cold,
        "satchel refresh, nothing changed": lambda: run.command("index"),
        "satchel refresh, one file edited (CLI)": run.after_edit,
        "satchel search (CLI)": lambda: run.hits(QUESTION),
        "satchel --version": lambda: measure([*run.satchel, "--version"]),
    }
    return {label: run.add(label, step) for label, step in steps.items()}


def edit_milliseconds(run: Run) -> tuple[float | None, float | None]:
    """One edit in a running process until it can be found: (walking the tree, told which path changed).

    Called last: it loads Satchel into this process, which `measure` would then see in its children.
    """
    try:
        engine = importlib.import_module("satchel").Engine.open(run.folder, index_dir=run.index)
        engine.refresh()
        walked = statistics.median(_timed_edit(run.folder, lambda _: engine.refresh()) for _ in range(EDITS))
    except (ImportError, AttributeError, TypeError) as problem:
        run.notes.append(f"one file edited in a running process: not measured, {problem}")
        return None, None
    if "paths" not in inspect.signature(engine.refresh).parameters:
        run.notes.append("Engine.refresh takes no paths: only the walk over the tree was timed")
        return walked, None
    told = [_timed_edit(run.folder, lambda path: engine.refresh(paths=[path])) for _ in range(EDITS)]
    return walked, statistics.median(told)


def _timed_edit(folder: Path, refresh: Callable[[str], object]) -> float:
    with edited_file(folder) as path:
        label = path.relative_to(folder).as_posix()
        started = time.perf_counter()
        refresh(label)
        elapsed = (time.perf_counter() - started) * 1000
    refresh(label)
    return elapsed


def text_bytes(folder: Path) -> int:
    """The text in a folder: files without a NUL up to Satchel's size limit, hidden ones left out."""
    total = 0
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= LARGEST_TEXT and b"\0" not in file.read(SNIFFED_BYTES):
                total += size
    return total


def indexed_bytes(run: Run) -> tuple[int, str]:
    """The size of the indexed text as Satchel states it, else as counted from outside."""
    try:
        stated = json.loads(run.command("stats", "--json").output).get("text_bytes")
    except (CommandFailed, OSError, ValueError):
        stated = None
    if stated:
        return stated, "as satchel stats states it"
    return text_bytes(run.folder), "as this script counts it"


def database_share(run: Run) -> float | None:
    """The index on disk as a multiple of the text it indexes."""
    if not run.index.exists():
        return None
    size, (text, origin) = disk_bytes(run.index), indexed_bytes(run)
    run.notes.append(
        f"database {size / 1e6:.1f} MB = {size / text:.2f} x the text, {text / 1e6:.1f} MB {origin}"
    )
    return size / text


def django_bars(run: Run, cache: Path) -> list[Bar]:
    """The bars of the Django run, peers first."""
    run.rows.append(ctags(run.folder, run.runs))
    colds: list[Measurement] = []
    run.rows += semble_rows(
        install_semble(cache), run.folder, run.runs, beside=lambda: colds.append(run.cold())
    )
    semble = next(row.cost for row in run.rows if row.label.startswith("semble index"))
    costs = satchel_rows(run, colds)
    cold = costs["satchel index (cold)"]
    limits = {
        "satchel refresh, nothing changed": 0.5,
        "satchel refresh, one file edited (CLI)": 0.5,
        "satchel search (CLI)": 0.3,
        "satchel --version": 0.06,
    }
    return [
        Bar("cold, CPU of semble's", cold.cpu_s / semble.cpu_s if cold else None, 0.6, "x"),
        Bar(
            "cold, largest process of semble's",
            cold.peak_rss_mb / semble.peak_rss_mb if cold else None,
            0.5,
            "x",
        ),
        Bar(
            "cold, all processes of semble's",
            cold.tree_rss_mb / semble.tree_rss_mb if cold else None,
            0.5,
            "x",
        ),
        *(
            Bar(label, cost.cpu_s if (cost := costs[label]) else None, limits[label], "CPU s")
            for label in limits
        ),
        Bar("database / indexed text", database_share(run), 2.0, "x"),
        edit_bar(run),
    ]


def linux_bars(run: Run, _: Path) -> list[Bar]:
    """The bars of the Linux run."""
    run.rows.append(ctags(run.folder, run.runs))
    cold = satchel_rows(run)["satchel index (cold)"]
    database_share(run)
    return [
        Bar("cold, wall", cold.wall_s / 60 if cold else None, 8.0, "min"),
        Bar("cold, largest process", cold.peak_rss_mb if cold else None, 1000.0, "MB"),
        edit_bar(run),
    ]


def edit_bar(run: Run) -> Bar:
    """The one-file update; being told the path is how a watcher calls it, so that figure decides."""
    walked, told = edit_milliseconds(run)
    if walked is not None and told is not None:
        run.notes.append(f"one file edited in a running process: {walked:.1f} ms when the tree is walked")
    return Bar("one file edited in a running process", walked if told is None else told, 50.0, "ms")


def render(title: str, run: Run, bars: list[Bar]) -> str:
    """The table as text: rows with their multiples, then the bars, then what else must be known."""
    heads = ("CPU s", "wall s", "RSS MB", "tree MB", "disk MB", "x ctags", "x semble")
    lines = [title, "", f"{'':40}" + "".join(f"{head:>9}" for head in heads)]
    lines += [_row(row, _cpu_of(run, "ctags"), _cpu_of(run, "semble index")) for row in run.rows]
    lines += ["", f"{'bar':40}{'figure':>9}{'limit':>9}"]
    for bar in bars:
        figure = "-" if bar.figure is None else f"{bar.figure:.3f}"
        lines.append(f"{bar.label:40}{figure:>9}{bar.limit:9.6g} {bar.unit:6}{'pass' if bar.met else 'FAIL'}")
    return "\n".join([*lines, "", *run.notes]).rstrip() + "\n"


def _cpu_of(run: Run, label: str) -> float | None:
    return next((row.cost.cpu_s for row in run.rows if row.label.startswith(label)), None)


def _row(row: PeerRow, *yardsticks: float | None) -> str:
    cost = row.cost
    cells = [f"{cost.cpu_s:.3f}", f"{cost.wall_s:.3f}", f"{cost.peak_rss_mb:.0f}", f"{cost.tree_rss_mb:.0f}"]
    cells.append(f"{row.disk_mb:.1f}" if row.disk_mb else "-")
    cells += [f"{cost.cpu_s / yardstick:.2f}" if yardstick else "-" for yardstick in yardsticks]
    return f"{row.label:40}" + "".join(f"{cell:>9}" for cell in cells)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--linux", action="store_true", help="the Linux tree instead of Django")
    parser.add_argument("--runs", type=int, help="runs per row (3, on Linux 1)")
    parser.add_argument("--satchel", help="the command under test, by default the installed satchel")
    parser.add_argument("--index", type=Path, help="where the index is kept after the run (nowhere)")
    parser.add_argument("--cache", type=Path, default=default_cache())
    arguments = parser.parse_args()
    name, runs, bars_of = ("linux", 1, linux_bars) if arguments.linux else ("django", 3, django_bars)
    corpus = get(name, arguments.cache)
    with linked_copy(corpus, arguments.cache) as folder, tempfile.TemporaryDirectory() as scratch:
        index = arguments.index or Path(scratch, "index")
        run = Run(
            folder,
            index,
            arguments.runs or runs,
            arguments.satchel.split() if arguments.satchel else installed_satchel(),
        )
        bars = bars_of(run, arguments.cache)
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    text = render(f"{name}, medians of {run.runs}, {machine}", run, bars)
    print(text, end="")
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / ("index_speed_linux.txt" if arguments.linux else "index_speed.txt")
    target.write_text(text, encoding="utf-8")
    return 0 if all(bar.met for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Does a server stay quick, right and small under load, while the files it serves change?

    python benchmarks/load.py [FOLDER] [--rate 50] [--seconds 120]

A copy of the folder (default: Django, see corpora.py), as a git work tree, is served over HTTP by a process
of its own. The same mix of searches and packs is asked until every worker has answered all of it, then
slowly, then at the full rate while a file is edited every second. Requests are sent when they are due,
whether or not earlier ones were answered, and timed from that moment, so that a server that falls behind
cannot hide it. Every twentieth answer is compared with the files, unless it says that it is stale. The
figures are kept in results/load.txt; exit code 1 means that a promise does not hold.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from corpora import default_cache, get
from faulting.truth import Citation, Versions, citations, read_text
from measure import MEGABYTE, PAGE
from search_speed import QUESTIONS

RESULTS = Path(__file__).parent / "results" / "load.txt"
MORE_QUESTIONS = (
    "how does the admin register models",
    "ModelAdmin get_queryset",
    "which middleware sets security headers",
    "render a template to a response",
    "foreign key on delete cascade",
    "transaction atomic savepoint",
    "how is a form field cleaned",
    "EmailMessage attachments",
    "collect static files",
    "translation of lazy strings",
    "paginate a list of objects",
    "how are permissions checked",
    "test client login",
    "database router for several databases",
    "prefetch related objects",
    "validate an email address",
    "syndication feed",
    "geometry field lookup",
    "management command arguments",
    "how are settings loaded lazily",
    "url converters",
    "WSGIHandler",
    "async views",
    "QuerySet.bulk_create",
    "JSONField key transform",
    "unique constraint validation",
    "makemigrations autodetector renamed field",
    "session expiry",
    "content type framework",
    "humanize numbers",
    "conditional view processing etag",
)
ASKED = (*QUESTIONS[:11], *MORE_QUESTIONS)  # the last ones of the other list are about another tree
PACK_TOKENS = 4_000
# Times that the whole mix is asked before anything is measured, by two callers at a time so that each worker
# gets every request: caches that fill up are no growth.
WARM_ROUNDS = 4
IDLE_RATE = 2.0  # requests a second that nobody has to wait for
SENDERS = 128  # more than are ever answered at once, so that none waits for its turn
EDIT_SECONDS = 1.0
CHECKED_EVERY = 20  # answers
# Memory is looked at early, later and at the end: what is gained from the first mark to the end is growth.
START_SECONDS, LATER_SECONDS = 10.0, 120.0
MOST_GROWTH = 0.05  # what is called flat
_TICKS = os.sysconf("SC_CLK_TCK")
_WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org")


@dataclass(frozen=True, slots=True)
class Sample:
    """One request: what it asked, how long it took from when it was due, what went wrong, and how many of its
    citations were compared with the files."""

    action: str
    seconds: float
    error: str = ""
    checked: int = 0


class Client:
    """Calls over connections that are kept."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._free: SimpleQueue[http.client.HTTPConnection] = SimpleQueue()

    def post(self, action: str, payload: dict[str, object]) -> tuple[str, dict[str, Any]]:
        """The error of the answer, empty if there is none, and the answer."""
        connection = self._free.get() if not self._free.empty() else self._new()
        try:
            head = {"content-type": "application/json"}
            connection.request("POST", f"/v1/{action}", json.dumps(payload), head)
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return type(error).__name__, {}
        self._free.put(connection)
        if response.status != 200:
            return f"HTTP {response.status}", {}
        told = json.loads(body)
        return "" if told["status"] == "ok" else str(told["error"]["code"]), told

    def is_ready(self) -> bool:
        connection = self._new()
        connection.request("GET", "/ready")
        ready = connection.getresponse().status == 200
        connection.close()
        return ready

    def _new(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(*self._address, timeout=120)


def requests(searches_per_pack: int) -> Iterator[tuple[str, dict[str, object]]]:
    """The mix, for ever: every question in turn, every so many of them for a pack."""
    number = 0
    while True:
        question = ASKED[number % len(ASKED)]
        number += 1
        if number % (searches_per_pack + 1):
            yield "search", {"query": question}
        else:
            yield "context_pack", {"query": question, "budget_tokens": PACK_TOKENS}


def load(
    client: Client, rate: float, seconds: float, searches_per_pack: int, edits: Editor | None = None
) -> list[Sample]:
    """Requests at a rate, each sent when it is due; with an editor, answers are compared with its files."""
    mix = requests(searches_per_pack)
    begin = time.perf_counter() + 0.05
    asked_so_far = itertools.count()

    def ask(due: float, action: str, payload: dict[str, object]) -> Sample:
        asked = time.monotonic()
        error, told = client.post(action, payload)
        answered, took = time.monotonic(), time.perf_counter() - due
        if error or edits is None or next(asked_so_far) % CHECKED_EVERY:
            return Sample(action, took, error)
        found = [] if told["meta"]["index_state"]["stale"] else list(citations(action, told["data"]))
        untrue = [item for item in found if not edits.bears_out(item, asked, answered)]
        return Sample(action, took, f"untrue: {untrue[0].path}" if untrue else "", len(found))

    with ThreadPoolExecutor(SENDERS) as senders:
        futures = []
        for number in range(int(rate * seconds)):
            due = begin + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            futures.append(senders.submit(ask, due, *next(mix)))
        return [future.result() for future in futures]


class Editor:
    """Edits a file every second: most often inside a function, at times a new file."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._versions = Versions()
        self._files = sorted(path for path in root.rglob("*.py") if path.stat().st_size < 100_000)
        self._choose = random.Random(3)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.count = 0

    def __enter__(self) -> Editor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(EDIT_SECONDS):
            self.count += 1
            path = self._choose.choice(self._files)
            name = path.relative_to(self._root).as_posix()
            before = path.read_text()
            text = f"{before}\n\ndef edited_{self.count}():\n    return {self.count}\n"
            beside = path.with_name(f".{path.name}.tmp")
            beside.write_text(text)
            self._versions.hold(name, before)
            self._versions.begin(name, text)
            os.replace(beside, path)
            self._versions.end(name)

    def bears_out(self, citation: Citation, asked: float, answered: float) -> bool:
        """Whether a file held what is cited between the question and the answer. What was never edited is
        read now; a file whose first edit comes between two looks is looked at again."""
        for _ in range(2):
            if self._versions.bear_out(citation, asked, answered):
                return True
            if citation.holds_in(read_text(self._root / citation.path)):
                return True
        return False


def process_tree(process: int) -> list[int]:
    """A process and its living descendants."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [process, *(other for child in children for other in process_tree(int(child)))]


def resident(process: int) -> float:
    """Megabytes of all processes of the server; pages that they share count once for each."""
    pages = [int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in process_tree(process)]
    return sum(pages) * PAGE / MEGABYTE


def cpu(process: int) -> float:
    """CPU seconds of all processes of the server so far."""
    fields = [
        Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in process_tree(process)
    ]
    return sum(int(field[11]) + int(field[12]) for field in fields) / _TICKS


@contextmanager
def server(root: Path, flags: Sequence[str]) -> Iterator[tuple[Client, int]]:
    """A server whose index is there."""
    command = [sys.executable, "-m", "satchel", "serve", "http", "-s", str(root), "--port", "0", "--json"]
    process = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        told = json.loads(process.stdout.readline())
        client = Client(told["host"], told["port"])
        while not client.is_ready():
            time.sleep(0.5)
        yield client, process.pid
    finally:
        process.terminate()
        process.wait(30)


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured."""

    idle: list[Sample]
    loaded: list[Sample]
    edits: int
    start_mb: float
    later_mb: float
    end_mb: float
    cpu_share: float

    @property
    def errors(self) -> list[str]:
        return [sample.error for sample in (*self.idle, *self.loaded) if sample.error]

    @property
    def times_idle(self) -> float:
        return percentile(self.loaded, 0.95) / percentile(self.idle, 0.95)

    @property
    def growth(self) -> float:
        return self.end_mb / self.start_mb - 1

    @property
    def holds(self) -> bool:
        """Whether no answer failed, none that was compared was untrue, and memory stayed flat."""
        return not self.errors and self.growth < MOST_GROWTH


def measure(root: Path, options: argparse.Namespace) -> Run:
    """Slowly first, then at the full rate while files change."""
    with server(root, options.flags) as (client, process):
        fill_caches(client, options.searches_per_pack)
        idle = load(client, IDLE_RATE, options.idle_seconds, options.searches_per_pack)
        held: list[float] = []
        watches = [
            threading.Timer(min(mark, options.seconds / 2), lambda: held.append(resident(process)))
            for mark in (START_SECONDS, LATER_SECONDS)
        ]
        spent, started = cpu(process), time.perf_counter()
        for watch in watches:
            watch.start()
        with Editor(root) as editor:
            loaded = load(client, options.rate, options.seconds, options.searches_per_pack, editor)
        share = (cpu(process) - spent) / (time.perf_counter() - started)
        return Run(idle, loaded, editor.count, *held, resident(process), share)


def fill_caches(client: Client, searches_per_pack: int) -> None:
    """Ask every question as a search and as a pack, so often that each worker has answered all of them."""
    mix = islice(requests(searches_per_pack), WARM_ROUNDS * len(ASKED) * (searches_per_pack + 1))
    with ThreadPoolExecutor(2) as askers:
        list(askers.map(lambda asked: client.post(*asked), mix))


def percentile(samples: Sequence[Sample], share: float) -> float:
    """Milliseconds."""
    ordered = sorted(sample.seconds for sample in samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


def report(run: Run, options: argparse.Namespace, name: str) -> str:
    """The figures as text."""
    lines = [
        f"{name}: {options.rate:g} requests a second for {options.seconds:g} s over HTTP, "
        f"{options.searches_per_pack} searches to 1 pack of {PACK_TOKENS} tokens, {len(ASKED)} questions,",
        f"one file edited every second meanwhile ({run.edits}); {os.cpu_count()} cores. Wall milliseconds.",
        "",
        f"{'':22}{'n':>6}{'p50':>8}{'p95':>8}{'p99':>8}{'mean':>8}",
        *(
            row(f"{label}, {action or 'all'}", [one for one in samples if action in ("", one.action)])
            for label, samples in (("idle", run.idle), ("loaded", run.loaded))
            for action in ("", "search", "context_pack")
        ),
        "",
        f"errors                {len(run.errors)} {sorted(set(run.errors)) or ''}".rstrip(),
        f"citations compared    {sum(sample.checked for sample in run.loaded)} of every 20th answer",
        f"p95 loaded / idle     {run.times_idle:.2f}",
        f"memory                {run.start_mb:.0f} MB at {START_SECONDS:g} s,"
        f" {run.later_mb:.0f} MB at {LATER_SECONDS:g} s,"
        f" {run.end_mb:.0f} MB at the end: {run.growth:+.1%} since {START_SECONDS:g} s"
        f" (below {MOST_GROWTH:.0%})",
        f"CPU of the server     {run.cpu_share:.2f} cores",
        f"holds                 {'yes' if run.holds else 'no'}",
    ]
    return "\n".join(lines) + "\n"


def row(label: str, samples: Sequence[Sample]) -> str:
    figures = "".join(f"{percentile(samples, share):>8.0f}" for share in (0.5, 0.95, 0.99))
    mean = statistics.fmean(sample.seconds for sample in samples) * 1000
    return f"{label:<22}{len(samples):>6}{figures}{mean:>8.0f}"


def main() -> int:
    """Copy, serve, measure, keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--idle-seconds", type=float, default=30.0)
    parser.add_argument("--searches-per-pack", type=int, default=4)
    parser.add_argument(
        "--flags", nargs=argparse.REMAINDER, default=[], help="further flags of the server, last"
    )
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--cache", type=Path, default=default_cache())
    options = parser.parse_args()
    folder = options.folder or get("django", options.cache)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, folder.name)
        shutil.copytree(folder, root, ignore=shutil.ignore_patterns("_ctx"), symlinks=True)
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "State"]):
            subprocess.run(["git", "-C", root, *_WHO, *words], check=True)
        run = measure(root, options)
    text = report(run, options, folder.name)
    print(text, end="")
    options.out.write_text(text)
    return 0 if run.holds else 1


if __name__ == "__main__":
    sys.exit(main())

"""Is a library whole, and are its answers right, whoever is killed and whenever?

    python benchmarks/faulting/library_kills.py [--rounds 50] [--seed 1]

A library of small repositories has its indexes in PostgreSQL and its work on a Dask cluster: a scheduler and
two workers. In every other round some repositories get commits and `satchel library sync --cluster` starts;
in the others `satchel serve http --library --cluster` is asked all the time. After a random time a worker,
the scheduler, PostgreSQL or the syncing or answering process is killed (`kill -9`) and started again, as a
service manager would. After a killed sync every index has to be exactly the one before or exactly the one
after, and a second sync has to finish the work. A killed server may refuse or say a typed error, but every
answer has to have the bytes of the true one, and afterwards it has to answer again. The figures are kept in
results/library_kills.txt. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests"))
from builders import dump_tables, git, git_repo
from postgres_server import PostgresServer, shared_server

from satchel import storage
from satchel.errors import IndexMissing, SatchelError
from satchel.library.cluster import Cluster
from satchel.library.library import Library
from satchel.library.members import segment_at

RESULTS = Path(__file__).parent.parent / "results" / "library_kills.txt"
REPOSITORIES = 5
FILES = 60
WORKERS = 2
QUESTIONS = ("where is the ledger kept", "how does Thing7 act", "act with the basket", "Thing12")
LONGEST_SECONDS = 6.0  # before a kill while repositories are synced
ASKING_SECONDS = 3.0  # that are asked after a kill
PATIENCE_SECONDS = 90.0  # for everything that has to come back
ALLOWED = ("store_unreachable", "index_busy", "index_missing", "config_error", "timeout")
"""The errors that a caller may meet while PostgreSQL is away."""


class Service:
    """A process that is started again when it has ended."""

    def __init__(self, log: Path, *command: object) -> None:
        self._command = [sys.executable, "-m", *map(str, command)]
        self._log = log
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as stream:
            return subprocess.Popen(self._command, stdout=stream, stderr=stream)

    def revive(self) -> None:
        if self.process.poll() is not None:
            self.process = self._start()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def write(root: Path, chance: random.Random, count: int) -> None:
    """Write some files of a repository anew, and commit them."""
    for number in chance.sample(range(FILES), count):
        path = root / f"part{number % 5}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "".join(
            f"    def act_{chance.randrange(10**6)}(self, basket):\n        return ledger\n\n"
            for _ in range(8)
        )
        path.write_text(f"import part{number % 4}\n\n\nclass Thing{number}:\n{body}")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", f"change {chance.randrange(10**6)}")


class Trial:
    """A library on a cluster and in PostgreSQL, with everybody who can be killed."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.chance = chance
        self.postgres: PostgresServer = shared_server()
        self.roots = [
            git_repo(folder / f"repository{at}", {"README.md": f"# R{at}\n"}) for at in range(REPOSITORIES)
        ]
        self.library = Library.open(str(folder / "library"))
        self.library.catalogue.create(self.postgres.place(folder))
        for root in self.roots:
            write(root, chance, FILES)
            self.library.add(str(root), refs=["main"])
        list(self.library.sync())
        log = folder / "services.log"
        place = f"tcp://127.0.0.1:{free_port()}"
        self.place, self.port = place, free_port()
        options = ("--host", place, "--no-dashboard")
        self.scheduler = Service(log, "distributed.cli.dask_scheduler", *options)
        quiet = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60")
        self.workers = [Service(log, "distributed.cli.dask_worker", place, *quiet) for _ in range(WORKERS)]
        served = ("--library", self.library.folder, "--cluster", place, "--port", self.port, "--workers", "1")
        self.log = log
        while not self._has_workers():
            time.sleep(0.2)
        self.server = Service(log, "satchel", "serve", "http", *served)

    def _has_workers(self) -> bool:
        """Whether the scheduler answers and all workers are there."""
        try:
            with Cluster(self.place) as cluster:
                return len(cluster.workers()) >= WORKERS
        except SatchelError:
            return False

    def kill(self, victim: str) -> None:
        """Kill somebody, and start again whoever has ended, as a service manager does."""
        named = {
            "scheduler": self.scheduler,
            "worker": self.chance.choice(self.workers),
            "server": self.server,
        }
        (self.postgres if victim == "PostgreSQL" else named[victim]).kill()

    def revive(self) -> None:
        if self.postgres.process.poll() is not None:
            self.postgres.start()
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            for service in (self.scheduler, *self.workers, self.server):
                service.revive()  # a worker ends a while after its scheduler
            if self._has_workers():
                return
            time.sleep(0.5)
        raise SystemExit("the workers do not come back")

    def stop(self) -> None:
        for service in (self.server, *self.workers, self.scheduler):
            service.kill()

    def contents(self, root: Path) -> object:
        """What the index of a repository holds."""
        repository = self.library.repositories([root.name])[0]
        try:
            with closing(storage.open_store(self.library._place(repository, "main")).snapshot()) as snapshot:
                return dump_tables(snapshot)
        except IndexMissing:
            return None

    def sync_round(self) -> str:
        """Sync commits, kill somebody, and return what was found."""
        changed = self.chance.sample(self.roots, 3)
        before = {root: self.contents(root) for root in changed}
        for root in changed:
            write(root, self.chance, 25)
        after = {root: fresh(root) for root in changed}
        words = ("library", "sync", "--library", self.library.folder, "--cluster", self.place)
        syncing = Service(self.log, "satchel", *words)
        time.sleep(self.chance.uniform(0.5, LONGEST_SECONDS))
        victim = self.chance.choice(("worker", "scheduler", "PostgreSQL", "syncing process"))
        if victim == "syncing process":
            syncing.kill()
        else:
            self.kill(victim)
        if victim == "PostgreSQL":
            time.sleep(self.chance.uniform(0.1, 1.0))
        self.revive()
        try:
            syncing.process.wait(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            syncing.kill()
            return f"sync, {victim} killed: HANGS"
        found = {root: self.contents(root) for root in changed}
        if any(found[root] not in (before[root], after[root]) for root in changed):
            return f"sync, {victim} killed: HALF"
        done = sum(found[root] == after[root] for root in changed)
        again = subprocess.run([sys.executable, "-m", "satchel", *map(str, words)], capture_output=True)
        if again.returncode or any(self.contents(root) != after[root] for root in changed):
            told = (again.stdout + again.stderr).decode()[-300:]
            return f"sync, {victim} killed: LOST, exit code {again.returncode}: {told}"
        state = "was done" if done == len(changed) else "was resumed"
        return f"sync, {victim} killed: each index whole, the work {state}"

    def ask_round(self) -> str:
        """Ask without pause, kill somebody, and return what was found."""
        with closing(self.library.engine()) as engine:
            expected = {query: [hit.path for hit in engine.search(query)[0]] for query in QUESTIONS}
        if not self._answers_again(expected):
            return "asking: NO ANSWER before the kill"
        said: Counter[str] = Counter()
        ended = threading.Event()
        asking = threading.Thread(target=self._ask_until, args=(ended, expected, said))
        asking.start()
        time.sleep(self.chance.uniform(0.2, 1.5))
        victim = self.chance.choice(("worker", "scheduler", "PostgreSQL", "server"))
        self.kill(victim)
        time.sleep(self.chance.uniform(0.2, ASKING_SECONDS))
        self.revive()
        is_back = self._answers_again(expected)
        ended.set()
        asking.join()
        if wrong := [state for state in said if state.startswith("WRONG")]:
            return f"asking, {victim} killed: {wrong[0]}"
        if not is_back:
            return f"asking, {victim} killed: NO ANSWER afterwards"
        refused = "some calls were refused" if len(said) > 1 else "every call was answered"
        return f"asking, {victim} killed: no answer was wrong, {refused}, all are answered again"

    def _ask_until(self, ended: threading.Event, expected: dict[str, Any], said: Counter[str]) -> None:
        while not ended.is_set():
            for query, paths in expected.items():
                said[self._ask(query, paths)] += 1

    def _answers_again(self, expected: dict[str, Any]) -> bool:
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            if all(self._ask(query, paths) == "right" for query, paths in expected.items()):
                return True
            time.sleep(0.2)
        return False

    def _ask(self, query: str, paths: list[str]) -> str:
        """Ask over HTTP, and return whether the answer was right, refused or wrong."""
        body = json.dumps({"action": "search", "payload": {"query": query}}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/command", body, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                told = json.load(response)
        except urllib.error.HTTPError as error:
            told = json.load(error)
        except (OSError, ValueError):
            return "refused"
        if told["status"] != "ok":
            code = told["error"]["code"]
            return "refused" if code in ALLOWED else f"WRONG: {code} {told['message']}"
        found = [hit["path"] for hit in told["data"]["hits"]]
        return "right" if found == paths else f"WRONG: {query} gives {found}, not {paths}"


def fresh(root: Path) -> object:
    """What a new index of a repository holds."""
    with segment_at(root, "main", storage.open_store("memory:")) as segment:
        segment.ensure_fresh()
        return dump_tables(segment.store.snapshot())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder), random.Random(arguments.seed))
        try:
            for number in range(arguments.rounds):
                said = trial.ask_round() if number % 2 else trial.sync_round()
                counts[said] += 1
                print(f"{number + 1:3} {said}", flush=True)
        finally:
            trial.stop()
    lines = [f"{count:4} × {said}" for said, count in sorted(counts.items())]
    print("\n".join(lines))
    RESULTS.write_text(f"{arguments.rounds} rounds, seed {arguments.seed}\n" + "\n".join(lines) + "\n")
    bad = ("HALF", "HANGS", "LOST", "WRONG", "NO ANSWER")
    return int(any(word in said for said in counts for word in bad))


if __name__ == "__main__":
    sys.exit(main())

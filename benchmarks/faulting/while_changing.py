"""While files change all the time: is every citation of an answer that calls itself fresh true?

    python benchmarks/faulting/while_changing.py [--seconds 90] [--readers 12] [--writers 3]

A server as people start it, a `satchel watch` of the same folder beside it, readers that ask without a pause
and writers that replace files. A citation is true if the file held those lines at some time between the
question and its answer. An answer that says it is stale is counted, not judged.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(HERE.parent), str(TESTS), str(TESTS / "serving")]

import surfaces  # noqa: E402

from faulting.changing import ChangingProject, fresh_project  # noqa: E402
from faulting.truth import Versions, citations, read_text  # noqa: E402

WRITER_PAUSE_SECONDS = 0.2  # each; a folder that changes more often than that is hardly ever fresh
_KINDS = ("search", "get", "context_pack", "build_context_pack")


class Trial:
    """One server, those who ask it and those who change its files, until the time is over."""

    def __init__(self, project: ChangingProject, server: surfaces.Server, seconds: float) -> None:
        self.project = project
        self.server = server
        self.end = time.monotonic() + seconds
        self.versions = Versions()
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._lock = threading.Lock()
        for path in project.marks:
            self.versions.hold(path, read_text(project.root / path))

    def run(self, readers: int, writers: int) -> None:
        """Start all and wait for them."""
        paths = sorted(self.project.marks)
        threads = [
            *(threading.Thread(target=self._write, args=(at, paths[at::writers])) for at in range(writers)),
            *(threading.Thread(target=self._read, args=(at,)) for at in range(readers)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _write(self, seed: int, paths: list[str]) -> None:
        chance = random.Random(seed)
        beside = self.project.root / f"src/writer{seed}.tmp~"
        while time.monotonic() < self.end:
            path = chance.choice(paths)
            with self._lock:
                mark = self.project.new_mark()
            text = "\n" * chance.randint(0, 9) + self.project.text(path, mark)
            beside.write_text(text)
            self.versions.begin(path, text)
            os.replace(beside, self.project.root / path)
            self.versions.end(path)
            with self._lock:
                self.project.marks[path] = mark
                self.counts["changes"] += 1
            time.sleep(WRITER_PAUSE_SECONDS)

    def _read(self, seed: int) -> None:
        chance = random.Random(1000 + seed)
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=120)
        while time.monotonic() < self.end:
            with self._lock:
                path = chance.choice(sorted(self.project.marks))
                mark = self.project.marks[path]
            action = chance.choice(_KINDS)
            payload: dict[str, Any] = {"query": f"count_{mark} {Path(path).stem}"}
            if action == "get":
                payload = {"ids": [f"{path}:1:{chance.randint(1, 7)}"]}
            asked = time.monotonic()
            body = json.dumps({"action": action, "payload": payload})
            connection.request("POST", "/v1/command", body, {"content-type": "application/json"})
            envelope = json.loads(connection.getresponse().read())
            self._judge(action, envelope, asked, time.monotonic())
        connection.close()

    def _judge(self, action: str, envelope: Any, asked: float, answered: float) -> None:
        rows: list[str] = []
        cited = 0
        if envelope["status"] != "ok":
            rows.append(f"{action}: {envelope['error']}")
        elif not (stale := envelope["meta"]["index_state"]["stale"]):
            for item in citations(action, envelope["data"]):
                cited += 1
                if not self.versions.bear_out(item, asked, answered):
                    rows.append(f"{action}: {item.path}:{item.first}-{item.last} {item.text[:50]!r}")
        with self._lock:
            self.counts["answers"] += 1
            self.counts["citations"] += cited
            self.counts["stale answers"] += bool(envelope["status"] == "ok" and stale)
            self.wrong += rows


def run(seconds: float, readers: int, writers: int, flags: tuple[str, ...] = ()) -> Trial:
    """The trial on a fresh project in git, with another process that watches the same folder."""
    with tempfile.TemporaryDirectory() as folder:
        project = fresh_project(Path(folder) / "shop", 1, in_git=True)
        with surfaces.serving("http", project.root, *flags) as server:
            surfaces.OverHttp(server).ask("index", {})
            watch = subprocess.Popen(
                [sys.executable, "-m", "satchel", "watch", "--segment", str(project.root)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            trial = Trial(project, server, seconds)
            try:
                trial.run(readers, writers)
            finally:
                watch.terminate()
                watch.wait()
        return trial


def main() -> int:
    """Run the trial and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--readers", type=int, default=12)
    parser.add_argument("--writers", type=int, default=3)
    options = parser.parse_args()
    trial = run(options.seconds, options.readers, options.writers)
    print(dict(trial.counts), f"wrong: {len(trial.wrong)}")
    print("\n".join(trial.wrong[:20]))
    return bool(trial.wrong)


if __name__ == "__main__":
    sys.exit(main())

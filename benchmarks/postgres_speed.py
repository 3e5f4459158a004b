"""What does an index in PostgreSQL cost beside one in SQLite, and does it give the same bytes?

    python benchmarks/postgres_speed.py FOLDER [--rounds 5] [--loads 2]

The folder is indexed in both, in turns. Then the same questions are asked of both in turns, in this
process: CPU milliseconds of the client and of the server, which is started as the tests do it. Last,
`search`, `pack`, `context_pack`, `refs`, `symbols`, `impact` and `map` are printed from both and compared
byte by byte. The table goes to the terminal and to `results/postgres_speed.txt`; exit code 1 when an answer
differs or the index is larger than 2.2 times the text.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import measure
from search_speed import BEFORE, QUESTIONS

from satchel.engine import Engine
from satchel.serving import cli

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from postgres_server import PostgresServer, shared_server

RESULTS = Path(__file__).parent / "results" / "postgres_speed.txt"
MOST_TIMES_THE_TEXT = 2.2
TICKS = os.sysconf("SC_CLK_TCK")
ROUND_SECONDS = 3  # a backend's time is counted when it is waited for
OF_THE_MOMENT = re.compile(r'"(generation|\w+_ms)": ?[\d.]+')
SIZE = """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'satchel' AND c.relkind = 'r'"""


def server_cpu(server: PostgresServer) -> float:
    """Return the CPU seconds of a server and of all its processes, also of those that have ended."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(folder.name) == server.process.pid:
                total += sum(map(int, fields[11:15]))
            elif int(fields[1]) == server.process.pid:
                total += sum(map(int, fields[11:13]))
    return total / TICKS


def said(*words: str) -> str:
    """Return what the command line prints."""
    shown = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(shown):
        code = cli.main([*words])
    shown.seek(0)
    return f"{code}\n{OF_THE_MOMENT.sub('', shown.read())}"


def asked_commands(engine: Engine) -> list[tuple[str, ...]]:
    """Return the words of commands whose answers are compared."""
    names = sorted({item.symbol.name for item in engine.snapshot().all_symbols()})[::997]
    found: list[tuple[str, ...]] = [("map",), ("map", "--json")]
    for question in QUESTIONS:
        found += [("search", question), ("pack", question), ("context_pack", question, "--json")]
    for name in names[:30]:
        found += [("refs", name), ("symbols", name, "--json"), ("impact", name)]
    return found


def cpu_of(work: Callable[[], Any], server: PostgresServer) -> tuple[float, float]:
    """Return the CPU seconds of this process and of the server during some work."""
    before, started = server_cpu(server), time.process_time()
    work()
    return time.process_time() - started, server_cpu(server) - before


def warm(
    engines: dict[str, Engine], server: PostgresServer, rounds: int
) -> dict[tuple[str, str], list[float]]:
    """Return milliseconds of each question by store and kind, and the server's over all of them."""
    found: dict[tuple[str, str], list[float]] = {}
    for engine in engines.values():
        for question in (*BEFORE, *QUESTIONS):
            engine.search(question)
            engine.pack(question)
    for kind in ("search", "pack"):
        for _ in range(rounds):
            for question in QUESTIONS:
                for store, engine in engines.items():
                    own, others = cpu_of(lambda: getattr(engine, kind)(question), server)  # noqa: B023
                    found.setdefault((store, kind), []).append(own * 1000)
                    found.setdefault((store, f"{kind} server"), []).append(others * 1000)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loads", type=int, default=2)
    arguments = parser.parse_args()
    root = arguments.folder.resolve()
    server = shared_server()
    lines = [f"{root.name}: {time.strftime('%Y-%m-%d')}"]
    with tempfile.TemporaryDirectory() as folder:
        places = {"sqlite": f"sqlite:{folder}/", "postgres": server.place("benchmark")}
        sizes: dict[str, int] = {}
        loads: dict[str, list[tuple[float, float, float]]] = {store: [] for store in places}
        for _ in range(arguments.loads):
            for store, place in places.items():
                before = server_cpu(server)
                command = [sys.executable, "-m", "satchel", "index", "--force", "--segment", str(root)]
                done = measure([*command, "--index-dir", place])
                time.sleep(ROUND_SECONDS)
                loads[store].append((done.cpu_s, server_cpu(server) - before, done.wall_s))
            if not sizes:  # before old rows wait to be removed
                sizes = {
                    "sqlite": Path(folder, "context.db").stat().st_size,
                    "postgres": int(server.ask(SIZE)),
                }
        for store, found in loads.items():
            own, others, wall = (statistics.median(values) for values in zip(*found, strict=True))
            lines.append(
                f"load {store:9} {own:7.2f} CPU s client {others:7.2f} CPU s server {wall:7.2f} s wall"
            )
        print("\n".join(lines), flush=True)
        engines = {store: Engine.open(root, index_dir=place) for store, place in places.items()}
        text = sum(record.size for record in engines["sqlite"].snapshot().files())
        lines += [
            f"size {store:9} {count / 1e6:7.1f} MB {count / text:7.2f} × text ({text / 1e6:.1f} MB)"
            for store, count in sizes.items()
        ]
        gc.disable()
        for (store, kind), values in sorted(warm(engines, server, arguments.rounds).items()):
            p95 = statistics.quantiles(values, n=20)[-1]
            lines.append(
                f"warm {store:9} {kind:14} {statistics.median(values):7.2f} ms p50 {p95:7.2f} p95"
                f" {statistics.mean(values):7.2f} mean"
            )
        gc.enable()
        print("\n".join(lines), flush=True)
        different = []
        commands = asked_commands(engines["sqlite"])
        for words in commands:
            answers = {
                said(*words, "--segment", str(root), "--index-dir", place) for place in places.values()
            }
            if len(answers) != 1:
                different.append(" ".join(words))
        lines.append(f"same bytes: {len(commands) - len(different)} of {len(commands)} answers")
        lines += [f"differs: {words}" for words in different]
    print("\n".join(lines))
    RESULTS.write_text("\n".join(lines) + "\n")
    return int(bool(different) or sizes["postgres"] > MOST_TIMES_THE_TEXT * text)


if __name__ == "__main__":
    sys.exit(main())

"""What do questions cost where people ask: in a git clone, in a plain folder, after edits, of servers?

    python benchmarks/life_speed.py [FOLDER] [--runs 5]

A copy of the folder (default: Django, see corpora.py) is asked by command line as a git work tree and as a
plain folder: searches and packs with nothing changed, and a search right after one file was edited, in eight
languages. A process that goes on is asked after edits in twenty. Then servers answer one caller: wall
milliseconds of a search with and without watching, the CPU that a watching server takes while nothing
happens, and CPU seconds until an MCP server has answered `initialize` and a first search. CPU seconds count
the process and its children; each is the median of the runs, and kinds of runs alternate, so that a busy
machine is busy for all of them. The table is kept in `results/life_speed.txt`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from corpora import default_cache, get
from load import cpu, server
from measure import installed_satchel, measure
from search_speed import QUESTIONS

from satchel.engine import Engine

RESULTS = Path(__file__).parent / "results" / "life_speed.txt"
IDLE_SECONDS = 15
SETTLED_SECONDS = 0.3  # a folder is trusted once nothing in it is younger than a tenth of a second
SERVER_QUESTIONS = 60
# One file of each language. The definition is changed, so that its file is parsed, chunked and resolved anew.
EDITED = {
    "python": ("edited.py", "def edited_{0}(first, second):\n    return first + {0}\n"),
    "typescript": ("edited.ts", "export function edited{0}(first: number): number {{\n  return first;\n}}\n"),
    "tsx": ("edited.tsx", "export function Edited{0}() {{\n  return <p>{{{0}}}</p>;\n}}\n"),
    "c": ("edited.c", "int edited_{0}(int first)\n{{\n    return first + {0};\n}}\n"),
    "cpp": ("edited.cpp", "class Edited{0} {{\n public:\n  int value() const {{ return {0}; }}\n}};\n"),
    "go": ("edited.go", "package edited\n\nfunc Edited{0}(first int) int {{\n\treturn first + {0}\n}}\n"),
    "ruby": ("edited.rb", "class Edited{0}\n  def value\n    {0}\n  end\nend\n"),
    "swift": ("edited.swift", "func edited{0}(first: Int) -> Int {{\n    return first + {0}\n}}\n"),
}
# Further languages, which are edited under a process that goes on: by command line each takes minutes more.
ALSO_EDITED = {
    "javascript": ("edited.js", "export function edited{0}(first) {{\n  return first + {0};\n}}\n"),
    "java": ("Edited.java", "class Edited {{\n  int value{0}() {{\n    return {0};\n  }}\n}}\n"),
    "rust": ("edited.rs", "pub fn edited_{0}(first: i32) -> i32 {{\n    first + {0}\n}}\n"),
    "csharp": ("Edited.cs", "class Edited {{\n  int Value{0}() {{\n    return {0};\n  }}\n}}\n"),
    "php": ("edited.php", "<?php\nfunction edited_{0}($first) {{\n    return $first + {0};\n}}\n"),
    "kotlin": ("edited.kt", "fun edited{0}(first: Int): Int {{\n    return first + {0}\n}}\n"),
    "scala": ("edited.scala", "object Edited {{\n  def value{0}(first: Int): Int = first + {0}\n}}\n"),
    "haskell": (
        "Edited.hs",
        "module Edited where\n\nedited{0} :: Int -> Int\nedited{0} first = first + {0}\n",
    ),
    "elixir": ("edited.ex", "defmodule Edited do\n  def value_{0}(first) do\n    first + {0}\n  end\nend\n"),
    "lua": ("edited.lua", "function edited_{0}(first)\n  return first + {0}\nend\n"),
    "bash": ("edited.sh", "edited_{0}() {{\n  echo $(($1 + {0}))\n}}\n"),
    "zig": ("edited.zig", "pub fn edited{0}(first: i32) i32 {{\n    return first + {0};\n}}\n"),
}


def git(root: Path, *words: str) -> None:
    """Run git in a folder."""
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


def copies(folder: Path, scratch: Path) -> dict[str, Path]:
    """Return the folder as a git work tree and as a plain folder, both indexed."""
    found = {"git": scratch / "git", "plain": scratch / "plain"}
    for kind, root in found.items():
        shutil.copytree(folder, root, ignore=shutil.ignore_patterns("_ctx", ".git"), symlinks=True)
        for name, text in (EDITED | ALSO_EDITED).values():
            (root / "edited").mkdir(exist_ok=True)
            (root / "edited" / name).write_text(text.format(0))
        if kind == "git":
            git(root, "init", "-q")
            git(root, "add", "-A")
            git(root, "commit", "-q", "-m", "x")
        time.sleep(SETTLED_SECONDS)
        run_satchel(root, "index")
        run_satchel(root, "search", "-k", "1", "anything")
    return found


def run_satchel(root: Path, command: str, *words: str) -> float:
    """Return the CPU seconds of one command line."""
    return measure([*installed_satchel(), command, *words, "--segment", root, "--no-server"]).cpu_s


def edited(root: Path, language: str, number: int) -> float:
    """Return the CPU seconds of the first search after one file was edited."""
    name, text = EDITED[language]
    (root / "edited" / name).write_text(text.format(number))
    time.sleep(SETTLED_SECONDS)
    return run_satchel(root, "search", QUESTIONS[number % len(QUESTIONS)])


def by_command_line(roots: dict[str, Path], runs: int) -> list[str]:
    """Return the rows of what command lines cost."""
    asked: dict[str, Callable[[Path, int], float]] = {
        "search": lambda root, run: run_satchel(root, "search", QUESTIONS[run]),
        "pack of 4,000 tokens": lambda root, run: run_satchel(root, "pack", QUESTIONS[run]),
        **{
            f"search after an edit, {language}": lambda root, run, language=language: edited(
                root, language, run + 1
            )
            for language in EDITED
        },
    }
    rows = ["by command line, CPU s                git     plain"]
    for name, run in asked.items():
        costs: dict[str, list[float]] = {kind: [] for kind in roots}
        for number in range(runs):
            for kind, root in roots.items():
                costs[kind].append(run(root, number))
        rows.append(f"{name:<32}" + "".join(f"{statistics.median(costs[kind]):>10.3f}" for kind in roots))
    return rows


def in_a_process(roots: dict[str, Path], runs: int) -> list[str]:
    """Return the rows of what an edit and the search after it cost a process that was asked before."""
    found = [_edits_in_a_process(root, runs) for root in roots.values()]
    rows = (
        f"{language:<32}" + "".join(f"{costs[language]:>10.1f}" for costs in found) for language in found[0]
    )
    return ["an edit and the search after it in a process, CPU ms", *rows]


def _edits_in_a_process(root: Path, runs: int) -> dict[str, float]:
    """Return the median of each language. Its first edit, which loads what it needs, does not count."""
    costs: dict[str, list[float]] = {language: [] for language in EDITED | ALSO_EDITED}
    with Engine.open(root) as engine:
        for number in range(runs + 1):
            for language, (name, text) in (EDITED | ALSO_EDITED).items():
                (root / "edited" / name).write_text(text.format(100 + number))
                time.sleep(SETTLED_SECONDS)
                started = time.process_time()
                engine.ensure_fresh()
                engine.search(QUESTIONS[0])
                costs[language].append(1000 * (time.process_time() - started))
    return {language: statistics.median(found[1:]) for language, found in costs.items()}


def of_servers(roots: dict[str, Path]) -> list[str]:
    """Return the rows of what one caller waits for, and of what an idle server costs."""
    rows = ["over HTTP, one caller                git     plain"]
    waits: dict[tuple[str, ...], list[str]] = {("watching",): [], ("--no-watch",): []}
    idle = []
    for root in roots.values():
        for flags, cells in waits.items():
            with server(root, [flag for flag in flags if flag.startswith("-")]) as (client, process):
                took = [_timed(client, QUESTIONS[number % 5]) for number in range(SERVER_QUESTIONS)][10:]
                cells.append(f"{1000 * statistics.median(took):>10.1f}")
                if flags == ("watching",):
                    time.sleep(5)  # the second look after the first index
                    before = cpu(process)
                    time.sleep(IDLE_SECONDS)
                    idle.append(f"{100 * (cpu(process) - before) / IDLE_SECONDS:>9.2f}%")
    rows += [f"{f'search, {flags[0]}, p50 ms':<32}" + "".join(cells) for flags, cells in waits.items()]
    return [*rows, f"{'share of a core while idle':<32}" + "".join(idle)]


def _timed(client: object, question: str) -> float:
    started = time.perf_counter()
    client.post("search", {"query": question})  # type: ignore[attr-defined]
    return time.perf_counter() - started


def of_mcp(root: Path, runs: int) -> list[str]:
    """Return the rows of CPU seconds until an MCP server has answered."""
    costs = [_mcp_costs(root) for _ in range(runs)]
    first, second = (statistics.median(column) for column in zip(*costs, strict=True))
    return [
        "over MCP, CPU s",
        f"{'initialize':<32}{first:>10.3f}",
        f"{'initialize and a first search':<32}{second:>10.3f}",
    ]


def _mcp_costs(root: Path) -> tuple[float, float]:
    """Return the CPU seconds of a server after `initialize` and after a first search."""
    command = [*installed_satchel(), "serve", "mcp", "--segment", str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None

        def call(number: int, method: str, params: dict[str, object]) -> None:
            assert process.stdin is not None and process.stdout is not None
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            while json.loads(process.stdout.readline()).get("id") != number:
                pass

        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "b", "version": "1"},
        }
        call(1, "initialize", hello)
        first = cpu(process.pid)
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        call(2, "tools/call", {"name": "search", "arguments": {"query": QUESTIONS[0]}})
        second = cpu(process.pid)
        process.stdin.close()
        process.wait(10)
    return first, second


def main() -> int:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=("cli", "process", "http", "mcp"), action="append")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    folder = options.folder or get("django", options.cache)
    wanted: Sequence[str] = options.only or ("cli", "process", "http", "mcp")
    with tempfile.TemporaryDirectory() as scratch:
        roots = copies(folder, Path(scratch))
        table = [
            f"{folder.name}; {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
        ]
        table += by_command_line(roots, options.runs) if "cli" in wanted else []
        table += in_a_process(roots, options.runs) if "process" in wanted else []
        table += of_servers(roots) if "http" in wanted else []
        table += of_mcp(roots["git"], options.runs) if "mcp" in wanted else []
    text = "\n".join(table) + "\n"
    sys.stdout.write(text)
    if not options.only:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

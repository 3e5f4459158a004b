"""Files that would keep a parser busy for minutes, or take gigabytes: read by lines, and said so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import make_engine, make_tree, run_cli

from satchel.chunking import confined, parse_source, syntax, windows
from satchel.types import ByLines

resource = pytest.importorskip("resource")

# A stack that splits at each name and is open at the end of the file (3 GB), errors whose recovery takes the
# longer the more stand before it, and a query over siblings that have no names.
STALLING = {
    "generics": ("csharp", "a<\n" * 10_000),
    "unions": ("typescript", "a|\n" * 40_000),
    "stars": ("csharp", "*\n" * 90_000),
}
DEEP = "x = [\n" + "[\n" * 2_000 + "]\n" * 2_000 + "]\n"
DEFINITIONS = "".join(
    f"def work_{number}(item):\n    return item + {number}\n\n\n" for number in range(1_500)
)


def spent() -> float:
    """The processor seconds of this process and of the helpers that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


@pytest.mark.parametrize("family", STALLING)
def test_a_stalling_file_is_read_by_lines_within_its_limit(family: str) -> None:
    language, text = STALLING[family]
    started = spent()
    parsed = parse_source(text, language)
    assert spent() - started < confined.processor_seconds(len(text)) + 1.5
    assert parsed == windows.parse(text, language, ByLines.LIMIT)
    assert "".join(chunk.text for chunk in parsed.chunks) == text


def test_memory_of_a_stalling_file_stays_under_its_limit() -> None:
    program = (
        "import re, resource; from satchel.chunking import parse_source\n"
        "assert parse_source('a<\\n' * 30_000, 'csharp').by_lines\n"
        # not by getrusage: what it says of a process begins with the size of the one that started it
        "print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    own, helper = (int(number) * 1024 for number in done.stdout.split())
    assert own < 150_000_000
    assert helper < confined.memory_bytes(90_000) + 100_000_000  # 3 GB without a limit


@pytest.mark.parametrize("mark", ["]", "#", "\x85", "\x02"])
def test_a_broken_file_of_kotlin_that_its_grammar_never_ends_on_is_read_by_lines(mark: str) -> None:
    text = f"{{(::s)\ns\n{mark}suspend fun <R> add(\n        item: T,\nCart<T>) -> R,\n    ): R {{\n        fun f() = 1\n"
    started = spent()
    parsed = parse_source(text, "kotlin")
    assert spent() - started < confined.processor_seconds(len(text)) + 1.5
    assert "".join(chunk.text for chunk in parsed.chunks) == text


def test_a_large_file_gives_the_same_in_a_helper_and_here() -> None:
    assert confined.could_stall(DEFINITIONS.encode())
    parsed = parse_source(DEFINITIONS, "python")
    assert parsed == syntax.parse_here(DEFINITIONS, "python")
    assert len(parsed.symbols) == 1_500


def test_a_repetitive_stretch_is_seen_between_code() -> None:
    code = DEFINITIONS[:20_000]
    assert not confined.could_stall(code.encode())
    assert confined.could_stall((code + "a<" * 2_500 + "\n" + code).encode())


def test_the_answer_is_the_same_while_the_machine_is_busy() -> None:
    quiet = [parse_source(*reversed(STALLING["generics"])), parse_source(DEFINITIONS, "python")]
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        loaded = [parse_source(*reversed(STALLING["generics"])), parse_source(DEFINITIONS, "python")]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert loaded == quiet


def test_status_names_the_files_that_are_read_by_lines(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path, {"deep.py": DEEP, "generics.cs": STALLING["generics"][1], "plain.py": "def plain(): pass\n"}
    )
    assert run_cli("index", "-s", root).returncode == 0
    status = json.loads(run_cli("status", "--json", "-s", root).stdout)
    assert status["read_by_lines"] == [
        {"path": "deep.py", "reason": "nesting"},
        {"path": "generics.cs", "reason": "limit"},
    ]
    shown = run_cli("status", "-s", root).stdout.decode()
    assert "read by lines" in shown and "generics.cs" in shown and "plain.py" not in shown
    assert status["skipped_counts"] == {}


def test_a_moved_file_is_still_known_to_be_read_by_lines(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"deep.py": DEEP})
    engine = make_engine(root)
    engine.refresh()
    (root / "deep.py").rename(root / "moved.py")
    engine.refresh()
    assert [record.tags for record in engine.snapshot().files()] == [("by-lines:nesting",)]

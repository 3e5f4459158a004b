"""Files that would keep a parser busy for minutes, or take gigabytes: read by lines, and said so."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import make_engine, make_tree, run_cli

from satchel.chunking import parse_limits, parse_source, syntax, windows
from satchel.types import ByLines

fcntl = pytest.importorskip("fcntl")
resource = pytest.importorskip("resource")

# A stack that splits at each name and is open at the end of the file (3 GB), errors whose recovery takes the
# longer the more stand before it, and a query over siblings that have no names.
STALLING = {
    "generics": ("csharp", "a<\n" * 10_000),
    "unions": ("typescript", "a|\n" * 40_000),
    "stars": ("csharp", "*\n" * 90_000),
}
_BRACKETS = random.Random(1)
# 60 kB that repeat nothing; the grammar of Scala takes 9 s for them
BRACKETS = "".join(_BRACKETS.choices("()[]{}", k=60_000))
DEEP = "x = [\n" + "[\n" * 2_000 + "]\n" * 2_000 + "]\n"
DEFINITIONS = "".join(
    f"def work_{number}(item):\n    return item + {number}\n\n\n" for number in range(1_500)
)


def spent() -> float:
    """The processor seconds of this process and of its helpers, which are ended for that."""
    parse_limits._end_all()
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


@pytest.mark.parametrize("family", STALLING)
def test_a_stalling_file_is_read_by_lines_within_its_limit(family: str) -> None:
    language, text = STALLING[family]
    started = spent()
    parsed = parse_source(text, language)
    assert spent() - started < parse_limits.processor_seconds(len(text)) + 1.5
    assert parsed == windows.parse(text, language, ByLines.LIMIT)
    assert "".join(chunk.text for chunk in parsed.chunks) == text


def test_a_small_file_that_repeats_nothing_is_read_by_lines_within_its_limit() -> None:
    assert not parse_limits.could_stall(BRACKETS.encode())
    started = spent()
    parsed = parse_source(BRACKETS, "scala")
    assert spent() - started < parse_limits.processor_seconds(len(BRACKETS)) + 1.5
    assert parsed == windows.parse(BRACKETS, "scala", ByLines.LIMIT)


INDEX_WITH_A_LOW_LIMIT = """
import sys
from pathlib import Path
from satchel import Engine
from satchel.chunking import parse_limits

parse_limits.SECONDS_PER_MEGABYTE = 0.0; parse_limits.BASE_SECONDS = 0.3  # no file that is not taken for minified is known to reach the limit of life
for root in sys.argv[1:]:
    with Engine.open(root, workers=2) as engine:
        engine.refresh()
"""


def test_a_file_that_ends_a_worker_costs_the_other_files_nothing(tmp_path: Path) -> None:
    # More than one process takes for itself, in files that each has quickly.
    words = "\n".join(f"{number:x} of the sixty thousand" for number in range(1_900))
    files = {f"code_{number}.py": f'def work_{number}():\n    """{words}"""\n' for number in range(64)}
    lines = [BRACKETS[start : start + 4_900] + "\n" * 17 for start in range(0, len(BRACKETS), 4_900)]
    usual = make_tree(tmp_path / "usual", files)
    stalling = make_tree(tmp_path / "stalling", files | {"brackets.scala": "".join(lines)})
    program = [sys.executable, "-c", INDEX_WITH_A_LOW_LIMIT, str(usual), str(stalling)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(program, env=environment, check=True, timeout=120)
    snapshots = [make_engine(root).snapshot() for root in (usual, stalling)]
    assert [record.path for record in snapshots[0].files()] == sorted(files)
    tags = {record.path: record.tags for record in snapshots[1].files()}
    assert tags == {path: ("by-lines:limit",) if path == "brackets.scala" else () for path in tags}
    assert tags.keys() == {*files, "brackets.scala"}
    assert len({tuple(snapshot.parsed(path) for path in sorted(files)) for snapshot in snapshots}) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks a helper")
def test_a_forked_helper_gives_the_same_and_holds_nothing_of_a_parent_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import fcntl, os, signal, sys; from satchel.chunking import parse_source, syntax\n"
        "lock = open(sys.argv[1], 'w'); fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "text = 'def work(item):\\n    return item\\n'\n"
        "assert parse_source(text, 'python') == syntax.parse_here(text, 'python')\n"
        "assert os.waitpid(-1, os.WNOHANG) == (0, 0)  # a child is there\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", program, str(tmp_path / "lock")]
    done = subprocess.run(
        words, env=environment, capture_output=True, timeout=30
    )  # waits for its output's end
    assert done.returncode == -signal.SIGKILL, done.stderr
    with (tmp_path / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
    assert helper < parse_limits.memory_bytes(90_000) + 100_000_000  # 3 GB without a limit


@pytest.mark.parametrize("mark", ["]", "#", "\x85", "\x02"])
def test_a_broken_file_of_kotlin_that_its_grammar_never_ends_on_is_read_by_lines(mark: str) -> None:
    text = f"{{(::s)\ns\n{mark}suspend fun <R> add(\n        item: T,\nCart<T>) -> R,\n    ): R {{\n        fun f() = 1\n"
    started = spent()
    parsed = parse_source(text, "kotlin")
    assert spent() - started < parse_limits.processor_seconds(len(text)) + 1.5
    assert "".join(chunk.text for chunk in parsed.chunks) == text


def test_a_large_file_gives_the_same_in_a_helper_and_here() -> None:
    assert parse_limits.could_stall(DEFINITIONS.encode())
    parsed = parse_source(DEFINITIONS, "python")
    assert parsed == syntax.parse_here(DEFINITIONS, "python")
    assert len(parsed.symbols) == 1_500


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what children a process has")
def test_an_expendable_process_parses_a_large_file_itself_and_ends_when_memory_does() -> None:
    program = (
        "import os, sys; from satchel.chunking import parse_limits, parse_source, prepare_worker, syntax\n"
        "prepare_worker()\n"
        "text = sys.stdin.read()\n"
        "assert parse_limits.could_stall(text.encode())\n"
        "assert parse_source(text, 'python') == syntax.parse_here(text, 'python')\n"
        "assert not open(f'/proc/self/task/{os.getpid()}/children').read()\n"
        "print('parsed', flush=True)\n"
        "with parse_limits.limited(1_000):\n"
        "    bytes(10**10)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=environment, input=DEFINITIONS.encode(), capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"parsed\n", b"")


def test_a_repetitive_stretch_is_seen_between_code() -> None:
    code = DEFINITIONS[:20_000]
    assert not parse_limits.could_stall(code.encode())
    assert parse_limits.could_stall((code + "a<" * 2_500 + "\n" + code).encode())


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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux asks a helper for every file")
def test_a_helper_that_somebody_killed_is_replaced(tmp_path: Path) -> None:
    program = (
        "import os, signal, subprocess; from satchel.chunking import parse_source, syntax\n"
        "text = 'def work(item):\\n    return item\\n'\n"
        "for number in (signal.SIGKILL, signal.SIGTERM):\n"
        "    parse_source(text, 'python')\n"
        "    children = open(f'/proc/self/task/{os.getpid()}/children').read().split()\n"
        "    for child in children:\n"
        "        os.kill(int(child), number)\n"
        "    assert children and parse_source(text, 'python') == syntax.parse_here(text, 'python')\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)

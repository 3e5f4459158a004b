"""A disk that is full, broken or closed at the Nth write of any command: is that said, and is nothing lost?

    python benchmarks/faulting/disk.py [--most 400]

`disk_faults.c`, loaded before the C library, lets the Nth write below the index folder fail, and all after
it. The command must answer or fail with a typed error, never with a traceback or `internal`; afterwards,
without the fault, the index must give what a new index of the folder gives.
"""

from __future__ import annotations

import argparse
import errno
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(HERE.parent), str(TESTS)]

from builders import clean_environment, dump, make_engine, memory_engine  # noqa: E402

from faulting.changing import fresh_project  # noqa: E402

DEFECT = 70  # the exit code of what was not foreseen
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
COMMANDS: dict[str, tuple[str, ...]] = {
    "first index": ("index",),
    "index": ("index",),
    "search": ("search", "how is the basket counted"),
    "pack --ref": ("pack", "how is the basket counted", "--ref", "HEAD"),
    "build": ("build", "--scope", "all"),
    "eval --history": ("eval", "--history", "2"),
}
_ASKED = ["basket counted"]
_STEP = 1.5  # of the number of the write that fails, from one round to the next


class FaultyDisk:
    """Runs commands whose writes below one folder fail from some write on."""

    def __init__(self, folder: Path) -> None:
        self._library = folder / "disk_faults.so"
        source = HERE / "disk_faults.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self._library, source, "-ldl"], check=True)

    def run(
        self, words: tuple[str, ...], root: Path, at: int, error: int
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a folder; the write number `at` below its `_ctx` fails with that error."""
        settings = {"FAULT_FOLDER": f"{root}/_ctx", "FAULT_AT": str(at), "FAULT_ERRNO": str(error)}
        environment = clean_environment(settings) | {"LD_PRELOAD": str(self._library)}
        command = [sys.executable, "-m", "satchel", *words, "--segment", str(root), "--json"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def judge(done: subprocess.CompletedProcess[str], root: Path, good: Any) -> Iterator[str]:
    """Yield what is wrong with an answer under a fault, and with the folder after it."""
    if "Traceback" in done.stderr or done.returncode < 0 or done.returncode == DEFECT:
        yield f"exit {done.returncode}: {done.stderr.strip()[-200:]}"
    elif done.returncode not in (0, 1):
        error = json.loads(done.stdout)["error"]
        if error["code"] == "internal" or not error["hint"]:
            yield f"{error['code']}: {error['message']}"
    left = [path.name for path in (root / "_ctx").rglob("*") if path.name.endswith((".new", ".tmp"))]
    with make_engine(root) as engine:
        engine.ensure_fresh()
        if dump(engine, _ASKED) != good:
            yield f"the next refresh does not give what a new index gives; left: {left}"
        if any("set aside" in note for note in engine.notes):
            yield f"the index was lost: {engine.notes}"


def run(most: int, tell: Callable[[str], None]) -> tuple[Counter[str], list[str]]:
    """Let each of the first writes of each command fail; how often it failed, and all that was wrong."""
    faults: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk = FaultyDisk(folder)
        project = fresh_project(folder / "good", 1, in_git=True)
        project.switch_branch()
        with make_engine(project.root) as engine:
            engine.refresh()
        project.edit()
        good = dump(memory_engine(project.root), _ASKED)
        root = folder / "shop"
        for command, words in COMMANDS.items():
            for error in ERRORS:
                at, reached = 1, True
                while reached and at <= most:
                    shutil.rmtree(root, ignore_errors=True)
                    shutil.copytree(project.root, root, symlinks=True)
                    if command == "first index":
                        shutil.rmtree(root / "_ctx")
                    done = disk.run(words, root, at, error)
                    reached = done.returncode != 0 or "note:" in done.stderr
                    faults[command] += reached
                    place = f"{command}, write {at}, {errno.errorcode[error]}"
                    wrong += [f"{place}: {text}" for text in judge(done, root, good)]
                    at = max(at + 1, round(at * _STEP))
            tell(f"{command}: {faults[command]} faults, {len(wrong)} wrong so far")
    return faults, wrong


def main() -> int:
    """Run the faults and print what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--most", type=int, default=400, help="the last write that is let fail")
    options = parser.parse_args()
    faults, wrong = run(options.most, print)
    print(dict(faults))
    print("\n".join(wrong[:30]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

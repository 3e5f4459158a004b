"""How often does one pack suffice for a real fix, and what does it cost to see everything that it changes?

    python benchmarks/tasks/run.py replay --mirror MIRROR --work WORK
    python benchmarks/tasks/run.py report --work WORK --out benchmarks/results/tasks.txt --readme README.md

MIRROR has a bare git directory of each repository in `repositories.py`: OWNER+NAME or OWNER+NAME/repo. WORK
is a folder outside the tree: clones that borrow the objects of the mirror, indexes, and the outcome of each
repository, so that a replay that was stopped goes on with the next one (`--anew` starts over). `rg` has to be
on the PATH. `report` only reads what `replay` kept; `--readme` puts the tables of the result into README.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import msgspec

from satchel import tokenizers
from satchel.engine import Engine
from satchel.evaluation import saved
from satchel.evaluation.ripgrep import find_ripgrep
from satchel.evaluation.task_run import run_tasks
from tasks.report import readme_tables, report, with_tables
from tasks.repositories import REPOSITORIES, Repository, clone

TASKS = 15  # of each repository
TOKENIZER = tokenizers.DEFAULT_BUDGET


def main() -> int:
    """Run one of the commands above."""
    arguments = _arguments()
    chosen = [each for each in REPOSITORIES if not arguments.repo or each.name in arguments.repo]
    if arguments.command == "replay":
        if not find_ripgrep():
            print("rg is not on the PATH: install ripgrep first", file=sys.stderr)
            return 1
        for repository in chosen:
            _replay(repository, arguments)
        return 0
    outcomes = {each.name: _outcome(arguments.work, each) for each in chosen}
    missing = [name for name, path in outcomes.items() if not path.exists()]
    if missing:
        print(f"not replayed yet: {', '.join(missing)}", file=sys.stderr)
        return 1
    text = report({name: saved.load(path) for name, path in outcomes.items()})
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    if arguments.readme:
        readme = arguments.readme.read_text(encoding="utf-8")
        arguments.readme.write_text(with_tables(readme, readme_tables(text)), encoding="utf-8")
    return 0


def _replay(repository: Repository, arguments: argparse.Namespace) -> None:
    """Replay the fixes of one repository and keep the outcome."""
    kept = _outcome(arguments.work, repository)
    if kept.exists() and not arguments.anew:
        return
    root = clone(repository, arguments.mirror, arguments.work)
    index = arguments.work / "indexes" / repository.folder
    shutil.rmtree(index, ignore_errors=True)
    before, started = _cpu_seconds(), time.monotonic()
    with Engine.open(root, index_dir=index, workers=1) as engine:
        run = run_tasks(engine, arguments.tasks, tokenizers.get(TOKENIZER), TOKENIZER)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(msgspec.json.encode(saved.keep(run, "tasks", TOKENIZER)))
    shutil.rmtree(index, ignore_errors=True)
    told = f"{len(run.answers)} fixes of {run.seen} commits, {_cpu_seconds() - before:.0f} s CPU"
    print(f"{repository.folder}: {told}, {time.monotonic() - started:.0f} s", flush=True)


def _outcome(work: Path, repository: Repository) -> Path:
    return Path(work / "outcomes" / f"{repository.folder}.json")


def _cpu_seconds() -> float:
    return sum(os.times()[:4])


def _arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("replay", "report"))
    parser.add_argument("--work", type=Path, required=True, help="the folder of clones, indexes and outcomes")
    parser.add_argument("--mirror", type=Path, help="the folder of git directories; needed to replay")
    parser.add_argument("--repo", action="append", help="only this repository (repeatable)")
    parser.add_argument("--tasks", type=int, default=TASKS, help=f"of each repository (default: {TASKS})")
    parser.add_argument("--anew", action="store_true", help="replay what was replayed before, too")
    parser.add_argument("--out", type=Path, help="keep the text here")
    parser.add_argument("--readme", type=Path, help="put the tables of the text into this file")
    arguments = parser.parse_args(given)
    if arguments.command == "replay" and arguments.mirror is None:
        parser.error("replay needs --mirror")
    return arguments


if __name__ == "__main__":
    sys.exit(main())

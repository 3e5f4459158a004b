"""What do the index of a further work tree, and an index from another machine, cost?

    python benchmarks/worktrees.py --clone DJANGO --work FOLDER [--count 50] [--out FILE]

Indexes a clone, adds linked work trees and indexes one after the other; then exports the index of the clone
and imports it into a plain copy of the tree, whose files have other times. CPU of whole commands, bytes of
indexes; `results/worktrees.txt` keeps them.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path


def satchel(root: Path, *words: str) -> tuple[float, dict[str, int]]:
    """Run a command and return its CPU seconds and its answer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "satchel", *words, "--json", "--no-server", "--segment", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, json.loads(done.stdout)


def index_bytes(root: Path) -> int:
    """The bytes that removing the index folder would give back: a file that another folder has too counts
    nothing."""
    found = (path.stat() for path in (root / "_ctx").rglob("*") if path.is_file())
    return sum(file.st_size for file in found if file.st_nlink == 1)


def measure(clone: Path, work: Path, count: int) -> list[str]:
    """The lines of the result."""
    main = work / "main"
    subprocess.run(["git", "clone", "-q", "--shared", str(clone), str(main)], check=True)
    spent, report = satchel(main, "index")
    lines = [
        f"first index         {spent:6.2f} s   {index_bytes(main) / 1e6:6.1f} MB   {report['parsed']} parsed"
    ]
    for number in range(1, count + 1):
        tree = work / f"tree{number}"
        subprocess.run(["git", "-C", str(main), "worktree", "add", "-q", "--detach", str(tree)], check=True)
        spent, report = satchel(tree, "index")
        if number in (1, 2, count):
            told = f"{report['parsed']} parsed, {report['touched']} known by content"
            lines.append(
                f"work tree {number:>4}      {spent:6.2f} s   {index_bytes(tree) / 1e6:6.1f} MB   {told}"
            )
    archive = work / "index.satchel"
    spent, _ = satchel(main, "index", "export", str(archive))
    lines.append(f"export              {spent:6.2f} s   {archive.stat().st_size / 1e6:6.1f} MB")
    copy = work / "copy"
    shutil.copytree(main, copy, ignore=shutil.ignore_patterns("_ctx", ".git"), copy_function=shutil.copyfile)
    spent, report = satchel(copy, "index", "import", str(archive))
    told = f"{report['parsed']} parsed, {report['touched']} known by content"
    return [*lines, f"import              {spent:6.2f} s   {index_bytes(copy) / 1e6:6.1f} MB   {told}"]


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clone", type=Path, required=True, help="a clone, at the commit to measure")
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True)
    lines = [
        "CPU of `satchel index`, and what its folder takes that no other folder has; Django 5.2.4.",
        "",
    ]
    shown = "\n".join(lines + measure(options.clone, options.work, options.count)) + "\n"
    if options.out:
        options.out.write_text(shown, encoding="utf-8")
    print(shown, end="")


if __name__ == "__main__":
    main()

"""Mined questions → two datasets that ask those of a repository at two of its commits.

    few_commits.py --mirror MIRROR --questions FOLDER --short fixes_short.jsonl --reports fixes_reports.jsonl

A question of `mine_fixes.py` is asked of the parent of its fix, so each needs an index of its own. Here it
is asked of the parent of an earlier fix: an index answers a dozen questions, and learning from 200
repositories takes minutes instead of hours. A question is left out if a file of its answer was not there
yet, or only declares types: libraries of JavaScript mend these in commits of their own, and 23 such fixes
of 770 taught that examples and declarations come before code. Answers name files alone, because their lines
were others then. A message of one line is a short question, a longer one a report.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from satchel.walking import git
from satchel.walking.git_command import GitUnusable

LEAST = 8  # questions of a repository; fewer are not worth an index
PARTS = 3  # by time; the questions of all but the first are asked at the beginning of their part
OF_A_PART = 12  # questions, those first that have a text below the title
DECLARATIONS = (".d.ts", ".d.mts", ".d.cts", ".pyi")  # files that declare types of code elsewhere

Question = dict[str, Any]


def regrouped(root: Path, questions: Sequence[Question]) -> Iterator[Question]:
    """Yield the questions that can be asked at the beginning of their part of the time."""
    by_time = sorted(questions, key=lambda question: (question["time"], question["query_id"]))
    size = len(by_time) // PARTS
    for start in range(size, size * PARTS, size):
        commit = by_time[start]["commit"]
        known = {blob.path for blob in git.list_tree(root, commit).blobs}
        there = [
            question
            for question in by_time[start : start + size]
            if all(
                gold["path"] in known and not gold["path"].endswith(DECLARATIONS) for gold in question["gold"]
            )
        ]
        there.sort(
            key=lambda question: ("\n" not in question["query"], question["time"], question["query_id"])
        )
        for question in there[:OF_A_PART]:
            paths = dict.fromkeys(gold["path"] for gold in question["gold"])
            yield {**question, "commit": commit, "gold": [{"path": path} for path in paths]}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirror", type=Path, required=True, help="the folder of the git directories")
    parser.add_argument("--questions", type=Path, required=True, help="what mine_fixes.py wrote")
    parser.add_argument("--short", type=Path, required=True, help="the dataset of short questions")
    parser.add_argument("--reports", type=Path, required=True, help="the dataset of reports")
    options = parser.parse_args()
    encode = msgspec.json.Encoder().encode
    with options.short.open("wb") as short, options.reports.open("wb") as reports:
        for path in sorted(options.questions.glob("*.jsonl")):
            questions = [msgspec.json.decode(line) for line in path.read_bytes().split(b"\n") if line]
            if len(questions) < LEAST:
                continue
            root = options.mirror / questions[0]["source"].replace("/", "+") / "repo"
            try:
                for question in regrouped(root, questions):
                    (reports if "\n" in question["query"] else short).write(encode(question) + b"\n")
            except GitUnusable as error:
                print(f"{questions[0]['source']}: {error}")


if __name__ == "__main__":
    main()

"""Mined questions → two datasets that ask those of a repository at a few of its commits.

    few_commits.py --mirror MIRROR --questions FOLDER --short fixes_short.jsonl --reports fixes_reports.jsonl

A question of `mine_fixes.py` is asked of the parent of its fix, so each needs an index of its own. Here it
is asked of the parent of an earlier fix: an index answers a dozen questions, and learning from 200
repositories takes minutes instead of hours. A question is left out if a file of its answer was not there
yet, or only declares types: libraries of JavaScript mend these in commits of their own, and 23 such fixes
of 770 taught that examples and declarations come before code. The lines of an answer are those of the same
text at the earlier commit; where a line was not there yet, the answer names files alone. A message of one
line is a short question, a longer one a report.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from satchel.walking import git, git_diff
from satchel.walking.git_command import GitUnusable
from satchel.walking.git_diff import Hunk

LEAST = 8  # questions of a repository; fewer are not worth an index
PARTS = 3  # by time; the questions of all but the first are asked at the beginning of their part
OF_A_PART = 12  # questions at most, those first that have a text below the title
DECLARATIONS = (".d.ts", ".d.mts", ".d.cts", ".pyi")  # files that declare types of code elsewhere

Question = dict[str, Any]
Gold = dict[str, Any]


def regrouped(
    root: Path, questions: Sequence[Question], parts: int = PARTS, of_a_part: int = OF_A_PART
) -> Iterator[Question]:
    """Yield the questions that can be asked at the beginning of their part of the time."""
    by_time = sorted(questions, key=lambda question: (question["time"], question["query_id"]))
    size = len(by_time) // parts
    for start in range(size, size * parts, size):
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
        for question in there[:of_a_part]:
            yield {**question, "commit": commit, "gold": earlier_gold(root, question, commit)}


def earlier_gold(root: Path, question: Question, commit: str) -> list[Gold]:
    """Return the answer of a question as an earlier commit has it: the same lines, else the same files."""
    paths = list(dict.fromkeys(gold["path"] for gold in question["gold"]))
    compared = git_diff.compare_commits(commit, question["commit"])
    hunks = {
        path: [hunk for file in git_diff.read_hunks(root, compared, [path]) for hunk in file.hunks]
        for path in paths
    }
    ranges = [
        {
            "path": gold["path"],
            "start_line": earlier_line(hunks[gold["path"]], gold["start_line"]),
            "end_line": earlier_line(hunks[gold["path"]], gold["end_line"]),
        }
        for gold in question["gold"]
    ]
    were_there = all(gold["start_line"] and gold["end_line"] for gold in ranges)
    return ranges if were_there else [{"path": path} for path in paths]


def earlier_line(hunks: Sequence[Hunk], line: int) -> int:
    """Return the number that a line of the new side has on the old side; 0 for a line that is new."""
    moved = 0
    for hunk in hunks:
        if line < hunk.new_line + (hunk.new_count == 0):
            break
        if line < hunk.new_line + hunk.new_count:
            return 0
        moved += hunk.old_count - hunk.new_count
    return line + moved


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirror", type=Path, required=True, help="the folder of the git directories")
    parser.add_argument("--questions", type=Path, required=True, help="what mine_fixes.py wrote")
    parser.add_argument("--short", type=Path, required=True, help="the dataset of short questions")
    parser.add_argument("--reports", type=Path, required=True, help="the dataset of reports")
    parser.add_argument("--parts", type=int, default=PARTS, help="of the time; all but the first are asked")
    parser.add_argument("--of-a-part", type=int, default=OF_A_PART, help="questions of a commit")
    options = parser.parse_args()
    encode = msgspec.json.Encoder().encode
    with options.short.open("wb") as short, options.reports.open("wb") as reports:
        for path in sorted(options.questions.glob("*.jsonl")):
            questions = [msgspec.json.decode(line) for line in path.read_bytes().split(b"\n") if line]
            if len(questions) < LEAST:
                continue
            root = options.mirror / questions[0]["source"].replace("/", "+") / "repo"
            try:
                for question in regrouped(root, questions, options.parts, options.of_a_part):
                    (reports if "\n" in question["query"] else short).write(encode(question) + b"\n")
            except GitUnusable as error:
                print(f"{questions[0]['source']}: {error}")


if __name__ == "__main__":
    main()

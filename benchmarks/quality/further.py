"""Other repositories → further questions to learn from, for `dump.py` and `passages.py`.

    further.py commits --mirror MIRROR --names repositories.txt --out commits.jsonl
    further.py definitions --copies COPIES --index INDEXES --queries commits.jsonl --out definitions.jsonl

Of each repository one commit some way back is asked, so that one index answers all its questions. `commits`
asks what the messages after it say: the answer is the lines of code that a commit changes, in files that are
still as they were then. `definitions` asks for names that hardly anything else has: the answer is the lines
of the definition. The first file names the copies that have to be made; the second needs these and makes
their indexes.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from questions import Group, add_arguments, read_groups

from satchel.evaluation.cases import Gold
from satchel.evaluation.history import is_housekeeping, question_of, word_count
from satchel.settings import QUALITY
from satchel.storage.records import SymbolRecord
from satchel.walking import git_diff
from satchel.walking.file_kinds import path_tags
from satchel.walking.git_command import run_git

LOOKED_AT = 600  # commits, the newest of a repository
BACK = 350  # how far back the one is that is asked
LEAST = 30  # commits; a repository with fewer says too little
MOST = 22  # questions of one repository
LEAST_WORDS = 4
MOST_CHANGES = 24  # files in a commit; more are a sweep
MOST_FILES = 5  # of code in an answer
NAMES = 5  # asked of one repository
NAMED_AT_MOST = 2  # definitions that share the name
LEAST_LETTERS = 6
LINES = range(4, 82)  # of a definition that is worth asking for

# messages about no place in the code
_CHORE = re.compile(r"(?i)(bump|release|merge|revert|update (dep|chang)|build\(deps|chore\(deps)")
_CODE = re.compile(
    r"(?i)\.(py|[jt]sx?|[mc]js|go|rs|java|kts?|rb|php|c|h|cc|[ch]pp|cs|swift|scala|exs?|hs|lua|zig|(ba)?sh|m|inc|y|l)$"
)


class Asked(msgspec.Struct, omit_defaults=True):
    """A question as a dataset has it."""

    set: str
    repo: str
    source: str
    commit: str
    query_id: str
    category: str
    query: str
    gold: list[dict[str, str | int]]


class Snapshot(NamedTuple):
    """A repository as it was at a commit, and the commits that came later, oldest first."""

    git: Path
    commit: str
    blobs: dict[str, str]
    later: list[tuple[str, str]]  # each with its only parent


def snapshot_of(git: Path) -> Snapshot | None:
    """The state that is asked; None of a repository that is too young."""
    listed = run_git(
        git, ["rev-list", "--no-merges", "--parents", f"--max-count={LOOKED_AT}", "HEAD"]
    ).decode()
    pairs = [(words[0], words[1]) for words in map(str.split, listed.splitlines()) if len(words) == 2]
    if len(pairs) < LEAST:
        return None
    at = min(len(pairs) - 1, BACK)
    tree = run_git(git, ["ls-tree", "-r", "-z", pairs[at][0]]).decode("utf-8", "replace")
    entries = [entry.split("\t", 1) for entry in tree.split("\0") if entry]
    return Snapshot(git, pairs[at][0], {path: told.split(" ")[2] for told, path in entries}, pairs[:at][::-1])


def commit_questions(source: str, snapshot: Snapshot) -> Iterator[Asked]:
    """What later messages ask."""
    for commit, parent in snapshot.later:
        message = run_git(snapshot.git, ["log", "-1", "--format=%B", commit]).decode("utf-8", "replace")
        query = question_of(message)
        if word_count(query) < LEAST_WORDS or _CHORE.match(query):
            continue
        gold = changed_lines(snapshot, git_diff.compare_commits(parent, commit))
        if gold:
            places = [_place(item) for item in gold]
            yield Asked("history", source, source, snapshot.commit, commit[:12], "code", query, places)


def changed_lines(snapshot: Snapshot, comparison: git_diff.TreeComparison) -> list[Gold]:
    """The lines of code that a commit changes; none where the snapshot has other lines."""
    changes = git_diff.list_entries(snapshot.git, comparison)
    code = {
        (change.old_blob, change.new_blob): change.old_path
        for change in changes
        if change.old_path == change.new_path and _is_code(change.old_path)
    }
    if len(changes) > MOST_CHANGES or not 0 < len(code) <= MOST_FILES:
        return []
    if any(snapshot.blobs.get(path) != old for (old, _), path in code.items()):
        return []
    return [
        Gold(code[block.old_blob, block.new_blob], max(1, first), last)
        for block in git_diff.read_hunks(snapshot.git, comparison)
        if (block.old_blob, block.new_blob) in code
        for first, last in (hunk.old_range for hunk in block.hunks)
    ]


def _is_code(path: str) -> bool:
    aside = {"test", "docs"}.intersection(path_tags(path, ""))
    return not aside and not is_housekeeping(path) and _CODE.search(path) is not None


def _place(gold: Gold) -> dict[str, str | int]:
    return {"path": gold.path, "start_line": gold.start_line, "end_line": gold.end_line}


def definition_questions(group: Group, chance: random.Random) -> Iterator[Asked]:
    """Names that are asked of one index."""
    first = group.questions[0]
    (engine,) = group.engines([QUALITY], as_is=False)
    with engine:
        found = [record for record in engine.corpus().snapshot.all_symbols() if _is_code(record.path)]
    for record in chosen(found, chance):
        symbol = record.symbol
        place = _place(Gold(record.path, symbol.start_line, symbol.end_line))
        name = f"{record.path}:{symbol.start_line}"
        commit, repo = first.case.commit, first.case.repo
        yield Asked("symbol", repo, first.repository, commit, name, "symbol", symbol.name, [place])


def chosen(found: Sequence[SymbolRecord], chance: random.Random) -> list[SymbolRecord]:
    """Some definitions with a telling name and a body."""
    uses = Counter(record.symbol.name for record in found)
    worthy = [
        record
        for record in found
        if uses[record.symbol.name] <= NAMED_AT_MOST
        and len(record.symbol.name) >= LEAST_LETTERS
        and record.symbol.end_line - record.symbol.start_line + 1 in LINES
    ]
    return chance.sample(worthy, min(NAMES, len(worthy)))


def ask_commits(options: argparse.Namespace) -> list[Asked]:
    """The questions of all repositories that are named."""
    asked = []
    for source in options.names.read_text().split():
        snapshot = snapshot_of(options.mirror / source.replace("/", "+") / "repo")
        if snapshot is not None:
            questions = commit_questions(source, snapshot)
            asked += [question for question, _ in zip(questions, range(MOST), strict=False)]
    return asked


def ask_definitions(options: argparse.Namespace) -> list[Asked]:
    """The names of all indexes; the same each time."""
    chance = random.Random(7)
    return [question for group in read_groups(options) for question in definition_questions(group, chance)]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("commits", help="what later commits say")
    step.add_argument("--mirror", type=Path, required=True, help="the folder of the git directories")
    step.add_argument(
        "--names", type=Path, required=True, help="the repositories, owner/name, one on each line"
    )
    step.add_argument("--out", type=Path, required=True)
    step.set_defaults(ask=ask_commits)
    step = steps.add_parser("definitions", help="names that are defined there")
    add_arguments(step)
    step.add_argument("--out", type=Path, required=True)
    step.set_defaults(ask=ask_definitions)
    options = parser.parse_args()
    asked = options.ask(options)
    options.out.write_bytes(b"".join(msgspec.json.encode(question) + b"\n" for question in asked))
    print(f"{len(asked)} questions of {len({question.repo for question in asked})} repositories")


if __name__ == "__main__":
    main()

"""Commits that change tests, documents or settings alone → questions that ask for these.

    other_kinds.py --mirror MIRROR --queries reports.jsonl --out kinds.jsonl

The answers of the other sets are source of the product, so they cannot tell whether somebody who asks for a
test or a document finds one. Here the message of a later commit is asked of the commits of a dataset, and the
answer are the files that it changes: its first line as a short question, all of it as a report. A set holds
one form and one kind: `short_tests`, `report_documents`. Of a kind and an index up to six commits are asked.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from satchel import languages
from satchel.evaluation.history import ID_DIGITS, is_housekeeping, word_count
from satchel.retrieval.signals.kinds import PROSE
from satchel.walking import git
from satchel.walking.file_kinds import path_tags
from satchel.walking.git_command import GitUnusable, run_git

LATER = 1_500  # commits after the one that is asked
MOST_FILES = 2
OF_A_KIND = 6
LEAST_WORDS, LEAST_BODY = 3, 8
# Subjects that do not say what is changed.
_ROUTINE = re.compile(
    r"(?i)\b(?:bump|releases?|versions?|typos?|dependenc(?:y|ies)|renovate|merge|revert|lint"
    r"|update (?:docs|readme))\b"
)
_SETTINGS = frozenset({"build", "ci", "config", "dependency"})
_NUMBER = re.compile(r"\s*\(#\d+\)$")
_TRAILER = re.compile(r"(?im)^(?:signed-off-by|co-authored-by|reviewed-by|closes|fixes|refs)\b.*$")


class Asked(msgspec.Struct, frozen=True):
    """What a dataset says of an index."""

    source: str
    commit: str


def kind_of(path: str) -> str:
    """Return what a file is: `tests`, `documents`, `settings`, or nothing for any other."""
    language = languages.detect(path)
    tags = path_tags(path, language)
    if language in PROSE:
        return "" if is_housekeeping(path) else "documents"
    if "test" in tags:
        return "tests"
    return "settings" if _SETTINGS.intersection(tags) else ""


def later_commits(root: Path, commit: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the commits after one, oldest first, that modify a few files and do nothing else: id, message and
    paths."""
    said = run_git(
        root,
        [
            "log",
            "--no-merges",
            "--reverse",
            "--name-status",
            "--no-renames",
            "-z",
            "--format=%x01%H%x02%B%x03",
            f"{commit}..HEAD",
        ],
        timeout=300,
    )
    for record in said.decode("utf-8", "replace").split("\x01")[1 : LATER + 1]:
        head, _, listed = record.partition("\x03")
        fields = [field.strip("\n") for field in listed.split("\0") if field.strip("\n")]
        if 2 <= len(fields) <= 2 * MOST_FILES and set(fields[::2]) == {"M"}:
            name, _, message = head.partition("\x02")
            yield name, message.strip(), fields[1::2]


def questions_of(root: Path, asked: Asked) -> Iterator[dict[str, object]]:
    """Yield the questions that later commits ask of one commit."""
    known = {blob.path for blob in git.list_tree(root, asked.commit).blobs}
    counts: Counter[str] = Counter()
    for name, message, paths in later_commits(root, asked.commit):
        title, _, body = _TRAILER.sub("", message).partition("\n")
        title = _NUMBER.sub("", title)
        kinds = set(map(kind_of, paths))
        if len(kinds) > 1 or not known.issuperset(paths) or _ROUTINE.search(title):
            continue
        (kind,) = kinds
        if not kind or word_count(title) < LEAST_WORDS or counts[kind] == OF_A_KIND:
            continue
        counts[kind] += 1
        texts = {"short": title, "report": f"{title}\n\n{body.strip()}"}
        for form in texts if word_count(body) >= LEAST_BODY else ("short",):
            yield {
                "set": f"{form}_{kind}",
                "repo": asked.source,
                "query_id": f"{name[:ID_DIGITS]}@{asked.commit[:ID_DIGITS]}",
                "source": asked.source,
                "commit": asked.commit,
                "search_root": "",
                "language": kind,
                "category": kind,
                "query": texts[form],
                "gold": [{"path": path} for path in paths],
            }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirror", type=Path, required=True, help="the folder of the git directories")
    parser.add_argument("--queries", type=Path, required=True, help="the dataset whose commits are asked")
    parser.add_argument("--out", type=Path, required=True, help="the dataset that is made")
    options = parser.parse_args()
    lines = filter(None, options.queries.read_bytes().split(b"\n"))
    folders = {path.name.lower(): path for path in options.mirror.iterdir()}
    with options.out.open("wb") as out:
        for asked in dict.fromkeys(msgspec.json.decode(line, type=Asked) for line in lines):
            folder = folders.get(asked.source.lower().replace("/", "+"))
            try:
                for question in questions_of(folder / "repo", asked) if folder else ():
                    out.write(msgspec.json.encode(question) + b"\n")
            except GitUnusable as problem:
                print(f"{asked.source}: {problem}")


if __name__ == "__main__":
    main()

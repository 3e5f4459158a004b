"""What did a commit say, and what did it change? Read from git objects: no checkout, nothing written.

Commands below git's plumbing layer are used, which the user's own display settings do not reach.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from satchel.walking import git
from satchel.walking.git_command import run_git

_DIFF = (
    "diff-tree",
    "-r",
    "--no-commit-id",
    "-M",
    "-l1000",  # pairs looked at for renames: a repository's own setting must not change the answer
    "--relative",
    "--ignore-submodules=all",
    "--no-ext-diff",
    "--no-textconv",
)
_PAGE = 500  # commits read at a time
_SYMLINK = "120000"
_BLOCK = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? ")

Span = tuple[int, int]


class Commit(NamedTuple):
    """A commit as its object says: the parents are the real ones, also at the edge of a shallow clone."""

    id: str
    parents: tuple[str, ...]
    message: str


class Change(NamedTuple):
    """A file that a commit touched. `old_path` is where it was in the parent, empty if it is new."""

    old_path: str
    new_path: str
    old_blob: str
    new_blob: str

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(path for path in (self.old_path, self.new_path) if path)


def recent(root: Path, limit: int) -> Iterator[Commit]:
    """The last commits that touched the folder, newest first."""
    head = git.resolve_ref(root, "HEAD")
    below = ["--", "."] if git.prefix_of(root) else []  # at the top it would leave out empty commits
    listed = run_git(root, ["rev-list", f"--max-count={limit}", head, *below]).decode().split()
    for start in range(0, len(listed), _PAGE):
        # each page is read at once: between two commits an index may be built, and git is not kept waiting
        for commit, data in list(git.read_blobs(root, listed[start : start + _PAGE])):
            if data is not None:
                yield _commit(commit, data)


def changes(root: Path, commit: Commit) -> list[Change]:
    """What a commit changed against its first parent, below the folder; links and submodules left out."""
    args = [*_DIFF, "--raw", "-z", "--no-abbrev", commit.parents[0], commit.id]
    fields = run_git(root, args).decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = []
    position = 0
    while position < len(fields):
        old_mode, new_mode, old_blob, new_blob, status = fields[position].removeprefix(":").split(" ")
        renamed = status.startswith("R")
        old, new = fields[position + 1], fields[position + 2 if renamed else position + 1]
        position += 3 if renamed else 2
        old = "" if status == "A" or old_mode == _SYMLINK else old
        new = "" if status == "D" or new_mode == _SYMLINK else new
        if old or new:
            found.append(Change(old, new, old_blob, new_blob))
    return found


def changed_lines(root: Path, commit: Commit) -> dict[tuple[str, str], list[Span]]:
    """For each pair of blobs, the lines of the old one that were changed; for an insertion its two
    neighbours. Blocks are told apart by their blobs: no file name, however odd, is taken for a heading."""
    args = [*_DIFF, "-p", "-U0", "--full-index", "--no-color", "--text", commit.parents[0], commit.id]
    found: dict[tuple[str, str], list[Span]] = {}
    spans: list[Span] | None = None
    for line in run_git(root, args).split(b"\n"):
        if line.startswith(b"diff --git "):
            spans = None
        elif block := _BLOCK.match(line):
            spans = found[block[1].decode(), block[2].decode()] = []
        elif spans is not None and (hunk := _HUNK.match(line)):
            first, count = int(hunk[1]), int(hunk[2] or b"1")
            spans.append((first, first + count - 1) if count else (first, first + 1))
    return found


def _commit(commit: str, data: bytes) -> Commit:
    head, _, message = data.partition(b"\n\n")
    lines = head.split(b"\n")
    parents = tuple(line[7:].decode() for line in lines if line.startswith(b"parent "))
    encoding = next(
        (line[9:].decode("ascii", "replace") for line in lines if line.startswith(b"encoding ")), ""
    )
    return Commit(commit, parents, _decoded(message, encoding or "utf-8"))


def _decoded(message: bytes, encoding: str) -> str:
    try:
        return message.decode(encoding, "replace")
    except LookupError:  # a repository may name any encoding
        return message.decode("utf-8", "replace")

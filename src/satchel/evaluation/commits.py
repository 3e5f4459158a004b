"""What did the last commits say? Read from git objects: no checkout, nothing written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from satchel.walking import git
from satchel.walking.git_command import run_git

_PAGE = 500  # commits read at a time


class Commit(NamedTuple):
    """A commit as its object says: the parents are the real ones, also at the edge of a shallow clone."""

    id: str
    parents: tuple[str, ...]
    message: str


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

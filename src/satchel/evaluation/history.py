"""Questions from a repository's own history: a commit message, with the files and lines that the commit
changed as its answer, as they were in the parent.

Commits are read from git objects: nothing is checked out and nothing is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from satchel.errors import RefNotFound, Unsupported
from satchel.evaluation.cases import Case, Gold, LeftOut, LeftOutReason
from satchel.lines import split_lines
from satchel.storage.protocol import Snapshot
from satchel.storage.records import FileRecord
from satchel.walking import git, git_diff
from satchel.walking.file_kinds import path_tags
from satchel.walking.git_command import GitProblem, GitUnusable, run_git
from satchel.walking.git_diff import DiffEntry, Hunk, clip_range, has_same_lines

ID_DIGITS = 12  # of a commit: enough to be its name in the largest public repositories
MOST_FILES = 8  # a commit that changes more is a sweep; its message names no place
_HOPELESS = 4 * MOST_FILES  # so many changed files that the index is not asked which of them it holds
_LEAST_WORDS = 3  # "fix", "wip", "more tests" ask nothing
_LOOKED_AT = 20  # commits per wanted question before giving up
_MOST_CHARS = 10_000  # longer messages are release notes
_PAGE = 500  # commits read at a time

_TRAILER = re.compile(
    r"(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|Cc|Link|Fixes|Closes|Refs?|Bug|Issue|git-svn-id) ?:.*"
    r"|\(cherry picked from commit [0-9a-f]+\)"
)
_NUMBER = re.compile(r"\s*\((?:[\w.-]+/[\w.-]+)?(?:#|gh-)\d+\)", re.IGNORECASE)
_WORD = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|[^\\W\\d_]+")  # a CJK sign counts as a word
_CHANGELOG = re.compile(
    r"(?:^|/)(?:changelog|changes|history|news|releases?|release[-_]?notes|whatsnew|_?_?version_?_?)(?:\.\w+)?$"
    r"|(?:^|/)(?:changelog\.d|changelogs?|\.changeset|newsfragments|\.changes)/",
    re.IGNORECASE,
)


class Commit(NamedTuple):
    """A commit as its git object says. `parents` are the real ones, also at the edge of a shallow clone."""

    id: str
    parents: tuple[str, ...]
    message: str


class CommitQuestion(NamedTuple):
    """A commit that may become a question. The index of its parent decides whether it does."""

    commit: Commit
    question: str
    changes: tuple[DiffEntry, ...]  # of files that the parent has

    @property
    def parent(self) -> str:
        """Return the id of the commit's parent."""
        return self.commit.parents[0]


class CommitQuestions:
    """The commits of a repository that may become questions, newest first. `left_out` lists the commits that
    were passed over; it grows while `candidates` is consumed. `screen` may refuse a question by its words,
    before git is asked what the commit changed."""

    def __init__(
        self,
        root: Path,
        wanted: int,
        screen: Callable[[str], LeftOutReason | None] = lambda question: None,
        *,
        looked_at: int = _LOOKED_AT,
    ) -> None:
        self.root = root
        self.seen = 0
        self.left_out: list[LeftOut] = []
        self.limit = wanted * looked_at + 100  # a short run of bot commits must not end a small request
        self._screen = screen
        _check_repository(root)

    def candidates(self) -> Iterator[CommitQuestion]:
        """Yield the commits that have one parent and a telling message."""
        for commit in recent_commits(self.root, self.limit):
            self.seen += 1
            found = self._candidate(commit)
            if isinstance(found, CommitQuestion):
                yield found
            else:
                self.leave_out(commit, found)

    def leave_out(self, commit: Commit, reason: LeftOutReason) -> None:
        """Note that a commit is no question, and why."""
        subject = commit.message.strip().split("\n", 1)[0][:80]
        self.left_out.append(LeftOut(commit.id[:ID_DIGITS], reason, subject))

    def case(self, candidate: CommitQuestion, snapshot: Snapshot) -> Case | LeftOutReason:
        """Return the question of a commit, given the index of its parent, or the reason why there is none."""
        kept = [
            (change, record)
            for change in candidate.changes
            if (record := snapshot.file(change.old_path)) is not None
        ]
        if not kept:
            return LeftOutReason.NOTHING_INDEXED
        if len(kept) > MOST_FILES:
            return LeftOutReason.TOO_MANY_FILES
        sides = git_diff.compare_commits(candidate.parent, candidate.commit.id)
        lines = {
            (block.old_blob, block.new_blob): block.hunks for block in git_diff.read_hunks(self.root, sides)
        }
        gold: list[Gold] = []
        for change, record in kept:
            hunks = lines.get((change.old_blob, change.new_blob), [])
            gold += gold_of(record, snapshot.text(record.path), hunks)
        records = [record for _, record in kept]
        return Case(
            candidate.commit.id[:ID_DIGITS],
            candidate.question,
            tuple(gold),
            set="history",
            category=_category(records),
            language=_most_common(record.language for record in records),
            commit=candidate.parent,
        )

    def shortage(self) -> str:
        """Return a sentence that says why there are fewer questions than were asked for."""
        if git.is_shallow(self.root):
            return git.UNSHALLOW_HINT
        if self.seen >= self.limit:
            return f"{self.seen} commits were looked at, older ones were not"
        return "the history has no more usable commits"

    def _candidate(self, commit: Commit) -> CommitQuestion | LeftOutReason:
        """Return a commit as a possible question, or the reason why it is none."""
        if len(commit.parents) != 1:
            return LeftOutReason.MERGE if commit.parents else LeftOutReason.ROOT
        question = question_of(commit.message)
        if word_count(question) < _LEAST_WORDS:
            return LeftOutReason.FEW_WORDS
        if (refused := self._screen(question)) is not None:
            return refused
        try:
            found = git_diff.list_entries(self.root, git_diff.compare_commits(commit.parents[0], commit.id))
        except GitUnusable as problem:
            if problem.problem is not GitProblem.FAILED:
                raise
            return LeftOutReason.OBJECT_MISSING  # the parent or its trees are not in this clone
        if found and all(is_housekeeping(path) for change in found for path in change.paths):
            return LeftOutReason.HOUSEKEEPING
        known = tuple(change for change in found if change.old_path)
        if not known:
            return LeftOutReason.NOTHING_INDEXED
        return (
            CommitQuestion(commit, question, known)
            if len(known) <= _HOPELESS
            else LeftOutReason.TOO_MANY_FILES
        )


def question_of(message: str) -> str:
    """Return a commit message without trailers (signatures, links) and issue numbers."""
    lines = [line.rstrip() for line in message.strip().split("\n")]
    kept = [line for line in lines if not _TRAILER.fullmatch(line)]
    return _NUMBER.sub("", "\n".join(kept)).strip()[:_MOST_CHARS]


def word_count(question: str) -> int:
    """Return the number of words in a question; a Chinese, Japanese or Korean character is a word."""
    return len(_WORD.findall(question))


def gold_of(record: FileRecord, text: str, hunks: Sequence[Hunk]) -> list[Gold]:
    """Return the changed lines of a file, or the file where git counts lines differently."""
    count = len(split_lines(text))
    if not hunks or not count or not has_same_lines(text, record.encoding):
        return [Gold(record.path)]
    return [Gold(record.path, *clip_range(hunk.old_range, count)) for hunk in hunks]


def _check_repository(root: Path) -> None:
    """Raise a typed error if the folder has no git history to read."""
    try:
        git.repository_prefix(root)
        git.resolve_ref(root, "HEAD")
    except GitUnusable as problem:
        raise Unsupported(
            f"there is no history to read: {problem.message}",
            hint=problem.hint or "use a git repository, or give a dataset file",
            details=problem.details,
        ) from problem
    except RefNotFound as problem:
        raise RefNotFound(
            "this repository has no commit yet", hint="commit something, or give a dataset file"
        ) from problem


def is_housekeeping(path: str) -> bool:
    """Return whether a path is what a release touches: a lock file, a manifest, a change log, a version
    number."""
    return "dependency" in path_tags(path, "") or _CHANGELOG.search(path) is not None


def _category(records: Sequence[FileRecord]) -> str:
    """Return the kind of files that a commit changed if all are of one kind, else `code`."""
    for tag in ("test", "docs", "config", "build", "ci"):
        if all(tag in record.tags for record in records):
            return tag
    return "code"


def _most_common(names: Iterator[str]) -> str:
    return min(Counter(names).items(), key=lambda item: (-item[1], item[0]))[0]


def recent_commits(root: Path, limit: int) -> Iterator[Commit]:
    """Yield the last commits that touched the folder, newest first."""
    head = git.resolve_ref(root, "HEAD")
    # At the top of the repository a path filter would leave out empty commits.
    below = ["--", "."] if git.repository_prefix(root) else []
    listed = run_git(root, ["rev-list", f"--max-count={limit}", head, *below]).decode().split()
    for start in range(0, len(listed), _PAGE):
        # A page is read at once: an index may be built between two commits, and git should not wait for it.
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

"""Read the last commits: their messages and the files they changed, from git objects alone.

Only plumbing commands are used, because `git log` obeys the configuration of the repository, which can make
it run a program. A commit without a parent is skipped, because every file is new in it; that includes the
last commit of a shallow clone. A repository without commits has no history, which is not an error.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

from satchel.errors import RefNotFound
from satchel.storage.records import HistoryCommit
from satchel.walking.git import resolve_ref
from satchel.walking.git_command import GitProblem, GitUnusable, command_line, environment, run_git
from satchel.walking.redaction import redact
from satchel.walking.sensitive_names import without_tokens

COMMITS = 2000  # commits that are read; older ones tell little about the present files
MOST_PATHS = 30  # a commit that changes more files is a sweep; its message is about none of them
MOST_CHARS = 600  # of a message; the rest rarely adds another subject
_READ_CHARS = 20_000  # of a message that are searched for secrets
_MOST_BYTES = 64 * 1024 * 1024  # Django's 2,000 commits are 0.7 MB; small objects can hold endless messages
_SECONDS = 20  # for each of the two commands; Django takes 0.2
_MOST_SECONDS = 1 << 40  # a commit may claim any time
_TIME_DIGITS = (
    20  # digits of the largest number that git knows; Python refuses to convert thousands of digits
)
_DIFF = (
    "diff-tree",
    "--stdin",
    "-r",
    "-z",
    "--name-status",
    "--no-renames",
    "--ignore-submodules=all",
    "--encoding=UTF-8",  # the repository's own setting must not change the answer
    "--format=%ct%x00%B",
)
_STATUSES = frozenset((b"A", b"D", b"M", b"T"))


def read_history(
    root: Path, ref: str, limit: int = COMMITS, *, prefix: str | None = None
) -> list[HistoryCommit]:
    """Return the last commits up to a ref, newest first, without merges and without commits that change very
    many files.

    `root` is a folder of a work tree or a git directory. Paths are relative to it, or to `prefix`
    (`sub/folder/`) if that is given; paths outside are left out.
    """
    try:
        head = resolve_ref(root, ref)
        if prefix is None:
            prefix = run_git(root, ["rev-parse", "--show-prefix"]).decode("utf-8", "surrogateescape")[:-1]
        listed = run_git(root, ["rev-list", "--no-merges", f"--max-count={limit}", head], timeout=_SECONDS)
        return list(_parse_commits(_read_changes(root, listed, prefix)))
    except (GitUnusable, RefNotFound):
        return []


def _read_changes(root: Path, listed: bytes, prefix: str) -> bytes:
    """Return what `git diff-tree` prints for the listed commits. GitUnusable is raised if it takes too long
    or prints too much."""
    below = [f"--relative={prefix}", "--", f":(top,literal){prefix}"] if prefix else []
    # A pipe would deadlock once both directions are full.
    with tempfile.TemporaryFile() as wanted:
        wanted.write(listed)
        wanted.seek(0)
        process = subprocess.Popen(
            command_line([*_DIFF, *below]),
            cwd=root,
            env=environment(),
            stdin=wanted,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        clock = Timer(_SECONDS, process.kill)
        clock.start()
        try:
            assert process.stdout is not None
            said = process.stdout.read(_MOST_BYTES + 1)
            if len(said) > _MOST_BYTES or process.wait():
                raise GitUnusable(GitProblem.FAILED, f"diff-tree ended after {len(said)} bytes")
            return said
        finally:
            clock.cancel()
            process.kill()
            process.communicate()


def _parse_commits(said: bytes) -> Iterator[HistoryCommit]:
    """Yield the commits: a time and a message, then a letter and a path for each change. Fields are told
    apart by their position, so that no message or path can be taken for another field."""
    fields = said.split(b"\0")
    at = 0
    while at + 2 < len(fields):
        seconds, message = fields[at : at + 2]
        at += 2
        paths = []
        while at + 1 < len(fields) and fields[at].strip(b"\n") in _STATUSES:
            paths.append(fields[at + 1])
            at += 2
        known = tuple(filter(None, map(_path, paths)))
        if known and len(paths) <= MOST_PATHS:
            yield HistoryCommit(_time(seconds), _message(message), known)


def _message(raw: bytes) -> str:
    """Return the start of a message with its secrets redacted. More text is searched for secrets than is
    kept, and it ends with a whole line, because half of a secret would not be recognised."""
    text = raw.decode("utf-8", "replace").strip()
    if len(text) > _READ_CHARS:
        text = text[:_READ_CHARS].rpartition("\n")[0]
    return redact(text).text[:MOST_CHARS]


def _path(raw: bytes) -> str:
    """Return a path; empty if it is not UTF-8 or has a token in it, because such a file is never indexed."""
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return ""
    return path if path == without_tokens(path) else ""


def _time(raw: bytes) -> int:
    """Return the time of a commit in seconds, bounded because a commit may claim any time."""
    return min(int(raw[:_TIME_DIGITS]), _MOST_SECONDS) if raw.isdigit() else 0

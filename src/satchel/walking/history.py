"""What did the last commits say, and which files did they change? Read from git objects alone.

Only commands below git's display layer are used: `git log` obeys the repository's configuration, which can
make it run a program. A commit without a parent says nothing, because everything is new in it; that includes
the last one of a shallow clone. Where there is nothing to read there is no history, and that is no error.
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
from satchel.walking.git_command import GitProblem, GitUnusable, command, environment, run_git
from satchel.walking.redaction import redact
from satchel.walking.sensitive_names import without_tokens

COMMITS = 2000  # looked at; older ones tell little of the files of now
MOST_PATHS = 30  # a commit that changes more is a sweep: its message is about none of them
MOST_CHARS = 600  # of a message; what comes after is rarely about something else
_READ_CHARS = 20_000  # of a message that are looked through for secrets
_MOST_BYTES = 64 * 1024 * 1024  # Django's 2,000 commits are 0.7 MB; small objects can hold endless messages
_SECONDS = 20  # for each of the two commands; Django takes 0.2
_MOST_SECONDS = 1 << 40  # a commit may claim any time
_TIME_DIGITS = 20  # of the largest number that git knows; Python refuses to read thousands of them
_DIFF = (
    "diff-tree",
    "--stdin",
    "-r",
    "-z",
    "--name-status",
    "--no-renames",
    "--ignore-submodules=all",
    "--encoding=UTF-8",  # a repository's own setting must not change the answer
    "--format=%ct%x00%B",
)
_STATUSES = frozenset((b"A", b"D", b"M", b"T"))


def read_history(
    root: Path, ref: str, limit: int = COMMITS, *, prefix: str | None = None
) -> list[HistoryCommit]:
    """The last commits up to a ref, newest first, without merges and sweeps. `root` is a folder of a work
    tree or a git directory; paths are relative to it, or to `prefix` (`sub/folder/`) where that is given, and
    what lies outside is left out."""
    try:
        head = resolve_ref(root, ref)
        if prefix is None:
            prefix = run_git(root, ["rev-parse", "--show-prefix"]).decode("utf-8", "surrogateescape")[:-1]
        listed = run_git(root, ["rev-list", "--no-merges", f"--max-count={limit}", head], timeout=_SECONDS)
        return list(_commits(_changes(root, listed, prefix)))
    except (GitUnusable, RefNotFound):
        return []


def _changes(root: Path, listed: bytes, prefix: str) -> bytes:
    """What git says of the listed commits; an error when it takes too long or says too much."""
    below = [f"--relative={prefix}", "--", f":(top,literal){prefix}"] if prefix else []
    with tempfile.TemporaryFile() as wanted:  # a pipe would deadlock once both sides are full
        wanted.write(listed)
        wanted.seek(0)
        process = subprocess.Popen(
            command([*_DIFF, *below]),
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


def _commits(said: bytes) -> Iterator[HistoryCommit]:
    """A time and a message, then a letter and a path for each change. Fields are told apart by their place:
    no message and no path, however odd, is taken for something else."""
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
    """The start of a message without secrets. They are looked for in more than is kept, and that ends with a
    line: half of a value would not be known for one."""
    text = raw.decode("utf-8", "replace").strip()
    if len(text) > _READ_CHARS:
        text = text[:_READ_CHARS].rpartition("\n")[0]
    return redact(text).text[:MOST_CHARS]


def _path(raw: bytes) -> str:
    """A path; empty for one that is not UTF-8 or has a token in its names, which is never indexed."""
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return ""
    return path if path == without_tokens(path) else ""


def _time(raw: bytes) -> int:
    return min(int(raw[:_TIME_DIGITS]), _MOST_SECONDS) if raw.isdigit() else 0

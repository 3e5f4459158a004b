"""What does git know of a folder: its work tree, its refs, its blobs? Paths are relative to the folder,
which may be a subfolder of the repository."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from satchel.errors import RefNotFound
from satchel.walking.git_command import GitProblem, GitUnusable, command, environment, run_git

STREAM_TIMEOUT_SECONDS = 600  # reading every blob of a large repository takes seconds


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in its repository. `prefix` is empty at the top, else `sub/folder/`; `head` is empty before
    the first commit."""

    prefix: str
    head: str


@dataclass(frozen=True, slots=True)
class Blob:
    """A file at a ref. `size` is -1 when the object is not in this clone."""

    path: str
    sha: str
    size: int


@dataclass(frozen=True, slots=True)
class TreeListing:
    """What a commit holds below the root; submodules are no part of it."""

    blobs: list[Blob]
    symlinks: list[str]


def prefix_of(root: Path) -> str:
    """Where the root is in its repository: empty at the top, else `sub/folder/`."""
    return place_of(root).prefix


def place_of(root: Path) -> Place:
    """Where the root is in its repository, and at which commit that is.

    `core.worktree` can name any folder on disk; an answer about another folder is none.
    """
    # `--revs-only` says nothing of a HEAD without commits, which would be an error otherwise
    args = ["rev-parse", "--show-toplevel", "--show-prefix", "--revs-only", "HEAD"]
    top, _, rest = _text(run_git(root, args)).partition("\n")
    prefix, _, head = rest.removesuffix("\n").rpartition("\n")
    if not head or head.endswith("/"):  # a prefix ends so, a commit does not
        prefix, head = rest.removesuffix("\n"), ""
    if os.path.realpath(os.path.join(top, prefix)) != os.path.realpath(root):
        raise GitUnusable(GitProblem.ELSEWHERE)
    return Place(prefix, head)


def list_work_tree(root: Path, only: Sequence[str] = (), place: Place | None = None) -> list[str]:
    """Tracked files and those that no ignore file of git leaves out, as git spells them; or `only` those
    of some paths.

    A nested repository is a single path with a slash at its end; deleted files are still listed.
    """
    prefix = (place or place_of(root)).prefix
    literal = [f":(literal){path}" for path in only]
    listed = run_git(root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *literal])
    paths = list(dict.fromkeys(_paths(listed)))  # an unmerged file is listed once per side
    if prefix and not paths and not only:
        raise GitUnusable(GitProblem.IGNORED)
    return paths


def resolve_ref(root: Path, ref: str) -> str:
    """The commit id that a ref names."""
    if not ref or ref.startswith("-") or any(character < " " for character in ref):
        raise RefNotFound(f"{ref!r} is no git ref", details={"ref": ref})
    try:
        return _text(run_git(root, ["rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"])).strip()
    except GitUnusable as problem:
        reason = "" if problem.problem is GitProblem.FAILED else f": {problem.message}"
        raise RefNotFound(
            f"the ref {ref!r} cannot be read{reason}",
            hint=problem.hint or "git log --oneline --all lists what can be asked for",
            details={"ref": ref, **problem.details},
        ) from problem


def list_tree(root: Path, commit: str) -> TreeListing:
    """The files of a commit below the root, sorted as git sorts them."""
    prefix = _text(run_git(root, ["rev-parse", "--show-prefix"])).removesuffix("\n")
    tree = f"{commit}:{prefix}" if prefix else commit
    try:
        listed = run_git(root, ["ls-tree", "-r", "-z", "-l", "--full-tree", tree])
    except GitUnusable as problem:
        raise RefNotFound(
            f"{prefix or 'the tree'!r} cannot be read at {commit}", details=problem.details
        ) from problem
    blobs: list[Blob] = []
    symlinks: list[str] = []
    for record in _paths(listed):
        head, _, path = record.partition("\t")
        mode, kind, sha, size = head.split()
        if mode == "120000":
            symlinks.append(path)
        elif kind == "blob":
            blobs.append(Blob(path, sha, int(size) if size.isdigit() else -1))
    return TreeListing(blobs, symlinks)


def read_blobs(root: Path, shas: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """Each blob's bytes in the order asked for, None for one that is not in this clone."""
    with tempfile.TemporaryFile() as wanted:  # a pipe would deadlock once both sides are full
        wanted.write("".join(f"{sha}\n" for sha in shas).encode())
        wanted.seek(0)
        process = subprocess.Popen(
            command(["cat-file", "--batch", "--buffer"]),
            cwd=root,
            env=environment(),
            stdin=wanted,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=1 << 20,
        )
        clock = Timer(STREAM_TIMEOUT_SECONDS, process.kill)
        clock.start()
        try:
            yield from _batch(process)
        finally:
            clock.cancel()
            process.kill()
            process.communicate()


def _batch(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes | None]]:
    assert process.stdout is not None
    while header := process.stdout.readline():
        sha, _, kind_and_size = header.decode().strip().partition(" ")
        if kind_and_size == "missing":
            yield sha, None
            continue
        size = int(kind_and_size.split()[1])
        data = process.stdout.read(size + 1)  # a line end follows each object
        if len(data) != size + 1:
            raise GitUnusable(GitProblem.FAILED, f"the blob {sha} is cut short")
        yield sha, data[:-1]
    if process.wait():
        raise GitUnusable(GitProblem.FAILED, f"cat-file ended with {process.returncode}")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _paths(raw: bytes) -> list[str]:
    return _text(raw).split("\0")[:-1]

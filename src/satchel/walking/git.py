"""What does git know of a folder: its work tree, its refs, its blobs? Paths are relative to the folder,
which may be a subfolder of the repository."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from satchel.errors import RefNotFound
from satchel.walking.git_command import GitProblem, GitUnusable, command, environment, run_git

STREAM_TIMEOUT_SECONDS = 600  # reading every blob of a large repository takes seconds
_STAMP_DIGITS = 15  # 60 bits of a blob's id: as a time in nanoseconds it lies in the past
_IN_NO_REF = re.compile("[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")  # nor in any argument of a program
_SYMLINK, _SUBMODULE = "120000", "160000"
_OURS = 2  # the stage of an unmerged file that the user's own side is kept under
UNSHALLOW = "this clone is shallow: git fetch --unshallow brings the rest of the history"
_OTHER_REFS = "git log --oneline --all lists what can be asked for"


@dataclass(frozen=True, slots=True)
class RepositoryFolder:
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

    @property
    def stamp(self) -> int:
        """What stands where a file on disk has its time: an equal stamp is an equal file."""
        return int(self.sha[:_STAMP_DIGITS], 16)


@dataclass(frozen=True, slots=True)
class TreeListing:
    """What a commit, or git's index, holds below the root; submodules are no part of it. Of an `unmerged`
    file the blob is our side of the merge, where there is one."""

    blobs: list[Blob]
    symlinks: list[str]
    unmerged: tuple[str, ...] = ()


def repository_prefix(root: Path) -> str:
    """Where the root is in its repository: empty at the top, else `sub/folder/`."""
    return locate_in_repository(root).prefix


def locate_in_repository(root: Path) -> RepositoryFolder:
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
    return RepositoryFolder(prefix, head)


def list_work_tree(root: Path, only: Sequence[str] = (), place: RepositoryFolder | None = None) -> list[str]:
    """Tracked files and those that no ignore file of git leaves out, as git spells them; or `only` those
    of some paths.

    A nested repository is a single path with a slash at its end; deleted files are still listed.
    """
    prefix = (place or locate_in_repository(root)).prefix
    literal = [f":(literal){path}" for path in only]
    listed = run_git(root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *literal])
    paths = list(dict.fromkeys(_paths(listed)))  # an unmerged file is listed once per side
    if prefix and not paths and not only:
        raise GitUnusable(GitProblem.IGNORED)
    return paths


def list_ignored(root: Path) -> list[str]:
    """What the ignore files of git leave out, a folder of it as one path with a slash at its end."""
    flags = ["--others", "--ignored", "--exclude-standard", "--directory"]
    return _paths(run_git(root, ["ls-files", "-z", *flags]))


def resolve_ref(root: Path, ref: str) -> str:
    """The commit id that a ref names."""
    if not ref or ref.startswith("-") or _IN_NO_REF.search(ref):
        raise RefNotFound(f"{ref!r} is no git ref", hint=_OTHER_REFS, details={"ref": ref})
    try:
        return _text(run_git(root, ["rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"])).strip()
    except GitUnusable as problem:
        reason = "" if problem.problem is GitProblem.FAILED else f": {problem.message}"
        raise RefNotFound(
            f"the ref {ref!r} cannot be read{reason}",
            hint=problem.hint or (UNSHALLOW if is_shallow(root) else _OTHER_REFS),
            details={"ref": ref, **problem.details},
        ) from problem


def is_shallow(root: Path) -> bool:
    """Whether the history ends before its beginning."""
    try:
        return run_git(root, ["rev-parse", "--is-shallow-repository"]).strip() == b"true"
    except GitUnusable:
        return False


def list_tree(root: Path, commit: str) -> TreeListing:
    """The files of a commit below the root, sorted as git sorts them."""
    prefix = _text(run_git(root, ["rev-parse", "--show-prefix"])).removesuffix("\n")
    tree = f"{commit}:{prefix}" if prefix else commit
    partial = _is_partial(root)
    try:
        # in a partial clone `-l` would try to fetch what is missing, and fail when it may not
        listed = run_git(root, ["ls-tree", "-r", "-z", *([] if partial else ["-l"]), "--full-tree", tree])
        missing = missing_objects(root, [commit]) if partial else frozenset()
    except GitUnusable as problem:
        raise RefNotFound(
            f"{prefix or 'the tree'!r} cannot be read at {commit}", details=problem.details
        ) from problem
    rows = [record.partition("\t") for record in _paths(listed)]
    entries = [(*head.split(), path) for head, _, path in rows]
    symlinks = [entry[-1] for entry in entries if entry[0] == _SYMLINK]
    files = [entry for entry in entries if entry[1] == "blob" and entry[0] != _SYMLINK]
    if partial:
        sizes = _sizes(root, [entry[2] for entry in files], missing)
        return TreeListing([Blob(entry[-1], entry[2], sizes[entry[2]]) for entry in files], symlinks)
    known = [Blob(path, sha, int(size) if size.isdigit() else -1) for _, _, sha, size, path in files]
    return TreeListing(known, symlinks)


def list_index(root: Path) -> TreeListing:
    """The files that a commit of now would hold below the root: what `git add` was told."""
    listed = run_git(root, ["ls-files", "--stage", "-z"])
    chosen: dict[str, tuple[str, str]] = {}
    unmerged: dict[str, None] = {}
    for record in _paths(listed):
        head, _, path = record.partition("\t")
        mode, sha, stage = head.split()
        if stage != "0":
            unmerged[path] = None
        if path not in chosen or int(stage) == _OURS:  # stages ascend: the base is met first
            chosen[path] = (mode, sha)
    files = {path: sha for path, (mode, sha) in chosen.items() if mode not in (_SYMLINK, _SUBMODULE)}
    missing = missing_objects(root, ["--indexed-objects"])
    sizes = _sizes(root, list(files.values()), missing)
    symlinks = [path for path, (mode, _) in chosen.items() if mode == _SYMLINK]
    return TreeListing(
        [Blob(path, sha, sizes[sha]) for path, sha in files.items()], symlinks, tuple(unmerged)
    )


def missing_objects(root: Path, start: Sequence[str]) -> frozenset[str]:
    """The objects below commits, trees or `--indexed-objects` that a remote promised and this clone lacks."""
    return _missing(root, ["--no-walk", *filter(None, start)]) if _is_partial(root) else frozenset()


def _is_partial(root: Path) -> bool:
    """Whether objects may be missing that a remote promised; asking for one makes git try to fetch it."""
    keys = run_git(root, ["config", "--list", "--name-only", "-z"]).decode("utf-8", "replace").split("\0")
    return any(key == "extensions.partialclone" or key.endswith(".promisor") for key in keys)


def _missing(root: Path, start: Sequence[str]) -> frozenset[str]:
    """The objects below `start` that are not in this clone, found out without asking for them."""
    listed = run_git(root, ["rev-list", "--objects", "--missing=print", "--no-object-names", *start])
    return frozenset(line[1:] for line in _text(listed).split("\n") if line.startswith("?"))


def _sizes(root: Path, shas: Sequence[str], missing: frozenset[str]) -> dict[str, int]:
    """The size of each blob, -1 for one that is not in this clone."""
    sizes = dict.fromkeys(shas, -1)
    asked = "".join(f"{sha}\n" for sha in sizes if sha not in missing).encode()
    said = run_git(root, ["cat-file", "--batch-check", "--buffer"], given=asked)
    for line in _text(said).split("\n")[:-1]:
        sha, kind, *size = line.split()
        if kind == "blob":
            sizes[sha] = int(size[0])
    return sizes


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

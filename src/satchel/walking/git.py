"""Ask git about a folder: its files, its refs and its blobs. Paths are relative to the folder, which may be a
subfolder of the repository."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from satchel.errors import RefNotFound
from satchel.walking.git_command import GitProblem, GitUnusable, command_line, environment, run_git

STREAM_TIMEOUT_SECONDS = 600  # reading every blob of a large repository takes seconds
_STAMP_DIGITS = 15  # 60 bits of a blob's id; as a time in nanoseconds it lies in the past
# Characters that no ref contains and that cannot be passed to a program.
_NOT_IN_A_REF = re.compile("[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")
_SYMLINK, _SUBMODULE = "120000", "160000"
_OURS = 2  # the stage of an unmerged file that holds the user's own side
UNSHALLOW_HINT = "this clone is shallow: git fetch --unshallow brings the rest of the history"
_REFS_HINT = "git log --oneline --all lists what can be asked for"


@dataclass(frozen=True, slots=True)
class RepositoryFolder:
    """The position of a folder in its repository. `prefix` is empty at the top, otherwise `sub/folder/`;
    `head` is the current commit, empty before the first one."""

    prefix: str
    head: str


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a commit or of git's index. `size` is -1 if the object is not in this clone."""

    path: str
    sha: str
    size: int

    @property
    def stamp(self) -> int:
        """Return the number that stands in place of a file's modification time: equal stamps mean equal
        files."""
        return int(self.sha[:_STAMP_DIGITS], 16)


@dataclass(frozen=True, slots=True)
class TreeListing:
    """The files of a commit or of git's index below the root, without submodules. For an unmerged file the
    blob is our side of the merge, if there is one."""

    blobs: list[Blob]
    symlinks: list[str]
    unmerged: tuple[str, ...] = ()


def repository_prefix(root: Path) -> str:
    """Return the path of the root in its repository: empty at the top, otherwise `sub/folder/`."""
    return locate_in_repository(root).prefix


def locate_in_repository(root: Path) -> RepositoryFolder:
    """Return the position of the root in its repository and the current commit.

    The setting `core.worktree` can name any folder on disk, so an answer about another folder is refused.
    """
    # `--revs-only` prints nothing for a HEAD without commits, which would otherwise be an error.
    args = ["rev-parse", "--show-toplevel", "--show-prefix", "--revs-only", "HEAD"]
    top, _, rest = _decode(run_git(root, args)).partition("\n")
    prefix, _, head = rest.removesuffix("\n").rpartition("\n")
    # A prefix ends with a slash; a commit id does not.
    if not head or head.endswith("/"):
        prefix, head = rest.removesuffix("\n"), ""
    if os.path.realpath(os.path.join(top, prefix)) != os.path.realpath(root):
        raise GitUnusable(GitProblem.ELSEWHERE)
    return RepositoryFolder(prefix, head)


def list_work_tree(root: Path, only: Sequence[str] = (), place: RepositoryFolder | None = None) -> list[str]:
    """Return the tracked files and the untracked ones that git does not ignore, or only those among the paths
    `only`.

    A nested repository is a single path that ends with a slash. Files deleted from disk are still listed.
    """
    prefix = (place or locate_in_repository(root)).prefix
    literal = [f":(literal){path}" for path in only]
    listed = run_git(root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *literal])
    # An unmerged file is listed once per side.
    paths = list(dict.fromkeys(_split_at_nul(listed)))
    if prefix and not paths and not only:
        raise GitUnusable(GitProblem.IGNORED)
    return paths


def list_ignored(root: Path) -> list[str]:
    """Return the paths that git ignores. A folder that is ignored as a whole is one path that ends with a
    slash."""
    flags = ["--others", "--ignored", "--exclude-standard", "--directory"]
    return _split_at_nul(run_git(root, ["ls-files", "-z", *flags]))


def resolve_ref(root: Path, ref: str) -> str:
    """Return the id of the commit that a ref names."""
    if not ref or ref.startswith("-") or _NOT_IN_A_REF.search(ref):
        raise RefNotFound(f"{ref!r} is no git ref", hint=_REFS_HINT, details={"ref": ref})
    try:
        return _decode(run_git(root, ["rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"])).strip()
    except GitUnusable as problem:
        reason = "" if problem.problem is GitProblem.FAILED else f": {problem.message}"
        raise RefNotFound(
            f"the ref {ref!r} cannot be read{reason}",
            hint=problem.hint or (UNSHALLOW_HINT if is_shallow(root) else _REFS_HINT),
            details={"ref": ref, **problem.details},
        ) from problem


def is_shallow(root: Path) -> bool:
    """Return whether the clone lacks the older part of its history."""
    try:
        return run_git(root, ["rev-parse", "--is-shallow-repository"]).strip() == b"true"
    except GitUnusable:
        return False


def list_tree(root: Path, commit: str) -> TreeListing:
    """Return the files of a commit below the root, in git's order."""
    prefix = _decode(run_git(root, ["rev-parse", "--show-prefix"])).removesuffix("\n")
    tree = f"{commit}:{prefix}" if prefix else commit
    partial = _is_partial(root)
    try:
        # In a partial clone `-l` would try to fetch missing objects, and fail because fetching is forbidden.
        listed = run_git(root, ["ls-tree", "-r", "-z", *([] if partial else ["-l"]), "--full-tree", tree])
        missing = missing_objects(root, [commit]) if partial else frozenset()
    except GitUnusable as problem:
        raise RefNotFound(
            f"{prefix or 'the tree'!r} cannot be read at {commit}", details=problem.details
        ) from problem
    rows = [record.partition("\t") for record in _split_at_nul(listed)]
    entries = [(*head.split(), path) for head, _, path in rows]
    symlinks = [entry[-1] for entry in entries if entry[0] == _SYMLINK]
    files = [entry for entry in entries if entry[1] == "blob" and entry[0] != _SYMLINK]
    if partial:
        sizes = _sizes(root, [entry[2] for entry in files], missing)
        return TreeListing([Blob(entry[-1], entry[2], sizes[entry[2]]) for entry in files], symlinks)
    known = [Blob(path, sha, int(size) if size.isdigit() else -1) for _, _, sha, size, path in files]
    return TreeListing(known, symlinks)


def list_index(root: Path) -> TreeListing:
    """Return the files that a commit made now would hold below the root: those of git's index."""
    listed = run_git(root, ["ls-files", "--stage", "-z"])
    chosen: dict[str, tuple[str, str]] = {}
    unmerged: dict[str, None] = {}
    for record in _split_at_nul(listed):
        head, _, path = record.partition("\t")
        mode, sha, stage = head.split()
        if stage != "0":
            unmerged[path] = None
        # Stages ascend, so the common base comes first.
        if path not in chosen or int(stage) == _OURS:
            chosen[path] = (mode, sha)
    files = {path: sha for path, (mode, sha) in chosen.items() if mode not in (_SYMLINK, _SUBMODULE)}
    missing = missing_objects(root, ["--indexed-objects"])
    sizes = _sizes(root, list(files.values()), missing)
    symlinks = [path for path, (mode, _) in chosen.items() if mode == _SYMLINK]
    return TreeListing(
        [Blob(path, sha, sizes[sha]) for path, sha in files.items()], symlinks, tuple(unmerged)
    )


def missing_objects(root: Path, start: Sequence[str]) -> frozenset[str]:
    """Return the objects below some commits, trees or `--indexed-objects` that are promised by a remote and
    not in this clone."""
    return _missing(root, ["--no-walk", *filter(None, start)]) if _is_partial(root) else frozenset()


def _is_partial(root: Path) -> bool:
    """Return whether the clone may lack objects that a remote promised. Asking for such an object makes git
    fetch it."""
    keys = run_git(root, ["config", "--list", "--name-only", "-z"]).decode("utf-8", "replace").split("\0")
    return any(key == "extensions.partialclone" or key.endswith(".promisor") for key in keys)


def _missing(root: Path, start: Sequence[str]) -> frozenset[str]:
    """Return the objects below `start` that are not in this clone, without causing git to fetch them."""
    listed = run_git(root, ["rev-list", "--objects", "--missing=print", "--no-object-names", *start])
    return frozenset(line[1:] for line in _decode(listed).split("\n") if line.startswith("?"))


def _sizes(root: Path, shas: Sequence[str], missing: frozenset[str]) -> dict[str, int]:
    """Return the size of each blob, -1 for a blob that is not in this clone."""
    sizes = dict.fromkeys(shas, -1)
    asked = "".join(f"{sha}\n" for sha in sizes if sha not in missing).encode()
    said = run_git(root, ["cat-file", "--batch-check", "--buffer"], stdin=asked)
    for line in _decode(said).split("\n")[:-1]:
        sha, kind, *size = line.split()
        if kind == "blob":
            sizes[sha] = int(size[0])
    return sizes


def read_blobs(root: Path, shas: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the bytes of each blob in the order asked for, None for a blob that is not in this clone."""
    import tempfile  # here, because it takes a millisecond and most questions read no blob

    # A pipe would deadlock once both directions are full.
    with tempfile.TemporaryFile() as wanted:
        wanted.write("".join(f"{sha}\n" for sha in shas).encode())
        wanted.seek(0)
        process = subprocess.Popen(
            command_line(["cat-file", "--batch", "--buffer"]),
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
            yield from _read_batch(process)
        finally:
            clock.cancel()
            process.kill()
            process.communicate()


def _read_batch(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the objects that `git cat-file --batch` prints."""
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


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _split_at_nul(raw: bytes) -> list[str]:
    return _decode(raw).split("\0")[:-1]

"""What does a change change? Between two commits, or from a commit to what is staged or on disk: the files,
and in each the lines of both comparison, counted as citations count them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

import msgspec

from satchel.errors import RefNotFound
from satchel.lines import split_lines
from satchel.settings import WalkOptions
from satchel.types import LineRange, Skipped
from satchel.walking import git, git_diff
from satchel.walking.encodings import decode
from satchel.walking.git_command import GitUnusable, filters_off, run_git
from satchel.walking.git_diff import Comparison, DiffEntry, Hunk
from satchel.walking.git_trees import STAGED
from satchel.walking.sensitive_names import without_tokens
from satchel.walking.work_tree import WORK_TREE, WorkTree

STAGED_FLAG = "--staged"  # no ref starts with a dash
_HEAD = "HEAD"
_PARENT = re.compile(r"(?P<ref>.+?)(?:\^1?|~1?)")


class Status(StrEnum):
    """What became of a file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"  # and perhaps modified


class ChangedFile(msgspec.Struct, frozen=True):
    """A file that differs. `path` is where it is now, or where it was if it is deleted; `old_path` where it
    was, empty if it is new. Where the changed lines cannot be told (`exact` is false) all lines count as
    changed; a file that is no text has none. `in_clone` is false where git does not have both comparison."""

    path: str
    old_path: str
    status: Status
    hunks: tuple[Hunk, ...] = ()
    line_count: int = 0
    old_line_count: int = 0
    exact: bool = True
    in_clone: bool = True

    @property
    def spans(self) -> tuple[LineRange, ...]:
        """The changed lines of the new side; where lines were taken out, the two around the place."""
        return _spans((hunk.new_span for hunk in self.hunks), self.line_count)

    @property
    def old_spans(self) -> tuple[LineRange, ...]:
        """The changed lines of the old side; where lines were put in, the two around the place."""
        return _spans((hunk.old_span for hunk in self.hunks), self.old_line_count)


class ChangeSet(msgspec.Struct, frozen=True):
    """What differs. `old` is a commit, empty before the first one; `new` a commit, `staged` or `worktree`.
    Files are sorted by path. `no_files` are links and submodules, by path, each with which of them it is."""

    old: str
    new: str
    files: tuple[ChangedFile, ...]
    no_files: Mapping[str, str] = MappingProxyType({})


class _Text(msgspec.Struct, frozen=True):
    """What is to be known of one side of a file; of what is missing, too large or binary, nothing is."""

    line_count: int = 0
    known: bool = False
    countable: bool = False  # git counts its lines as we do


_Texts = Mapping[str, _Text]


def read_changes(root: Path, spec: str = "", options: WalkOptions | None = None) -> ChangeSet:
    """`A..B`, `A...B` (since their common ancestor), `A` (up to the files on disk), `--staged` (from HEAD to
    git's index), or nothing (from HEAD to the files on disk). What is on disk includes the untracked files
    that a walk takes in."""
    old, new = _ends(root, spec)
    start = old or _empty_tree(root)
    if new == WORK_TREE:
        comparison = Comparison(("diff-index", start), filters_off(root), git.missing_objects(root, [start]))
        files = _sorted(_of_work_tree(root, comparison, options))
        no_files = _without_touched(root, git_diff.list_non_files(root, comparison), start)
        return ChangeSet(old, new, files, _shown(no_files))
    if new == STAGED:
        missing = git.missing_objects(root, ["--indexed-objects", *([old] if old else [])])
        comparison = Comparison(("diff-index", "--cached", start), missing=missing)
    else:
        comparison = msgspec.structs.replace(
            git_diff.compare_commits(start, new), missing=git.missing_objects(root, [old, new])
        )
    files = _sorted(_of_blobs(root, comparison, options))
    return ChangeSet(old, new, files, _shown(git_diff.list_non_files(root, comparison)))


def _shown(no_files: Mapping[str, str]) -> dict[str, str]:
    return {without_tokens(path): kind for path, kind in no_files.items()}


def _without_touched(root: Path, found: Mapping[str, str], start: str) -> dict[str, str]:
    """Without the links that lead where they led: git lists them for their time alone."""
    return {
        path: kind
        for path, kind in found.items()
        if kind != git_diff.LINK or not _is_same_link(root, path, start)
    }


def _is_same_link(root: Path, path: str, start: str) -> bool:
    try:
        target = os.fsencode(os.readlink(root / path))
        return target == run_git(root, ["cat-file", "blob", f"{start}:./{path}"])
    except (OSError, GitUnusable):  # it is new, or gone
        return False


def _ends(root: Path, spec: str) -> tuple[str, str]:
    if spec in ("", STAGED_FLAG):
        return git.locate_in_repository(root).head, STAGED if spec else WORK_TREE
    first, dots, last = spec.partition("...")
    if not dots:
        first, dots, last = spec.partition("..")
    if not dots:
        return git.resolve_ref(root, spec), WORK_TREE
    new = git.resolve_ref(root, last or _HEAD)
    old = _before(root, first or _HEAD)
    return (_common_ancestor(root, old, new, spec) if dots == "..." and old else old), new


def _before(root: Path, ref: str) -> str:
    """The commit that a ref names. The parent of the first commit is nothing: all of that commit is new. A
    shallow clone hides parents, but the commit itself still names them."""
    try:
        return git.resolve_ref(root, ref)
    except RefNotFound:
        child = _PARENT.fullmatch(ref)
        if child is None:
            raise
        commit = git.resolve_ref(root, child["ref"])
        header = run_git(root, ["cat-file", "commit", commit]).partition(b"\n\n")[0]
        if b"\nparent " in header:
            raise
        return ""


def _common_ancestor(root: Path, old: str, new: str, spec: str) -> str:
    try:
        return run_git(root, ["merge-base", old, new]).decode().split()[0]
    except GitUnusable as problem:
        raise RefNotFound(
            f"the comparison of {spec!r} have no common ancestor in this clone",
            hint="two dots compare them as they are",
            details={"spec": spec, **problem.details},
        ) from problem


def _empty_tree(root: Path) -> str:
    """What everything is new against; its id depends on how the repository hashes."""
    return run_git(root, ["hash-object", "-t", "tree", "--stdin"]).decode().strip()


def _of_blobs(root: Path, comparison: Comparison, options: WalkOptions | None) -> Iterator[ChangedFile]:
    found = git_diff.list_entries(root, comparison)
    texts = _blob_texts(root, comparison, found, options)
    readable = [change for change in found if texts.keys() >= {change.old_blob, change.new_blob}]
    blocks = git_diff.read_hunks(root, comparison, _only(comparison, readable)) if readable else ()
    hunks = {(block.old_blob, block.new_blob): block.hunks for block in blocks}
    for change in found:
        old, new = texts.get(change.old_blob, _Text()), texts.get(change.new_blob, _Text())
        own = hunks.get((change.old_blob, change.new_blob), [])
        yield _changed(change, old, new, own, in_clone=_is_in_clone(change, comparison))


def _of_work_tree(root: Path, comparison: Comparison, options: WalkOptions | None) -> Iterator[ChangedFile]:
    tree = WorkTree(root, options)
    found = _with_untracked(git_diff.list_entries(root, comparison), _untracked(root, tree))
    old_texts = _blob_texts(root, comparison, found, options)
    new_texts = _disk_texts(tree, [change.new_path for change in found if change.new_path])
    hunks = _hunks_by_path(root, comparison, [change for change in found if change.old_blob in old_texts])
    for change in found:
        lines = hunks.get(change.new_path, [])
        touched = change.old_path == change.new_path and not lines and change.same_mode and not change.opaque
        if not touched or change.old_blob not in old_texts:  # git lists a file for its time alone
            old, new = old_texts.get(change.old_blob, _Text()), new_texts.get(change.new_path, _Text())
            yield _changed(change, old, new, lines, in_clone=_is_in_clone(change, comparison))


def _hunks_by_path(root: Path, comparison: Comparison, found: Sequence[DiffEntry]) -> dict[str, list[Hunk]]:
    """What is on disk has no blob to tell its file by. The old one does, unless several files had the same:
    those are asked for one by one."""
    both = [change for change in found if change.old_path and change.new_path and not change.opaque]
    if not both:
        return {}
    by_old: dict[str, list[list[Hunk]]] = {}
    for block in git_diff.read_hunks(root, comparison, _only(comparison, both)):
        by_old.setdefault(block.old_blob, []).append(block.hunks)
    counts = Counter(change.old_blob for change in found)
    hunks = {}
    for change in both:
        if counts[change.old_blob] == 1:
            own = by_old.get(change.old_blob, [])
        else:
            own = [block.hunks for block in git_diff.read_hunks(root, comparison, change.paths)]
        hunks[change.new_path] = own[0] if len(own) == 1 else []
    return hunks


def _only(comparison: Comparison, found: Iterable[DiffEntry]) -> list[str]:
    """The paths to ask for: none means all, which is right when all of them can be read."""
    return [path for change in found for path in change.paths] if comparison.missing else []


def _untracked(root: Path, tree: WorkTree) -> list[str]:
    listed = run_git(root, ["ls-files", "-z", "--cached"]).decode("utf-8", "surrogateescape")
    tracked = set(listed.split("\0"))
    return [entry.path for entry in tree.entries().files if entry.path not in tracked]


def _with_untracked(found: Sequence[DiffEntry], untracked: Sequence[str]) -> list[DiffEntry]:
    """A file that git no longer tracks but that is still there is not deleted; git gives no lines of it."""
    gone = {change.old_path: change for change in found if not change.new_path}
    still_there = gone.keys() & set(untracked)
    kept = [change for change in found if change.new_path or change.old_path not in still_there]
    known = [
        msgspec.structs.replace(gone[path], new_path=path, opaque=True)
        for path in untracked
        if path in still_there
    ]
    return [*kept, *known, *(DiffEntry("", path, "", "") for path in untracked if path not in still_there)]


def _is_in_clone(change: DiffEntry, comparison: Comparison) -> bool:
    return comparison.missing.isdisjoint((change.old_blob, change.new_blob))


def _changed(
    change: DiffEntry, old: _Text, new: _Text, hunks: Sequence[Hunk], *, in_clone: bool
) -> ChangedFile:
    whole = Hunk(min(1, old.line_count), old.line_count, min(1, new.line_count), new.line_count)
    if not change.old_path or not change.new_path:
        exact, hunks = (new.known if change.new_path else old.known), [whole]
    else:
        exact = not change.opaque and old.countable and new.countable
        hunks = hunks if exact else [whole]
    return ChangedFile(
        change.new_path or change.old_path,
        change.old_path,
        _status(change),
        tuple(hunk for hunk in hunks if hunk.old_count or hunk.new_count),
        new.line_count if change.new_path else 0,
        old.line_count if change.old_path else 0,
        exact,
        in_clone,
    )


def _status(change: DiffEntry) -> Status:
    if not change.old_path:
        return Status.ADDED
    if not change.new_path:
        return Status.DELETED
    return Status.MODIFIED if change.old_path == change.new_path else Status.RENAMED


def _blob_texts(
    root: Path, comparison: Comparison, found: Iterable[DiffEntry], options: WalkOptions | None
) -> _Texts:
    shas = {sha for change in found for sha in (change.old_blob, change.new_blob) if sha.strip("0")}
    wanted = sorted(shas - comparison.missing)
    read = git.read_blobs(root, wanted)
    return {sha: _text(data, options) for sha, data in read if data is not None}


def _disk_texts(tree: WorkTree, paths: Sequence[str]) -> _Texts:
    read = tree.read_many(paths)
    return {path: _text(data, tree.options) for path, data in read if not isinstance(data, Skipped)}


def _text(data: bytes, options: WalkOptions | None) -> _Text:
    if len(data) > (options or WalkOptions()).max_file_bytes:
        return _Text()
    decoded = decode(data)
    if decoded is None:
        return _Text()
    return _Text(len(split_lines(decoded[0])), True, git_diff.has_same_lines(*decoded))


def _spans(spans: Iterable[LineRange], line_count: int) -> tuple[LineRange, ...]:
    """Inside the file, in order, those that overlap as one."""
    result: list[LineRange] = []
    for first, last in sorted(git_diff.clip_range(span, line_count) for span in spans):
        if result and first <= result[-1][1]:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        elif line_count:
            result.append((first, last))
    return tuple(result)


def _sorted(files: Iterable[ChangedFile]) -> tuple[ChangedFile, ...]:
    """The files by path, without tokens in their names: a file with one is never read."""
    shown = (
        msgspec.structs.replace(file, path=without_tokens(file.path), old_path=without_tokens(file.old_path))
        for file in files
    )
    return tuple(sorted(shown, key=lambda file: (file.path, file.old_path)))

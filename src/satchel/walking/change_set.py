"""Read a change: between two commits, or from a commit to what is staged or on disk. The result lists the
changed files and, for each, the changed lines of both sides, numbered as citations number them."""

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
from satchel.types import Skipped
from satchel.walking import git, git_diff
from satchel.walking.git_command import GitUnusable, filters_off, run_git
from satchel.walking.git_diff import DiffEntry, Hunk, TreeComparison
from satchel.walking.git_trees import STAGED
from satchel.walking.sensitive_names import without_tokens
from satchel.walking.source_reader import decode
from satchel.walking.work_tree import WORK_TREE, WorkTree

STAGED_FLAG = "--staged"  # no ref starts with a dash
_HEAD = "HEAD"
_PARENT = re.compile(r"(?P<ref>.+?)(?:\^1?|~1?)")


class Status(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"  # and perhaps modified


class ChangedFile(msgspec.Struct, frozen=True):
    """A file that differs between two sides.

    `path` is its present path, or the last one if the file is deleted; `old_path` is empty for a new file. If
    the changed lines are not known (`exact` is false), all lines count as changed; a binary file has none.
    `in_clone` is false if git does not have the content of both sides.
    """

    path: str
    old_path: str
    status: Status
    hunks: tuple[Hunk, ...] = ()
    line_count: int = 0
    old_line_count: int = 0
    exact: bool = True
    in_clone: bool = True


class ChangeSet(msgspec.Struct, frozen=True):
    """The files that differ, sorted by path. `old` is a commit, empty before the first one; `new` is a
    commit, `staged` or `worktree`. `non_files` maps the paths of changed links and submodules to the word for
    each."""

    old: str
    new: str
    files: tuple[ChangedFile, ...]
    non_files: Mapping[str, str] = MappingProxyType({})


class _TextFacts(msgspec.Struct, frozen=True):
    """What is known of one side of a file. The defaults stand for a side that is missing, too large or
    binary."""

    line_count: int = 0
    known: bool = False
    countable: bool = False  # git counts the same lines as citations do


_FactsByName = Mapping[str, _TextFacts]


def read_changes(root: Path, spec: str = "", options: WalkOptions | None = None) -> ChangeSet:
    """Return the change that `spec` names: `A..B`, `A...B` (since their common ancestor), `A` (up to the
    files on disk), `--staged` (from HEAD to git's index) or an empty string (from HEAD to the files on disk).
    The files on disk include the untracked ones that a walk would index."""
    old, new = _resolve_sides(root, spec)
    start = old or _empty_tree(root)
    if new == WORK_TREE:
        comparison = TreeComparison(
            ("diff-index", start), filters_off(root), git.missing_objects(root, [start])
        )
        files = _sorted_files(_changed_on_disk(root, comparison, options))
        non_files = _without_unchanged_links(root, git_diff.list_non_files(root, comparison), start)
        return ChangeSet(old, new, files, _with_shown_paths(non_files))
    if new == STAGED:
        missing = git.missing_objects(root, ["--indexed-objects", *([old] if old else [])])
        comparison = TreeComparison(("diff-index", "--cached", start), missing=missing)
    else:
        comparison = msgspec.structs.replace(
            git_diff.compare_commits(start, new), missing=git.missing_objects(root, [old, new])
        )
    files = _sorted_files(_changed_blobs(root, comparison, options))
    return ChangeSet(old, new, files, _with_shown_paths(git_diff.list_non_files(root, comparison)))


def _with_shown_paths(non_files: Mapping[str, str]) -> dict[str, str]:
    """Return the mapping with tokens in its paths masked."""
    return {without_tokens(path): kind for path, kind in non_files.items()}


def _without_unchanged_links(root: Path, found: Mapping[str, str], start: str) -> dict[str, str]:
    """Return the mapping without links that still lead to the same target. Git lists a link whose time alone
    differs."""
    return {
        path: kind
        for path, kind in found.items()
        if kind != git_diff.LINK or not _is_same_link(root, path, start)
    }


def _is_same_link(root: Path, path: str, start: str) -> bool:
    """Return whether a link on disk has the target that it has in the tree `start`."""
    try:
        target = os.fsencode(os.readlink(root / path))
        return target == run_git(root, ["cat-file", "blob", f"{start}:./{path}"])
    except (OSError, GitUnusable):  # the link is new or gone
        return False


def _resolve_sides(root: Path, spec: str) -> tuple[str, str]:
    """Return the commits or words that stand for the old and the new side of a spec."""
    if spec in ("", STAGED_FLAG):
        return git.locate_in_repository(root).head, STAGED if spec else WORK_TREE
    first, dots, last = spec.partition("...")
    if not dots:
        first, dots, last = spec.partition("..")
    if not dots:
        return git.resolve_ref(root, spec), WORK_TREE
    new = git.resolve_ref(root, last or _HEAD)
    old = _resolve_old_side(root, first or _HEAD)
    return (_common_ancestor(root, old, new, spec) if dots == "..." and old else old), new


def _resolve_old_side(root: Path, ref: str) -> str:
    """Return the commit that a ref names. The parent of the first commit is the empty string, because all of
    that commit is new. A shallow clone hides parents, but the commit object still names them; asking for such
    a parent is an error."""
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
    """Return the merge base of two commits."""
    try:
        return run_git(root, ["merge-base", old, new]).decode().split()[0]
    except GitUnusable as problem:
        raise RefNotFound(
            f"the comparison of {spec!r} have no common ancestor in this clone",
            hint="two dots compare them as they are",
            details={"spec": spec, **problem.details},
        ) from problem


def _empty_tree(root: Path) -> str:
    """Return the id of the empty tree. It depends on the hash algorithm of the repository."""
    return run_git(root, ["hash-object", "-t", "tree", "--stdin"]).decode().strip()


def _changed_blobs(
    root: Path, comparison: TreeComparison, options: WalkOptions | None
) -> Iterator[ChangedFile]:
    """Yield the files that differ where both sides are git blobs."""
    found = git_diff.list_entries(root, comparison)
    texts = _blob_texts(root, comparison, found, options)
    readable = [change for change in found if texts.keys() >= {change.old_blob, change.new_blob}]
    blocks = git_diff.read_hunks(root, comparison, _path_limits(comparison, readable)) if readable else ()
    hunks = {(block.old_blob, block.new_blob): block.hunks for block in blocks}
    for change in found:
        old, new = texts.get(change.old_blob, _TextFacts()), texts.get(change.new_blob, _TextFacts())
        own = hunks.get((change.old_blob, change.new_blob), [])
        yield _changed_file(change, old, new, own, in_clone=_is_in_clone(change, comparison))


def _changed_on_disk(
    root: Path, comparison: TreeComparison, options: WalkOptions | None
) -> Iterator[ChangedFile]:
    """Yield the files that differ where the new side is on disk."""
    tree = WorkTree(root, options)
    found = _with_untracked(git_diff.list_entries(root, comparison), _untracked(root, tree))
    old_texts = _blob_texts(root, comparison, found, options)
    new_texts = _disk_texts(tree, [change.new_path for change in found if change.new_path])
    hunks = _hunks_by_path(root, comparison, [change for change in found if change.old_blob in old_texts])
    for change in found:
        lines = hunks.get(change.new_path, [])
        only_touched = (
            change.old_path == change.new_path and not lines and change.same_mode and not change.lines_unknown
        )
        # Git also lists a file if only its modification time differs.
        if not only_touched or change.old_blob not in old_texts:
            old, new = (
                old_texts.get(change.old_blob, _TextFacts()),
                new_texts.get(change.new_path, _TextFacts()),
            )
            yield _changed_file(change, old, new, lines, in_clone=_is_in_clone(change, comparison))


def _hunks_by_path(
    root: Path, comparison: TreeComparison, found: Sequence[DiffEntry]
) -> dict[str, list[Hunk]]:
    """Return the hunks of each file by its new path. A file on disk has no blob id, so its hunks are found by
    the old blob. Files that share an old blob are asked for one by one."""
    both = [change for change in found if change.old_path and change.new_path and not change.lines_unknown]
    if not both:
        return {}
    by_old: dict[str, list[list[Hunk]]] = {}
    for block in git_diff.read_hunks(root, comparison, _path_limits(comparison, both)):
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


def _path_limits(comparison: TreeComparison, found: Iterable[DiffEntry]) -> list[str]:
    """Return the paths to which a diff is limited. An empty list means all, which is right if no object is
    missing."""
    return [path for change in found for path in change.paths] if comparison.missing else []


def _untracked(root: Path, tree: WorkTree) -> list[str]:
    """Return the paths on disk that a walk takes in and git does not track."""
    listed = run_git(root, ["ls-files", "-z", "--cached"]).decode("utf-8", "surrogateescape")
    tracked = set(listed.split("\0"))
    return [entry.path for entry in tree.entries().files if entry.path not in tracked]


def _with_untracked(found: Sequence[DiffEntry], untracked: Sequence[str]) -> list[DiffEntry]:
    """Return the entries with untracked files added as new. A file that git no longer tracks but that is
    still on disk counts as modified, with unknown lines."""
    gone = {change.old_path: change for change in found if not change.new_path}
    still_there = gone.keys() & set(untracked)
    kept = [change for change in found if change.new_path or change.old_path not in still_there]
    known = [
        msgspec.structs.replace(gone[path], new_path=path, lines_unknown=True)
        for path in untracked
        if path in still_there
    ]
    return [*kept, *known, *(DiffEntry("", path, "", "") for path in untracked if path not in still_there)]


def _is_in_clone(change: DiffEntry, comparison: TreeComparison) -> bool:
    """Return whether this clone has both blobs of an entry."""
    return comparison.missing.isdisjoint((change.old_blob, change.new_blob))


def _changed_file(
    change: DiffEntry, old: _TextFacts, new: _TextFacts, hunks: Sequence[Hunk], *, in_clone: bool
) -> ChangedFile:
    """Return a changed file with its exact hunks, or with one hunk over all lines if the lines are not
    known."""
    whole = Hunk(min(1, old.line_count), old.line_count, min(1, new.line_count), new.line_count)
    if not change.old_path or not change.new_path:
        exact, hunks = (new.known if change.new_path else old.known), [whole]
    else:
        exact = not change.lines_unknown and old.countable and new.countable
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
    """Return what happened to the file of an entry."""
    if not change.old_path:
        return Status.ADDED
    if not change.new_path:
        return Status.DELETED
    return Status.MODIFIED if change.old_path == change.new_path else Status.RENAMED


def _blob_texts(
    root: Path, comparison: TreeComparison, found: Iterable[DiffEntry], options: WalkOptions | None
) -> _FactsByName:
    """Return the facts of all blobs of some entries, by blob id."""
    shas = {sha for change in found for sha in (change.old_blob, change.new_blob) if sha.strip("0")}
    wanted = sorted(shas - comparison.missing)
    read = git.read_blobs(root, wanted)
    return {sha: _text_facts(data, options) for sha, data in read if data is not None}


def _disk_texts(tree: WorkTree, paths: Sequence[str]) -> _FactsByName:
    """Return the facts of some files on disk, by path."""
    read = tree.read_many(paths)
    return {path: _text_facts(data, tree.options) for path, data in read if not isinstance(data, Skipped)}


def _text_facts(data: bytes, options: WalkOptions | None) -> _TextFacts:
    """Return the facts of the text that some bytes hold."""
    if len(data) > (options or WalkOptions()).max_file_bytes:
        return _TextFacts()
    decoded = decode(data)
    if decoded is None:
        return _TextFacts()
    return _TextFacts(len(split_lines(decoded[0])), True, git_diff.has_same_lines(*decoded))


def _sorted_files(files: Iterable[ChangedFile]) -> tuple[ChangedFile, ...]:
    """Return the files by path, with tokens in their paths masked. A file with a token in its path is never
    read."""
    shown = (
        msgspec.structs.replace(file, path=without_tokens(file.path), old_path=without_tokens(file.old_path))
        for file in files
    )
    return tuple(sorted(shown, key=lambda file: (file.path, file.old_path)))

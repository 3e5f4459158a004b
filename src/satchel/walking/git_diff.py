"""Ask git what differs between two trees, file by file and line by line.

Only plumbing commands are used, which ignore the user's display settings. They write nothing, take no file
name for an option, and run no program that a repository names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from satchel.lines import split_lines
from satchel.types import LineRange
from satchel.walking.git_command import Overrides, run_git

LINK = "link"
_SUBMODULES = "--ignore-submodules=all"
# Only the commit of a submodule is compared: its files obey a configuration that is not overridden here.
_COMMITS_OF_SUBMODULES = "--ignore-submodules=dirty"
_DIFF_OPTIONS = (
    "-l1000",  # pairs compared for renames, whatever the repository's own setting is
    "--relative",
    _SUBMODULES,
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
)
_PATCH_OPTIONS = ("-p", "-U0", "--full-index", "--text", "--indent-heuristic", "--diff-algorithm=myers")
_NON_FILE_MODES = {"120000": LINK, "160000": "submodule"}  # by git mode
_PATHS_PER_CALL = 500  # the length of a command line is limited
_INDEX_LINE = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
_HUNK_LINE = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class TreeComparison(msgspec.Struct, frozen=True):
    """Two trees to compare: the git command that compares them, the settings to override, and the objects
    that are not in this clone."""

    command: tuple[str, ...]
    config: Overrides = ()
    missing: frozenset[str] = frozenset()  # objects that are not in this clone

    @property
    def rename_option(self) -> str:
        """Return the option that detects renames. Renames with changes are found by content; if objects are
        missing, git would try to fetch them, so only exact renames are looked for."""
        return "-M100%" if self.missing else "-M"


class DiffEntry(msgspec.Struct, frozen=True):
    """A file that differs. The path is empty on the side that lacks the file; the blob is all zeros there,
    and also for content on disk. If `lines_unknown` is set (an unmerged file), git reports no lines for it.
    """

    old_path: str
    new_path: str
    old_blob: str
    new_blob: str
    same_mode: bool = True
    lines_unknown: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the old and the new path, without an empty one."""
        return tuple(path for path in (self.old_path, self.new_path) if path)


class Hunk(msgspec.Struct, frozen=True):
    """Lines of the old side that are replaced by lines of the new side. If a count is 0, its line is the one
    before the place."""

    old_line: int
    old_count: int
    new_line: int
    new_count: int

    @property
    def old_range(self) -> LineRange:
        """Return the first and the last changed line of the old side; for an insertion, the two lines around
        it."""
        return _range_of(self.old_line, self.old_count)

    @property
    def new_range(self) -> LineRange:
        """Return the first and the last changed line of the new side; for a deletion, the two lines around
        it."""
        return _range_of(self.new_line, self.new_count)


class FileHunks(msgspec.Struct, frozen=True):
    """The hunks of one file, which is identified by its two blobs."""

    old_blob: str
    new_blob: str
    hunks: list[Hunk]


def compare_commits(old: str, new: str) -> TreeComparison:
    """Return the comparison of two commits or trees."""
    return TreeComparison(("diff-tree", "-r", "--no-commit-id", old, new))


def list_entries(root: Path, comparison: TreeComparison) -> list[DiffEntry]:
    """Return the files below the root that differ, without links and submodules."""
    command, *rest = comparison.command
    args = [command, *_DIFF_OPTIONS, comparison.rename_option, "--raw", "-z", "--no-abbrev", *rest]
    fields = run_git(root, args, config=comparison.config).decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = []
    position = 0
    while position < len(fields):
        old_mode, new_mode, old_blob, new_blob, status = fields[position].removeprefix(":").split(" ")
        renamed = status.startswith("R")
        old, new = fields[position + 1], fields[position + 2 if renamed else position + 1]
        position += 3 if renamed else 2
        old = "" if status == "A" or old_mode in _NON_FILE_MODES else old
        new = "" if status == "D" or new_mode in _NON_FILE_MODES else new
        if old or new:
            found.append(DiffEntry(old, new, old_blob, new_blob, old_mode == new_mode, status == "U"))
    return found


def list_non_files(root: Path, comparison: TreeComparison) -> dict[str, str]:
    """Return the links and submodules that differ, by path, with the word for each."""
    command, *rest = comparison.command
    words = [_COMMITS_OF_SUBMODULES if word == _SUBMODULES else word for word in _DIFF_OPTIONS]
    args = [command, *words, "--no-renames", "--raw", "-z", *rest]
    fields = run_git(root, args, config=comparison.config).decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = {}
    for modes, path in zip(fields[::2], fields[1::2], strict=True):
        old, new, *_ = modes.removeprefix(":").split(" ")
        present = [mode for mode in (new, old) if mode.strip("0")]
        # An entry that is or was a regular file is left to `list_entries`.
        if _NON_FILE_MODES.keys() >= set(present):
            found[path] = _NON_FILE_MODES[present[0]]
    return found


def read_hunks(root: Path, comparison: TreeComparison, paths: Sequence[str] = ()) -> Iterator[FileHunks]:
    """Yield the changed lines of all files, or of some. Files are told apart by their blobs, so that no file
    name can be taken for a header."""
    command, *rest = comparison.command
    args = [command, *_DIFF_OPTIONS, comparison.rename_option, *_PATCH_OPTIONS, *rest]
    for start in range(0, len(paths) or 1, _PATHS_PER_CALL):
        literal = [f":(literal){path}" for path in paths[start : start + _PATHS_PER_CALL]]
        yield from parse_hunks(run_git(root, [*args, "--", *literal], config=comparison.config))


def parse_hunks(said: bytes) -> Iterator[FileHunks]:
    """Yield the hunks of each file from the output of a diff."""
    block: FileHunks | None = None
    for line in said.split(b"\n"):
        if line.startswith(b"diff --git "):
            if block is not None:
                yield block
            block = None
        elif block is None and (index := _INDEX_LINE.match(line)):
            block = FileHunks(index[1].decode(), index[2].decode(), [])
        elif block is not None and (hunk := _HUNK_LINE.match(line)):
            numbers = [int(number) if number is not None else 1 for number in hunk.groups()]
            block.hunks.append(Hunk(*numbers))
    if block is not None:
        yield block


def clip_range(span: LineRange, line_count: int) -> LineRange:
    """Return a range moved inside a text of `line_count` lines. The neighbour of a change may lie before the
    first line or after the last."""
    first, last = span
    return min(max(1, first), line_count), min(max(1, last), line_count)


def has_same_lines(text: str, encoding: str) -> bool:
    """Return whether git, which ends a line with a line feed byte, counts the same lines in a text as
    citations do."""
    ends = text.count("\n") + (text != "" and not text.endswith("\n"))
    return ends == len(split_lines(text)) and not encoding.startswith("utf-16")


def _range_of(line: int, count: int) -> LineRange:
    """Return the first and the last line of a side of a hunk, or the two lines around an empty side."""
    return (line, line + count - 1) if count else (line, line + 1)

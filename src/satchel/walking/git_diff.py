"""What does git say differs between two trees, file by file and line by line? Nothing is written, no file
name is taken for anything else, and no program that a repository names is run.

Only commands below git's display layer are used, which the user's own settings do not reach.
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
_COMMITS_OF_SUBMODULES = "--ignore-submodules=dirty"  # what is inside obeys a configuration that is not ours
_SHARED = (
    "-l1000",  # pairs looked at for renames: a repository's own setting must not change the answer
    "--relative",
    _SUBMODULES,
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
)
_LINES = ("-p", "-U0", "--full-index", "--text", "--indent-heuristic", "--diff-algorithm=myers")
_NO_FILES = {"120000": LINK, "160000": "submodule"}  # by their modes
_PORTION = 500  # paths in one call: a command line has an end
_INDEX_LINE = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
_HUNK_LINE = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Comparison(msgspec.Struct, frozen=True):
    """Two trees to compare: the words that say so to git, and what of its configuration is switched off."""

    words: tuple[str, ...]
    config: Overrides = ()
    missing: frozenset[str] = frozenset()  # objects that are not in this clone

    @property
    def renames(self) -> str:
        """Renames with changes are found by content, which git would try to fetch where it is missing."""
        return "-M100%" if self.missing else "-M"


class DiffEntry(msgspec.Struct, frozen=True):
    """A file that differs. A path is empty on the side that has no such file; a blob is all zeros there, and
    also for what is on disk. Of an `opaque` one git gives no lines: it is unmerged."""

    old_path: str
    new_path: str
    old_blob: str
    new_blob: str
    same_mode: bool = True
    opaque: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(path for path in (self.old_path, self.new_path) if path)


class Hunk(msgspec.Struct, frozen=True):
    """Lines of the old side that stand as other lines in the new one. Of a count of 0 the line is the one
    before the place."""

    old_line: int
    old_count: int
    new_line: int
    new_count: int

    @property
    def old_span(self) -> LineRange:
        """First and last line that were changed; for an insertion its two neighbours."""
        return _span(self.old_line, self.old_count)

    @property
    def new_span(self) -> LineRange:
        """First and last line that are changed; for a deletion the two lines around it."""
        return _span(self.new_line, self.new_count)


class FileHunks(msgspec.Struct, frozen=True):
    """The hunks of one file, which its two blobs name."""

    old_blob: str
    new_blob: str
    hunks: list[Hunk]


def compare_commits(old: str, new: str) -> Comparison:
    """Two commits, or trees."""
    return Comparison(("diff-tree", "-r", "--no-commit-id", old, new))


def list_entries(root: Path, comparison: Comparison) -> list[DiffEntry]:
    """The files below the folder that differ; links and submodules are none."""
    command, *rest = comparison.words
    args = [command, *_SHARED, comparison.renames, "--raw", "-z", "--no-abbrev", *rest]
    fields = run_git(root, args, config=comparison.config).decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = []
    position = 0
    while position < len(fields):
        old_mode, new_mode, old_blob, new_blob, status = fields[position].removeprefix(":").split(" ")
        renamed = status.startswith("R")
        old, new = fields[position + 1], fields[position + 2 if renamed else position + 1]
        position += 3 if renamed else 2
        old = "" if status == "A" or old_mode in _NO_FILES else old
        new = "" if status == "D" or new_mode in _NO_FILES else new
        if old or new:
            found.append(DiffEntry(old, new, old_blob, new_blob, old_mode == new_mode, status == "U"))
    return found


def list_non_files(root: Path, comparison: Comparison) -> dict[str, str]:
    """The links and submodules that differ, by path, and which of them each is."""
    command, *rest = comparison.words
    words = [_COMMITS_OF_SUBMODULES if word == _SUBMODULES else word for word in _SHARED]
    args = [command, *words, "--no-renames", "--raw", "-z", *rest]
    fields = run_git(root, args, config=comparison.config).decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = {}
    for modes, path in zip(fields[::2], fields[1::2], strict=True):
        old, new, *_ = modes.removeprefix(":").split(" ")
        present = [mode for mode in (new, old) if mode.strip("0")]
        if _NO_FILES.keys() >= set(present):  # otherwise it is, or was, a file as well
            found[path] = _NO_FILES[present[0]]
    return found


def read_hunks(root: Path, comparison: Comparison, paths: Sequence[str] = ()) -> Iterator[FileHunks]:
    """The changed lines of all files, or of some. Files are told apart by their blobs: no name, however odd,
    is taken for a heading."""
    command, *rest = comparison.words
    args = [command, *_SHARED, comparison.renames, *_LINES, *rest]
    for start in range(0, len(paths) or 1, _PORTION):
        literal = [f":(literal){path}" for path in paths[start : start + _PORTION]]
        yield from _parse_hunks(run_git(root, [*args, "--", *literal], config=comparison.config))


def _parse_hunks(said: bytes) -> Iterator[FileHunks]:
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
    """A span inside of a text that has lines: a neighbour may lie before the first or after the last."""
    first, last = span
    return min(max(1, first), line_count), min(max(1, last), line_count)


def has_same_lines(text: str, encoding: str) -> bool:
    """Whether git's lines, which end with a line feed byte, are the lines that citations count."""
    ends = text.count("\n") + (text != "" and not text.endswith("\n"))
    return ends == len(split_lines(text)) and not encoding.startswith("utf-16")


def _span(line: int, count: int) -> LineRange:
    return (line, line + count - 1) if count else (line, line + 1)

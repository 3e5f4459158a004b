"""What would somebody read who has ripgrep instead of Satchel?

The source files of the parent of a fix are written to a folder of their own, and the real `rg` is asked
for each identifier of the message, then for each other word of it, the rarest first. Matches are read in the
order in which ripgrep sorts them: as windows of 20 lines, or as whole files. That is kind to ripgrep: it is
told that the place is in no test and no document, and to learn how often a pattern is found costs nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from satchel.errors import Unsupported
from satchel.evaluation.fixes import is_source
from satchel.evaluation.policies import CallAnswer, answer_of_lines
from satchel.lines import split_lines
from satchel.storage.protocol import Snapshot
from satchel.walking.paths import check_relative, os_path

WINDOW = 20  # lines, the match in the middle
_ABOVE = WINDOW // 2 - 1  # of a match in its window
_LEAST_NAME, _LEAST_LETTERS = 3, 4  # characters of an identifier and of a plain word that are looked for
_MOST_PATTERNS = 12  # nobody tries more
_SECONDS = 60  # one pattern in one tree; far more than any takes
_OPTIONS = ("--no-config", "--no-ignore", "--hidden", "--text", "--threads=1", "--sort=path", "--color=never")
_AS_WRITTEN, _IN_ANY_CASE = ("--word-regexp", "--case-sensitive"), ("--ignore-case",)
_FORM = ("--no-heading", "--with-filename", "--line-number", "--null", "--fixed-strings")

_ADDRESS = re.compile(r"\bhttps?://\S+")
_QUOTED = re.compile(r"""`([^`\n]{1,60})`|"([^"\n]{1,60})"|(?<!\w)'([^'\n]{1,60})'(?!\w)""")
_JOINT = re.compile(r"\.|::|->|#")
_WORDS = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|-)[A-Za-z_$][\w$]*)*")
_PART = re.compile(r"[\w$]+")
_CODE_LIKE = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|[A-Za-z]\d|\d[A-Za-z]|\$")
_COMMON_WORDS = """
    about above after again against also always another because been before being below between both
    cannot case cases change changed changes could does doesn during each else even every fail
    failed fails first fixed fixes fixing from have having here into issue just like line lines make
    makes more most must need never only other over same should since some such sure than that their
    them then there these they this those through under until used uses using very were what when
    where which while will with without would wrong properly correctly
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class WorkCopy:
    """A temporary folder with the source files of an index, for a program that reads files. Going from one
    parent to the next, only files that differ are written."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="satchel-tasks-")
        self.root = Path(self._folder.name)
        self._written: dict[str, str] = {}  # path → hash of the file

    def update(self, snapshot: Snapshot) -> None:
        """Make the folder hold the source files of a snapshot, with the same lines."""
        wanted = {record.path: record.file_hash for record in snapshot.files() if is_source(record.path)}
        for path in [path for path in self._written if wanted.get(path) != self._written[path]]:
            os.unlink(os_path(self.root, path))
            self._remove_empty(Path(path).parent)
            del self._written[path]
        for path, digest in wanted.items():
            if path not in self._written:
                place = os_path(self.root, check_relative(path))
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "wb") as file:
                    file.write(_lines_for_ripgrep(snapshot.text(path)))
                self._written[path] = digest

    def _remove_empty(self, folder: Path) -> None:
        """Remove folders that hold nothing any more: a file may take their name."""
        for parent in (folder, *folder.parents[:-1]):
            try:
                os.rmdir(os_path(self.root, parent.as_posix()))
            except OSError:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()


class Match(NamedTuple):
    """A line that ripgrep found."""

    path: str
    line: int


class Ripgrep:
    """The real `rg`, asked about one folder."""

    def __init__(self, program: str, copy: WorkCopy) -> None:
        self._program = program
        self._root = copy.root

    def windows(self, message: str, snapshot: Snapshot) -> Iterator[CallAnswer]:
        """Yield windows around the matches of each pattern, pattern by pattern."""
        for matches in self._by_pattern(message, snapshot):
            for path, first, last in _windows(matches):
                lines = split_lines(snapshot.text(path))
                yield answer_of_lines(path, first, lines[first - 1 : last])

    def whole_files(self, message: str, snapshot: Snapshot) -> Iterator[CallAnswer]:
        """Yield the files with matches whole, in the order of their first match."""
        read: set[str] = set()
        for matches in self._by_pattern(message, snapshot):
            for match in matches:
                if match.path not in read:
                    read.add(match.path)
                    yield answer_of_lines(match.path, 1, split_lines(snapshot.text(match.path)))

    def _by_pattern(self, message: str, snapshot: Snapshot) -> Iterator[list[Match]]:
        """Yield the matches of identifiers, then those of plain words, each time the rarest first."""
        identifiers, words = patterns_of(message)
        for patterns, options in ((identifiers, _AS_WRITTEN), (words, _IN_ANY_CASE)):
            found = [self._matches(pattern, options) for pattern in patterns]
            # A name with a line feed in it cannot be told from two rows: its second half is no file.
            known = [[match for match in matches if snapshot.file(match.path)] for matches in found]
            yield from sorted(filter(None, known), key=len)

    def _matches(self, pattern: str, options: Sequence[str]) -> list[Match]:
        command = [self._program, *_OPTIONS, *_FORM, *options, "--regexp", pattern, "."]
        done = subprocess.run(
            command, cwd=self._root, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS
        )
        if done.returncode > 1:  # 1 is "nothing found"
            said = done.stderr.decode("utf-8", "replace").strip()[:200]
            raise Unsupported(f"ripgrep failed: {said}", hint="leave rg out of the PATH to do without it")
        return list(_read_matches(done.stdout))


def find_ripgrep() -> str:
    """Return the path of `rg`; empty if there is none. A PATH that names the current folder is not trusted:
    a repository may hold a program of that name."""
    found = shutil.which("rg") or ""
    return found if os.path.isabs(found) else ""


def patterns_of(message: str) -> tuple[list[str], list[str]]:
    """Return the identifiers and the further words of a message that somebody would look for, in its order.
    What stands in quotes and what is joined by dots is looked for as it is, and then part by part. Other
    words are identifiers if they are spelled like code."""
    identifiers: dict[str, None] = {}
    words: dict[str, None] = {}
    text = _ADDRESS.sub(" ", message)
    for found in map("".join, _QUOTED.findall(text)):
        identifiers |= dict.fromkeys((found, *_PART.findall(found)))
    for found in _WORDS.findall(text):
        parts = _PART.findall(found)
        if _JOINT.search(found):
            identifiers |= dict.fromkeys((found, *parts))
        identifiers |= dict.fromkeys(part for part in parts if _CODE_LIKE.search(part))
        words |= dict.fromkeys(part.lower() for part in parts if part.lower() not in _COMMON)
    chosen = [item for item in identifiers if len(item) >= _LEAST_NAME][:_MOST_PATTERNS]
    known = {item.lower() for item in chosen}
    others = [word for word in words if word not in known and len(word) >= _LEAST_LETTERS]
    return chosen, others[: _MOST_PATTERNS - len(chosen)]


def _windows(matches: Sequence[Match]) -> Iterator[tuple[str, int, int]]:
    """Yield the lines around matches; windows that touch become one, as ripgrep prints them."""
    current: tuple[str, int, int] | None = None
    for path, line in matches:
        first, last = max(1, line - _ABOVE), line + WINDOW - _ABOVE - 1
        if current is not None and current[0] == path and first <= current[2] + 1:
            current = (path, current[1], last)
            continue
        if current is not None:
            yield current
        current = (path, first, last)
    if current is not None:
        yield current


def _read_matches(said: bytes) -> Iterator[Match]:
    """Yield the matches in the output of ripgrep: path, zero byte, line number, colon, text."""
    for row in said.split(b"\n"):
        path, zero, rest = row.partition(b"\0")
        if zero:
            yield Match(os.fsdecode(path).removeprefix("./"), int(rest.partition(b":")[0]))


def _lines_for_ripgrep(text: str) -> bytes:
    """Return a text with line feeds alone: ripgrep knows no other line end, and citations know more."""
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    return "\n".join(lines).encode("utf-8", "replace") + b"\n"

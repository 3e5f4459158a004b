"""What is a line of the first page made of? A fact: few words, and the lines of a file that say it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import msgspec

from satchel.ids import hash_text
from satchel.lines import split_lines
from satchel.retrieval.corpus import Corpus
from satchel.storage.records import FileRecord
from satchel.types import Skipped, Source
from satchel.visible_json import escaped

MOST_CHARS = 200  # of one fact: a page of 4,000 tokens has room for 60 such lines
_LONGEST_FILE = 4_000  # lines of a manifest or document that are searched for facts
_LONGEST_LINE = 1_000  # characters that are looked at; patterns may take quadratic time
_NOT_PROJECT = frozenset({"test", "example", "docs"})


class Fact(msgspec.Struct, frozen=True):
    """A statement about the repository, and the lines that it rests on: `content_hash` is the sha256 of lines
    `start_line` to `end_line` of `path`. A count over the index has no path."""

    label: str
    text: str
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    content_hash: str = ""

    @property
    def locator(self) -> str:
        """Return the citation as people write it: `path:4` or `path:4-7`."""
        if not self.path:
            return ""
        last = f"-{self.end_line}" if self.end_line > self.start_line else ""
        return f"{self.path}:{self.start_line}{last}"


class RepositoryReader:
    """The files of one repository as the first page reads them, each at most once.

    `read` gives files that no index holds: settings of linters have hidden names.
    """

    def __init__(self, corpus: Corpus, read: Callable[[str], Source | Skipped]) -> None:
        self.corpus = corpus
        self._read = read
        self._lines: dict[str, Sequence[str]] = {}

    @property
    def files(self) -> Sequence[FileRecord]:
        """Return the records of all indexed files, by path."""
        return self.corpus.files

    @cached_property
    def _at_root(self) -> dict[str, str]:
        return {record.path.lower(): record.path for record in self.files if "/" not in record.path}

    @property
    def root_paths(self) -> list[str]:
        """Return the indexed files of the root, by path."""
        return list(self._at_root.values())

    def at_root(self, *names: str) -> list[str]:
        """Return the indexed files of the root that have one of some names, in the order of the names."""
        return [self._at_root[name] for name in names if name in self._at_root]

    def nearest(self, name: str, most: int = 1) -> list[str]:
        """Return the files of a name that stand highest in the tree, without those of tests, examples and
        documents."""
        records = [self.files[at] for at in self.corpus.files_named(name)]
        paths = [record.path for record in records if _NOT_PROJECT.isdisjoint(record.tags)]
        paths.sort(key=lambda path: (path.count("/"), path))
        return [path for path in paths if path.count("/") == paths[0].count("/")][:most]

    def below(self, folder: str, *suffixes: str) -> list[str]:
        """Return the indexed files below a folder with one of some suffixes, by path."""
        return [
            record.path
            for record in self.files
            if record.path.startswith(folder) and record.path.endswith(suffixes)
        ]

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of an indexed file or of one with a hidden name, with their ends; none where it
        cannot be read."""
        if path not in self._lines:
            self._lines[path] = self._load(path)
        return self._lines[path]

    def _load(self, path: str) -> Sequence[str]:
        if path in self.corpus.position_of:
            return split_lines(self.corpus.snapshot.text(path))
        found = self._read(path)
        return split_lines(found.text) if isinstance(found, Source) else ()

    def fact(self, label: str, text: str, path: str, first: int, last: int = 0) -> Fact:
        """Return a fact that rests on lines of a file; the last line is the first unless another is given."""
        last = max(first, last)
        cited = "".join(self.lines(path)[first - 1 : last])
        return Fact(label, shortened(text), path, first, last, hash_text(cited))

    def whole_file(self, label: str, text: str, path: str) -> Fact:
        """Return a fact that rests on a file as a whole."""
        return self.fact(label, text, path, 1, len(self.lines(path)))


def shortened(text: str, most: int = MOST_CHARS) -> str:
    """Return a text on one line with single spaces and no hidden character, cut after a word."""
    plain = " ".join(escaped(text).split())
    if len(plain) <= most:
        return plain
    return plain[:most].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def numbered(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each line without its end, with its number; of a very long file or line only the beginning."""
    for number, line in enumerate(lines[:_LONGEST_FILE], 1):
        yield number, line.rstrip("\r\n")[:_LONGEST_LINE]


def shell_lines(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield first line, last line and text of each command; a line that ends with a backslash goes on."""
    first = 0
    parts: list[str] = []
    for number, line in lines:
        first = first if parts else number
        parts.append(line.strip().rstrip("\\").rstrip())
        if not line.rstrip().endswith("\\"):
            yield first, number, " ".join(parts)
            parts = []


_TABLE = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:[#;].*)?$")
_ENTRY = re.compile(r"\s*[\"']?([\w.@/-]+)[\"']?\s*=\s*(.*)$")


def settings_entries(lines: Sequence[str]) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, table, key and value of each entry of a TOML or INI file; the key of a table's own line is
    empty. Of a value over several lines the first is given."""
    table = ""
    for number, line in numbered(lines):
        if found := _TABLE.match(line):
            table = found.group(1).replace('"', "").replace(" ", "")
            yield number, table, "", ""
        elif (found := _ENTRY.match(line)) and not line.lstrip().startswith(("#", ";")):
            yield number, table, found.group(1), found.group(2).strip()

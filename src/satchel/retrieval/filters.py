"""Which files and chunks a question may be answered from. Filters apply before the best are cut off."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import msgspec

from satchel.storage.records import FileRecord

_GLOB_PART = re.compile(r"\*\*/|\*\*|\*|\?")
_GLOB_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class Filters(msgspec.Struct, frozen=True):
    """All must hold. Paths are relative to the root; an entry with `*` or `?` is a glob."""

    path_prefix: str = ""
    file_type: str = ""
    chunk_type: str = ""
    tags: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    file_pattern: str = ""
    language: str = ""

    def active(self) -> list[str]:
        """The names of the filters that are set; a path that means everything is no filter."""
        idle = {
            "path_prefix": not clean(self.path_prefix),
            "file_pattern": not clean(self.file_pattern),
            "include_paths": not all(map(clean, self.include_paths)),
            "exclude_paths": not any(map(clean, self.exclude_paths)),
        }
        return [name for name in self.__struct_fields__ if getattr(self, name) and not idle.get(name)]

    def accepts_file(self, record: FileRecord) -> bool:
        """Whether a file may answer."""
        path = record.path
        return (
            under(path, self.path_prefix)
            and (not self.include_paths or any(under(path, entry) for entry in self.include_paths))
            and not any(entry and under(path, entry) for entry in map(clean, self.exclude_paths))
            and (not self.file_pattern or _pattern(self.file_pattern)(path))
            and (not self.file_type or path.lower().endswith(_suffix(self.file_type)))
            and (not self.language or record.language == self.language.lower())
            and all(tag in record.tags or tag == record.language for tag in map(str.lower, self.tags))
        )


def clean(entry: str) -> str:
    """A path filter in normal form: forward slashes, no `./`, no outer slashes; `.` is no filter."""
    entry = entry.replace("\\", "/").strip()
    while entry.startswith("./"):
        entry = entry[2:]
    return "" if entry == "." else entry.strip("/")


def under(path: str, entry: str) -> bool:
    """Whether a path is the entry or inside it (`src` holds `src/lib.rs`, not `src2/lib.rs`)."""
    entry = clean(entry)
    if not entry:
        return True
    if "*" in entry or "?" in entry:
        return glob(entry)(path)
    return path == entry or path.startswith(entry + "/")


@cache
def glob(pattern: str) -> Callable[[str], bool]:
    """A matcher over whole paths; `**` crosses folders, and so does a pattern without a slash."""
    if "/" not in pattern:
        pattern = "**/" + pattern
    expression = ""
    end = 0
    for match in _GLOB_PART.finditer(pattern):
        expression += re.escape(pattern[end : match.start()]) + _GLOB_MEANING[match.group()]
        end = match.end()
    compiled = re.compile(expression + re.escape(pattern[end:]), re.DOTALL)
    return lambda path: compiled.fullmatch(path) is not None


def _pattern(pattern: str) -> Callable[[str], bool]:
    pattern = clean(pattern)
    if "*" in pattern or "?" in pattern:
        return glob(pattern)
    return lambda path: pattern in path


def _suffix(file_type: str) -> str:
    return "." + file_type.lower().lstrip(".*")
